// Whether a state that was read holds together: every number that refers to something does, and the queues
// and the workloads say the same of each other. With that, no rule reads beyond anything.
#include "absl/strings/str_cat.h"
#include "persist/field_lists.h"
#include "persist/persist.h"

namespace kueue {
namespace {

class References {
 public:
  explicit References(const State& state) : state_(state), seen_(state.workloads.size(), 0) {}

  std::string FindBroken() {
    CheckTables();
    if (broken_.empty()) CheckPlaces();
    if (broken_.empty()) CheckForest();
    if (broken_.empty()) CheckQueues();
    if (broken_.empty()) CheckWorkloads();
    if (broken_.empty()) CheckTopologies();
    if (broken_.empty()) CheckRest();
    return broken_;
  }

 private:
  void Expect(bool holds, const char* what) {
    if (!holds && broken_.empty()) broken_ = absl::StrCat("a reference is broken: ", what);
  }
  static bool In(int32_t id, size_t size) { return id >= 0 && static_cast<size_t>(id) < size; }
  static bool InOrNone(int32_t id, size_t size) { return id == kNoId || In(id, size); }
  template <typename Ids>
  void ExpectAll(const Ids& ids, size_t size, const char* what) {
    for (const int32_t id : ids) Expect(In(id, size), what);
  }
  bool IsNode(NodeId node) const { return In(node, state_.queues.size()); }
  bool IsWorkload(WorkloadId id) const {
    return In(id, state_.workloads.size()) && !state_.workloads.IsFree(id);
  }
  bool IsFlavor(FlavorId id) const { return In(id, state_.flavors.size()); }
  bool IsResource(ResourceId id) const { return In(id, state_.resource_order.size()); }

  void CheckTables() {
    const State& s = state_;
    const auto nodes = static_cast<size_t>(s.forest().size());
    Expect(s.queues.size() == nodes && s.cohorts.size() == nodes, "nodes");
    const auto same = [](const Interner& names, size_t size) {
      return static_cast<size_t>(names.size()) == size;
    };
    Expect(same(s.flavor_names, s.flavors.size()) && s.flavor_resource_ids.size() == s.flavors.size(),
           "flavors");
    Expect(same(s.resource_names, s.resource_order.size()) && IsResource(s.cpu) && IsResource(s.pods),
           "resources");
    Expect(same(s.namespace_names, s.namespaces.size()), "namespaces");
    Expect(same(s.local_queue_names, s.local_queues.size()) && s.ledger.size() == s.local_queues.size() &&
               s.ledger_usage.size() == s.local_queues.size(),
           "LocalQueues");
    Expect(same(s.check_names, s.checks.size()), "AdmissionChecks");
    const Interner known = KnownReasons();
    Expect(s.reasons.size() >= known.size(), "reasons");
    for (int32_t id = 0; broken_.empty() && id < known.size(); ++id) {
      Expect(s.reasons.Name(id) == known.Name(id), "reasons");
    }
    for (const std::vector<FlavorResourceId>& row : s.flavor_resource_ids) {
      for (const FlavorResourceId fr : row) Expect(InOrNone(fr, s.flavor_resources.size()), "cells");
    }
    for (const auto& [flavor, resource] : s.flavor_resources)
      Expect(IsFlavor(flavor) && IsResource(resource), "cells");
  }

  void CheckForest() {
    FieldLists::Visit(state_.quota, [this](const auto& forest, const auto&... rest) {
      FieldLists::Visit(forest, [this](const auto& nodes, const auto& of_queue, const auto& of_cohort,
                                       const auto& queue_names, const auto& cohort_names, const auto& queues,
                                       const auto& top_down) {
        Expect(of_queue.size() == static_cast<size_t>(queue_names.size()), "ClusterQueues");
        Expect(of_cohort.size() == static_cast<size_t>(cohort_names.size()), "Cohorts");
        for (const auto* ids : {&of_queue, &of_cohort, &queues, &top_down})
          ExpectAll(*ids, nodes.size(), "nodes");
        for (const auto& node : nodes) {
          Expect(InOrNone(node.parent, nodes.size()) && InOrNone(node.root, nodes.size()), "parents");
          for (const auto* ids : {&node.child_cohorts, &node.child_queues, &node.tree_queues}) {
            ExpectAll(*ids, nodes.size(), "children");
          }
        }
        for (size_t id = 0; broken_.empty() && id < nodes.size(); ++id) {
          Expect(state_.stale || nodes[id].root == RootOf(nodes, static_cast<NodeId>(id)), "roots");
        }
      });
      CheckQuota(rest...);
    });
  }

  template <typename Nodes>
  static NodeId RootOf(const Nodes& nodes, NodeId node) {
    for (size_t steps = 0; steps <= nodes.size(); ++steps) {
      const NodeId parent = nodes[static_cast<size_t>(node)].parent;
      if (parent == kNoId) return node;
      node = parent;
    }
    return kNoId;
  }

  // All tables have the rows and columns of the first, and no trial is open.
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

  void CheckQueues() {
    for (size_t node = 0; node < state_.queues.size(); ++node) {
      const ClusterQueue& queue = state_.queues[node];
      ExpectAll(queue.flavors, state_.flavors.size(), "flavors of a ClusterQueue");
      for (const InactivityCause& cause : queue.inactivity.causes) {
        Expect(static_cast<size_t>(cause.kind) < kInactivityKinds, "inactive ClusterQueues");
        Expect(cause.kind != InactivityKind::kTopologyNotFound || cause.names.size() == 2,
               "inactive ClusterQueues");
      }
      for (const ResourceGroupIds& group : queue.groups) {
        ExpectAll(group.covered, state_.resource_order.size(), "resources of a ClusterQueue");
        ExpectAll(group.flavors, state_.flavors.size(), "flavors of a ClusterQueue");
      }
      for (const CheckIds& rule : queue.checks) {
        Expect(In(rule.check, state_.checks.size()), "checks of a ClusterQueue");
        ExpectAll(rule.flavors, state_.flavors.size(), "flavors of a check");
      }
      for (size_t place = 0; place < queue.workloads.size(); ++place) {
        const WorkloadId id = queue.workloads[place];
        Expect(IsWorkload(id) && state_.At(id).charged == static_cast<NodeId>(node) &&
                   state_.At(id).charged_place == static_cast<int32_t>(place),
               "workloads of a ClusterQueue");
      }
      CheckPending(queue.pending, static_cast<NodeId>(node));
    }
  }

  void CheckPending(const PendingQueue& pending, NodeId node) {
    FieldLists::Visit(pending, [&](const auto& preemptor, auto&, const auto& by_usage, auto&, auto&,
                                   const auto& buckets, const auto& bucket_of, const auto& heads,
                                   const auto& heap, const auto& inadmissible_buckets, const auto& delayed,
                                   const auto& classes, const auto& inflight, const auto& active_count,
                                   const auto& inadmissible_count) {
      Expect(preemptor == kNoId || IsWorkload(preemptor), "preemptors");
      Expect(bucket_of.size() == buckets.size(), "buckets");
      size_t active = 0, inadmissible = delayed.size();
      for (size_t i = 0; i < buckets.size(); ++i) {
        const auto& bucket = buckets[i];
        const auto found = bucket_of.find({bucket.cls, bucket.local_queue});
        Expect(found != bucket_of.end() && static_cast<size_t>(found->second) == i, "buckets");
        Expect(In(bucket.cls, state_.classes.size()) && In(bucket.local_queue, state_.local_queues.size()),
               "buckets");
        CheckWorkloadRun(bucket.active, bucket, node);
        CheckWorkloadRun(bucket.inadmissible, bucket, node);
        active += bucket.active.size();
        inadmissible += bucket.inadmissible.size();
        const bool is_head = In(bucket.place_in_heads, heads.size()) &&
                             heads[static_cast<size_t>(bucket.place_in_heads)] == static_cast<int32_t>(i);
        Expect(bucket.active.empty() ? bucket.place_in_heads == -1 : is_head, "heads");
      }
      for (const int32_t head : heads) {
        Expect(In(head, buckets.size()) && !buckets[static_cast<size_t>(head)].active.empty(), "heads");
      }
      ExpectAll(inadmissible_buckets, buckets.size(), "inadmissible workloads");
      for (const auto& [cls, reason] : classes) {
        Expect(In(cls, state_.classes.size()) && In(static_cast<int32_t>(reason), ReasonCount()),
               "inadmissible classes");
      }
      for (const WorkloadId id : delayed) See(id, node, QueuePlace::kDelayed);
      if (inflight != kNoId) See(inflight, node, QueuePlace::kInflight);
      Expect(static_cast<size_t>(active_count) == active &&
                 static_cast<size_t>(inadmissible_count) == inadmissible,
             "counts of pending workloads");
      Expect(heap.size() == (by_usage ? active : 0), "heaps");
      CheckHeap(heap, pending, node);
    });
  }

  void CheckHeap(const UsageHeap& heap, const PendingQueue& pending, NodeId node) {
    FieldLists::Visit(heap, [&](const auto& items, const auto& place) {
      Expect(items.size() == place.size(), "heaps");
      for (size_t i = 0; broken_.empty() && i < items.size(); ++i) {
        const auto found = place.find(items[i]);
        Expect(IsWorkload(items[i]) && found != place.end() && found->second == i, "heaps");
        Expect(broken_.empty() && state_.At(items[i]).queued == node &&
                   !pending.IsInadmissible(state_.workloads, items[i]),
               "heaps");
      }
    });
  }

  template <typename Bucket>
  void CheckWorkloadRun(const WorkloadRun& run, const Bucket& bucket, NodeId node) {
    for (const WorkloadRun::Item& item : run) {
      See(item.workload, node, QueuePlace::kQueued);
      if (!broken_.empty()) return;
      const Workload& workload = state_.At(item.workload);
      Expect(workload.cls == bucket.cls && workload.local_queue == bucket.local_queue &&
                 workload.queue_time == item.time,
             "buckets");
      Expect(&item == run.begin() || (&item)[-1].time <= item.time, "order of pending workloads");
    }
  }

  void See(WorkloadId id, NodeId node, QueuePlace place) {
    const bool fits = IsWorkload(id) && state_.At(id).queued == node && state_.At(id).place == place &&
                      state_.At(id).spec && seen_[static_cast<size_t>(id)]++ == 0;
    Expect(fits, "pending workloads");
  }

  // Places and numbers tell of one another, and what nobody has is empty.
  void CheckPlaces() {
    size_t used = 0;
    FieldLists::Visit(state_.workloads, [&](const auto& places, const auto& free, const auto& roll,
                                            const Serial& next, const size_t& living) {
      std::vector<bool> is_free(places.size());
      for (const WorkloadId id : free) {
        Expect(In(id, places.size()) && !is_free[static_cast<size_t>(id)] && state_.workloads.IsFree(id),
               "free places");
        if (broken_.empty()) is_free[static_cast<size_t>(id)] = true;
      }
      for (size_t i = 0; i < roll.size(); ++i) {
        Expect(roll[i].serial < next && (i == 0 || roll[i - 1].serial < roll[i].serial),
               "numbers of workloads");
      }
      for (size_t id = 0; broken_.empty() && id < places.size(); ++id) {
        Expect(is_free[id] == (places[id].spec == nullptr), "free places");
        if (is_free[id]) continue;
        ++used;
        Expect(state_.workloads.Find(places[id].serial) == static_cast<WorkloadId>(id),
               "numbers of workloads");
      }
      Expect(living == used, "numbers of workloads");
    });
  }

  void CheckWorkloads() {
    for (size_t id = 0; id < state_.workloads.size(); ++id) {
      if (state_.workloads.IsFree(static_cast<WorkloadId>(id))) {
        Expect(seen_[id] == 0, "pending workloads");
        continue;
      }
      const Workload& workload = state_.workloads[id];
      Expect(In(workload.local_queue, state_.local_queues.size()), "workloads");
      Expect(InOrNone(workload.cls, state_.classes.size()), "classes of workloads");
      Expect(InOrNone(workload.queued, state_.queues.size()), "queues of workloads");
      Expect((workload.place == QueuePlace::kNowhere) == (seen_[id] == 0), "pending workloads");
      const bool is_charged =
          IsNode(workload.charged) &&
          In(workload.charged_place, state_.Queue(workload.charged).workloads.size()) &&
          static_cast<size_t>(
              state_.Queue(workload.charged).workloads[static_cast<size_t>(workload.charged_place)]) == id;
      Expect(workload.charged == kNoId || is_charged, "charged workloads");
      for (const auto& [fr, amount] : workload.usage) Expect(In(fr, state_.flavor_resources.size()), "usage");
      for (const Condition& condition : workload.conditions) {
        Expect(In(static_cast<int32_t>(condition.type), std::size(kConditionTypeNames)) &&
                   In(condition.reason, ReasonCount()),
               "conditions");
        CheckMessage(condition.message);
      }
      if (workload.admission) CheckAdmission(*workload.admission);
      if (workload.topology_usage) CheckTopologyUsage(*workload.topology_usage);
      for (const WorkloadCheck& check : workload.Status().checks) {
        Expect(In(check.check, state_.checks.size()), "checks of workloads");
      }
    }
  }

  bool IsDomain(DomainId id) const { return In(id, static_cast<size_t>(state_.topology.domains.size())); }

  void CheckTopologyUsage(const TopologyCharge& charge) {
    for (const TopologyUsage& entry : charge.entries) {
      Expect(IsDomain(entry.domain) && (entry.flavor == kNoId || IsFlavor(entry.flavor)), "topology usage");
      for (const auto& request : entry.requests) Expect(IsResource(request.first), "topology usage");
    }
  }

  void CheckTopologies() {
    for (const auto& [name, levels] : state_.topology.levels) Expect(!levels.empty(), "topologies");
    for (const auto& [name, node] : state_.topology.nodes) Expect(node != nullptr, "nodes");
    for (const auto& [name, pod] : state_.topology.pods) {
      for (const auto& request : pod.requests) Expect(IsResource(request.first), "pods");
    }
    for (const SecondPass& pass : state_.second_passes) Expect(IsWorkload(pass.workload), "second passes");
  }

  void CheckAdmission(const Admission& admission) {
    Expect(IsNode(admission.cluster_queue), "admissions");
    for (const PodSetAdmission& pod_set : admission.pod_sets) {
      if (pod_set.topology) {
        for (const DomainCount& entry : pod_set.topology->domains) Expect(IsDomain(entry.domain), "domains");
        Expect(!pod_set.topology->levels.empty(), "topology assignments");
      }
      for (const PodSetAdmission::Resource& entry : pod_set.resources) {
        Expect(IsResource(entry.resource) && (entry.flavor == kNoId || IsFlavor(entry.flavor)), "admissions");
      }
    }
  }

  void CheckMessage(const Message& message) {
    if (!message) return;
    if (const auto* reserved = std::get_if<ReservedIn>(message.get()))
      Expect(IsNode(reserved->cluster_queue), "texts");
    if (const auto* previously = std::get_if<Previously>(message.get())) CheckMessage(previously->before);
    if (const auto* preempted = std::get_if<PreemptedBy>(message.get())) {
      ExpectAll(preempted->preemptor_path, state_.queues.size(), "texts");
      ExpectAll(preempted->preemptee_path, state_.queues.size(), "texts");
    }
    const auto* refused = std::get_if<Refused>(message.get());
    if (refused == nullptr) return;
    Expect(InOrNone(refused->cls, state_.classes.size()), "texts");
    for (const PodSetRefusals& pod_set : refused->pod_sets) {
      const size_t pod_sets =
          In(refused->cls, state_.classes.size()) ? state_.Class(refused->cls).pod_sets.size() : 0;
      Expect(In(pod_set.pod_set, pod_sets), "texts");
      for (const Refusal& refusal : pod_set.refusals) {
        Expect(refusal.flavor == kNoId || IsFlavor(refusal.flavor), "texts");
        Expect(refusal.resource == kNoId || IsResource(refusal.resource), "texts");
        Expect(refusal.kind != RefusalKind::kPlacement || refusal.placement != nullptr, "texts");
      }
    }
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
    std::vector<int32_t> dirty_place(state_.workloads.size(), -1);
    for (size_t place = 0; place < state_.dirty.size(); ++place) {
      Expect(IsWorkload(state_.dirty[place]), "changed workloads");
      if (broken_.empty())
        dirty_place[static_cast<size_t>(state_.dirty[place])] = static_cast<int32_t>(place);
    }
    for (size_t id = 0; broken_.empty() && id < dirty_place.size(); ++id) {
      Expect(state_.workloads[id].dirty_place == dirty_place[id], "changed workloads");
    }
  }

  void CheckRest() {
    for (const LocalQueue& queue : state_.local_queues) {
      Expect(In(queue.namespace_id, state_.namespaces.size()), "LocalQueues");
      Expect(InOrNone(queue.cluster_queue, state_.queues.size()), "LocalQueues");
    }
    CheckLedger();
    for (const EquivalenceClass& cls : state_.classes) CheckClass(cls);
    for (const auto& [key, cls] : state_.class_of_key) Expect(In(cls, state_.classes.size()), "classes");
    for (const auto& [key, id] : state_.workload_of_key) Expect(IsWorkload(id), "names of workloads");
    ExpectAll(state_.changed_nodes, state_.queues.size(), "changed nodes");
    ExpectAll(state_.to_requeue, state_.queues.size(), "queues to be requeued");
    for (const Event& event : state_.events) {
      Expect(event.spec != nullptr && InOrNone(event.by_queue, state_.queues.size()) &&
                 event.kind <= EventKind::kTargetsRecomputed && InOrNone(event.queue, state_.queues.size()) &&
                 In(event.reason, ReasonCount()) && In(event.preemption, ReasonCount()) &&
                 In(event.cause, ReasonCount()),
             "events");
      CheckMessage(event.message);
    }
    CheckDirty();
    for (const WorkloadId id : state_.deleted)
      Expect(IsWorkload(id) && state_.At(id).deleted, "deleted workloads");
    if (broken_.empty() && state_.waiting.start != nullptr) CheckWaiting(*state_.waiting.start);
  }

  // A cycle that waits goes on with numbers of the state that it started from.
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
    Expect(cls.totals.size() == cls.pod_sets.size(), "totals");
    Expect(cls.adjusted.empty() || cls.adjusted.size() == cls.pod_sets.size(), "totals");
    for (const PodSetTotals& totals : cls.totals) {
      for (const auto& [resource, amount] : totals.requests) Expect(IsResource(resource), "totals");
    }
  }

  size_t ReasonCount() const { return static_cast<size_t>(state_.reasons.size()); }

  const State& state_;
  std::vector<int> seen_;  // how often each workload is in a queue
  std::string broken_;
};

}  // namespace

std::string BrokenReference(const State& state) { return References(state).FindBroken(); }

}  // namespace kueue
