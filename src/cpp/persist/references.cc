// Checks the consistency of a loaded state: every id refers to an existing object, and queues and workloads
// refer to each other consistently. This ensures that no rule reads out of bounds.
#include "persist/references.h"

#include "absl/strings/str_cat.h"
#include "persist/field_lists.h"
#include "persist/persist.h"

namespace kueue {

void ReferenceCheck::Expect(bool holds, const char* what) {
  if (!holds && broken_.empty()) broken_ = absl::StrCat("a reference is broken: ", what);
}

void ReferenceCheck::CheckMessage(const Message& message) {
  if (!message) return;
  if (const auto* reserved = std::get_if<ReservedIn>(message.get()))
    Expect(IsNode(reserved->cluster_queue), "texts");
  if (const auto* previously = std::get_if<Previously>(message.get())) CheckMessage(previously->before);
  if (const auto* deactivated = std::get_if<DeactivatedDueTo>(message.get())) CheckMessage(deactivated->why);
  if (const auto* preempted = std::get_if<PreemptedBy>(message.get())) {
    ExpectAll(preempted->preemptor_path, state_.queues, "texts");
    ExpectAll(preempted->preemptee_path, state_.queues, "texts");
  }
  if (const auto* refused = std::get_if<Refused>(message.get())) CheckRefused(*refused);
}

void ReferenceCheck::CheckRefused(const Refused& refused) {
  Expect(InOrNone(refused.cls, state_.classes), "texts");
  const std::vector<PodSetSpec> none;
  const auto& pod_sets = In(refused.cls, state_.classes) ? state_.Class(refused.cls).pod_sets : none;
  for (const PodSetRefusals& pod_set : refused.pod_sets) {
    Expect(In(pod_set.pod_set, pod_sets), "texts");
    for (const Refusal& refusal : pod_set.refusals) {
      Expect(refusal.flavor == kNoId || IsFlavor(refusal.flavor), "texts");
      Expect(refusal.resource == kNoId || IsResource(refusal.resource), "texts");
      Expect(refusal.HasItsDetail(), "texts");
    }
  }
}

namespace {

class References : private ReferenceCheck {
 public:
  explicit References(const State& state) : ReferenceCheck(state) {}

  std::string FindBroken() {
    CheckTables();
    if (broken_.empty()) CheckForest();
    if (broken_.empty()) broken_ = BrokenWorkloadReference(state_);
    if (broken_.empty()) CheckTopologies();
    if (broken_.empty()) CheckDevices();
    if (broken_.empty()) CheckRest();
    return broken_;
  }

 private:
  void CheckTables() {
    const State& s = state_;
    const size_t nodes = s.forest().size();
    Expect(s.queues.size() == nodes && s.cohorts.size() == nodes, "nodes");
    const auto same = [](const auto& names, size_t size) { return names.size() == size; };
    Expect(same(s.flavor_names, s.flavors.size()) && s.flavor_resource_ids.size() == s.flavors.size(),
           "flavors");
    Expect(same(s.resource_names, s.resource_order.size()) && IsResource(s.cpu) && IsResource(s.pods),
           "resources");
    Expect(same(s.namespace_names, s.namespaces.size()), "namespaces");
    Expect(same(s.local_queue_names, s.local_queues.size()) && s.ledger.size() == s.local_queues.size() &&
               s.ledger_usage->size() == s.local_queues.size(),
           "LocalQueues");
    Expect(same(s.check_names, s.checks.size()), "AdmissionChecks");
    CheckReasons();
    CheckFlavorResources();
  }

  void CheckReasons() {
    const Interner<Reason> known = KnownReasons();
    Expect(state_.reasons.size() >= known.size(), "reasons");
    if (!broken_.empty()) return;
    for (Reason reason : known.Ids()) Expect(state_.reasons.Name(reason) == known.Name(reason), "reasons");
  }

  void CheckFlavorResources() {
    for (const IdVector<ResourceId, FlavorResourceId>& row : state_.flavor_resource_ids) {
      for (const FlavorResourceId fr : row) Expect(InOrNone(fr, state_.flavor_resources), "cells");
    }
    for (const auto& [flavor, resource] : state_.flavor_resources)
      Expect(IsFlavor(flavor) && IsResource(resource), "cells");
  }

  void CheckForest() {
    FieldLists::Visit(state_.quota, [this](const auto& forest, const auto&... rest) {
      FieldLists::Visit(forest, [this](const auto& nodes, const auto& of_queue, const auto& of_cohort,
                                       const auto& queue_names, const auto& cohort_names, const auto& queues,
                                       const auto& top_down, bool stale) {
        Expect(of_queue->size() == queue_names.size(), "ClusterQueues");
        Expect(of_cohort->size() == cohort_names.size(), "Cohorts");
        for (const auto* ids : {&of_queue, &of_cohort}) ExpectAll(**ids, *nodes, "nodes");
        for (const auto* ids : {&queues, &top_down}) ExpectAll(**ids, *nodes, "nodes");
        CheckNodes(*nodes, state_.stale && stale);
      });
      CheckQuota(rest...);
    });
  }

  template <typename Nodes>
  void CheckNodes(const Nodes& nodes, bool stale) {
    for (const auto& node : nodes) {
      Expect(InOrNone(node.parent, nodes) && InOrNone(node.root, nodes), "parents");
      for (const auto* ids : {&node.child_cohorts, &node.child_queues, &node.tree_queues}) {
        ExpectAll(*ids, nodes, "children");
      }
    }
    if (!broken_.empty() || stale) return;
    for (NodeId id : nodes.Ids()) Expect(nodes[id].root == RootOf(nodes, id), "roots");
  }

  template <typename Nodes>
  static NodeId RootOf(const Nodes& nodes, NodeId node) {
    for (size_t steps = 0; steps <= nodes.size(); ++steps) {
      const NodeId parent = nodes[node].parent;
      if (parent == kNoId) return node;
      node = parent;
    }
    return kNoId;
  }

  // Checks that all tables have the same size as the first and that no trial is open.
  template <typename First, typename... Rest>
  void CheckQuota(const First& first, const Rest&... rest) {
    const auto fits = [this](Eigen::Index size, size_t all) {
      const auto known = static_cast<size_t>(size);
      return known == all || (state_.stale && known < all);
    };
    Expect(fits(first.rows(), state_.queues.size()) && fits(first.cols(), state_.flavor_resources.size()) &&
               (IsSound(rest, first) && ...),
           "quotas");
  }
  template <typename Other, typename First>
  static bool IsSound(const Eigen::DenseBase<Other>& table, const First& first) {
    return table.rows() == first.rows() && table.cols() == first.cols();
  }
  template <typename Change, typename First>
  static bool IsSound(const std::vector<Change>& log, const First&) {
    return log.empty();
  }
  template <typename First>
  static bool IsSound(int open, const First&) {
    return open == 0;
  }

  void CheckTopologies() {
    for (const auto& [name, levels] : state_.topology.levels) Expect(!levels.empty(), "topologies");
    for (const auto& [name, node] : state_.topology.nodes) Expect(node != nullptr, "nodes");
    for (const auto& [name, pod] : state_.topology.pods) {
      for (const auto& request : pod.requests) Expect(IsResource(request.first), "pods");
    }
    for (const SecondPass& pass : state_.second_passes) Expect(IsWorkload(pass.workload), "second passes");
  }

  template <typename Objects>
  void ExpectObjects(const Objects& objects) {
    for (const auto& [name, object] : objects) Expect(object != nullptr, "devices");
  }

  void CheckDevices() {
    if (state_.devices == nullptr) return;
    ExpectObjects(state_.devices->classes);
    ExpectObjects(state_.devices->templates);
    ExpectObjects(state_.devices->slices);
  }

  void CheckLedger() {
    for (const LedgerEntry& entry : state_.ledger) {
      for (const auto& [resource, amount] : entry.consumed)
        Expect(IsResource(resource), "usage of LocalQueues");
      for (const auto& [resource, amount] : entry.history)
        Expect(IsResource(resource), "usage of LocalQueues");
      for (const auto& [workload, amounts] : entry.penalties) {
        Expect(IsWorkload(workload) || workload == kNoId, "penalties");
        for (const auto& [resource, amount] : amounts) Expect(IsResource(resource), "penalties");
      }
    }
  }

  void CheckDirty() {
    IdVector<WorkloadId, int32_t> dirty_place(state_.workloads.size(), -1);
    for (size_t place = 0; place < state_.dirty.size(); ++place) {
      Expect(IsWorkload(state_.dirty[place]), "changed workloads");
      if (broken_.empty()) dirty_place[state_.dirty[place]] = static_cast<int32_t>(place);
    }
    if (!broken_.empty()) return;
    for (WorkloadId id : dirty_place.Ids()) {
      Expect(state_.workloads[id].dirty_place == dirty_place[id], "changed workloads");
    }
  }

  void CheckEvents() {
    for (const Event& event : state_.events) {
      Expect(event.spec != nullptr && InOrNone(event.by_queue, state_.queues) &&
                 InOrNone(event.queue, state_.queues) && IsReason(event.reason) &&
                 IsReason(event.preemption) && IsReason(event.cause),
             "events");
      CheckMessage(event.message);
    }
  }

  void CheckRest() {
    for (const LocalQueue& queue : state_.local_queues) {
      Expect(In(queue.namespace_id, state_.namespaces), "LocalQueues");
      Expect(InOrNone(queue.cluster_queue, state_.queues), "LocalQueues");
    }
    CheckLedger();
    for (const EquivalenceClass& cls : state_.classes) CheckClass(cls);
    state_.class_of_key.ForEach(
        [this](const std::string&, ClassId cls) { Expect(In(cls, state_.classes), "classes"); });
    state_.workload_of_key.ForEach(
        [this](const std::string&, WorkloadId id) { Expect(IsWorkload(id), "names of workloads"); });
    ExpectAll(state_.changed_nodes, state_.queues, "changed nodes");
    ExpectAll(state_.to_requeue, state_.queues, "queues to be requeued");
    for (const auto& [cohort, parent] : state_.refused)
      Expect(In(cohort, state_.queues) && InOrNone(parent, state_.queues), "refused Cohorts");
    ExpectAll(state_.deleting.flavors, state_.flavors, "deleted flavors");
    ExpectAll(state_.deleting.checks, state_.checks, "deleted checks");
    CheckEvents();
    CheckDirty();
    for (const WorkloadId id : state_.deleted)
      Expect(IsWorkload(id) && state_.At(id).deleted, "deleted workloads");
    if (broken_.empty() && state_.waiting.start != nullptr) CheckWaiting(*state_.waiting.start);
  }

  // A blocked cycle continues with ids of its start state.
  void CheckWaiting(const State& start) {
    const State& s = state_;
    Expect(start.waiting.start == nullptr && state_.waiting.passed >= 0, "the waiting cycle");
    Expect(start.workloads.size() <= s.workloads.size() && start.queues.size() <= s.queues.size() &&
               start.flavors.size() <= s.flavors.size() &&
               start.flavor_resources.size() <= s.flavor_resources.size() &&
               start.resource_order.size() <= s.resource_order.size() &&
               start.classes.size() <= s.classes.size() && start.reasons.size() <= s.reasons.size() &&
               start.local_queues.size() <= s.local_queues.size(),
           "the waiting cycle");
    if (broken_.empty()) broken_ = References(start).FindBroken();
  }

  void CheckClass(const EquivalenceClass& cls) {
    for (const PodSetSpec& pod_set : cls.pod_sets) Expect(pod_set.pod_template != nullptr, "pod sets");
    Expect(cls.pod_sets.empty() || cls.totals.size() == cls.pod_sets.size(), "totals");
    Expect(In(cls.hash, state_.classes), "classes");
    Expect(cls.adjusted.empty() || cls.adjusted.size() == cls.pod_sets.size(), "totals");
    for (const PodSetTotals& totals : cls.totals) {
      for (const auto& [resource, amount] : totals.requests) Expect(IsResource(resource), "totals");
    }
  }
};

}  // namespace

std::string BrokenReference(const State& state) { return References(state).FindBroken(); }

}  // namespace kueue
