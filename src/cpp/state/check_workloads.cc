#include <algorithm>

#include "absl/strings/str_cat.h"
#include "queue/check.h"
#include "state/check.h"
#include "state/devices.h"
#include "state/names.h"
#include "state/variants.h"

namespace kueue {
namespace {

class WorkloadsCheck {
 public:
  WorkloadsCheck(const State& state, std::vector<std::string>& problems)
      : state_(state),
        problems_(problems),
        waiting_(state.workloads.size()),
        charged_(state.workloads.size()) {}

  void Run() {
    for (NodeId node : state_.forest().Queues()) {
      CheckPending(node);
      CheckCharged(node);
    }
    CheckSlots();
    size_t living = 0;
    for (WorkloadId id : state_.workloads.InOrder()) {
      CheckPlace(id);
      if (state_.At(id).deleted) continue;
      ++living;
      if (!state_.followed.drops_keys)
        Expect(FindByKey(state_, state_.At(id).Key()) == id, id, "is not found by its key");
      CheckConditions(id);
      CheckClass(id);
    }
    if (state_.workload_of_key.size() != (state_.followed.drops_keys ? 0 : living))
      problems_.push_back("keys are kept of workloads that are gone");
    CheckLists();
  }

 private:
  void Expect(bool holds, WorkloadId id, absl::string_view text) {
    if (!holds) problems_.push_back(absl::StrCat("workload ", state_.At(id).Key(), " ", text));
  }

  void ExpectOf(NodeId queue, bool holds, absl::string_view text) {
    if (!holds) problems_.push_back(absl::StrCat("queue ", state_.forest().Name(queue), " ", text));
  }

  // Checks that each workload is found by its serial number, and that each free slot is empty and in the free
  // list once.
  void CheckSlots() {
    size_t used = 0;
    for (WorkloadId id : state_.workloads.Ids()) {
      if (state_.workloads.IsFree(id)) continue;
      ++used;
      Expect(state_.workloads.Find(state_.At(id).serial) == id, id, "is not found by its number");
    }
    if (used != state_.workloads.InOrder().size() || used != state_.workloads.living())
      problems_.push_back("the places of workloads are counted wrongly");
  }

  void CheckPending(NodeId node) {
    const PendingQueue& pending = state_.Queue(node).pending;
    const PendingContents found = Inspect(pending, state_.workloads);
    for (const std::string& problem : found.problems) {
      problems_.push_back(absl::StrCat("queue ", state_.forest().Name(node), ": ", problem));
    }
    for (const std::vector<WorkloadId>* list : {&found.active, &found.inadmissible, &found.delayed}) {
      for (WorkloadId id : *list) {
        ++waiting_[id];
        Expect(state_.At(id).queued == node, id, "waits in a queue that it does not name");
      }
    }
    if (pending.inflight() != kNoId) ++waiting_[pending.inflight()];
    if (!state_.stale && state_.forest().IsDeclared(node) && pending.HasActive())
      ExpectOf(node, state_.caches.heads.Has(node), "has a head that no cycle would look at");
    const WorkloadId preemptor = pending.preemptor;
    if (preemptor != kNoId)
      Expect(state_.At(preemptor).queued == node, preemptor, "is no longer the queue's preemptor");
  }

  void CheckCharged(NodeId node) {
    const std::vector<WorkloadId>& list = state_.Queue(node).workloads;
    for (size_t place = 0; place < list.size(); ++place) {
      const Workload& workload = state_.At(list[place]);
      ++charged_[list[place]];
      Expect(workload.charged == node && static_cast<size_t>(workload.charged_place) == place, list[place],
             "is not where it says in its queue's account");
    }
  }

  // Checks that the workload is in exactly one place, which is consistent with its conditions.
  void CheckPlace(WorkloadId id) {
    const Workload& workload = state_.At(id);
    const bool waits = workload.place != QueuePlace::kNowhere;
    Expect(waiting_[id] == (waits ? 1 : 0), id, "is not in one place of one queue");
    Expect(waits == (workload.queued != kNoId), id, "names a queue without waiting in it, or the reverse");
    Expect(charged_[id] == (workload.charged != kNoId ? 1 : 0), id,
           "is not once on the account that it names");
    const bool gone = workload.deleted || workload.IsFinished() || !workload.spec->active;
    const bool holds = workload.HasQuotaReservation() && workload.admission != nullptr && !gone;
    const bool pays = holds && state_.forest().IsDeclared(workload.admission->cluster_queue) &&
                      !IsParentIn(state_, workload, workload.admission->cluster_queue);
    Expect(pays == (workload.charged != kNoId), id,
           pays ? "holds quota without being charged" : "is charged without quota");
    if (pays) {
      Expect(workload.charged == workload.admission->cluster_queue, id, "is charged to another queue");
      CheckUsage(id);
    }
    const bool may_wait = !gone && !workload.HasQuotaReservation();
    Expect(may_wait || !waits, id, "waits although it may not");
    if (waits) {
      // The LocalQueue of a head in flight may have been removed or moved.
      Expect(workload.place == QueuePlace::kInflight || state_.QueueOf(workload) == workload.queued, id,
             "waits in the wrong ClusterQueue");
    } else if (may_wait && MustWait(workload)) {
      Expect(false, id, "is lost: it neither waits nor holds quota");
    }
  }

  // Returns whether an active workload without quota must be in a queue.
  bool MustWait(const Workload& workload) const {
    const NodeId node = state_.QueueOf(workload);
    if (node == kNoId || IsParent(state_, workload) || state_.Queue(node).terminating ||
        !state_.Local(workload.local_queue).IsRunning())
      return false;
    const Condition* reserved = workload.Find(ConditionType::kQuotaReserved);
    const bool on_hold = reserved != nullptr && reserved->reason == Reason::kOnHold;
    const bool gated = state_.config.gates.admission_gated_by && !workload.spec->admission_gate.empty();
    // A workload with devices is queued only after its devices are counted.
    return !on_hold && !gated && !workload.Status().requeue_at && !AsksForDevices(state_, *workload.spec);
  }

  // Checks that the charge follows from the admission and the pods that still count.
  void CheckUsage(WorkloadId id) {
    const Workload& workload = state_.At(id);
    std::vector<std::pair<FlavorResourceId, Amount>> expected;
    for (const PodSetAdmission& pod_set : workload.admission->pod_sets) {
      const int64_t pods = Counted(workload, pod_set);
      for (const PodSetAdmission::Resource& entry : pod_set.resources) {
        if (entry.flavor == kNoId) continue;
        Expect(entry.usage >= 0, id, "uses less than nothing");
        const bool scales = pods < pod_set.count && pod_set.count != 0;
        const Amount amount(scales ? SaturatingMul(entry.usage / pod_set.count, pods) : entry.usage);
        const FlavorResourceId fr = state_.FlavorResource(entry.flavor, entry.resource);
        const auto known =
            std::find_if(expected.begin(), expected.end(), [&](const auto& e) { return e.first == fr; });
        if (known == expected.end()) {
          expected.emplace_back(fr, amount);
        } else {
          known->second += amount;
        }
      }
    }
    Expect(std::equal(expected.begin(), expected.end(), workload.usage.begin(), workload.usage.end()), id,
           "charges other amounts than its admission says");
  }

  int64_t Counted(const Workload& workload, const PodSetAdmission& admitted) const {
    for (const PodSetSpec& pod_set : workload.spec->pod_sets) {
      if (pod_set.name != admitted.name) continue;
      const auto& reclaimable = workload.Status().reclaimable;
      const auto entry = reclaimable.find(pod_set.name);
      if (!state_.config.gates.reclaimable_pods || entry == reclaimable.end()) return pod_set.count;
      return std::max<int64_t>(0, pod_set.count - entry->second);
    }
    return admitted.count;
  }

  void CheckConditions(WorkloadId id) {
    const Workload& workload = state_.At(id);
    for (const Condition& condition : workload.conditions) {
      Expect(workload.Find(condition.type) == &condition, id, "has a condition twice");
      Expect(condition.transition <= state_.now, id, "has a condition from the future");
    }
    if (workload.IsFinished()) return;
    Expect(workload.HasQuotaReservation() == (workload.admission != nullptr), id,
           "has an admission without a reservation, or the reverse");
    Expect(!workload.IsAdmitted() || workload.HasQuotaReservation(), id, "is admitted without quota");
  }

  void CheckClass(WorkloadId id) {
    const Workload& workload = state_.At(id);
    // A workload in flight is classified again when the blocked cycle ends.
    if (workload.place == QueuePlace::kNowhere || workload.place == QueuePlace::kInflight) return;
    // The workload is classified again at the next settle.
    if (workload.devices && workload.devices->changed) return;
    Expect(workload.cls != kNoId, id, "waits without a class");
    if (workload.cls == kNoId) return;
    const EquivalenceClass& cls = state_.Class(workload.cls);
    Expect(cls.priority == workload.priority, id, "has another priority than its class");
    Expect(cls.totals.size() == workload.spec->pod_sets.size(), id, "has other pod sets than its class");
    for (size_t i = 0; i < std::min(cls.totals.size(), workload.spec->pod_sets.size()); ++i) {
      const PodSetSpec& pod_set = workload.spec->pod_sets[i];
      Expect(cls.pod_sets[i].name == pod_set.name && cls.pod_sets[i].count == pod_set.count, id,
             "has another pod set than its class");
      Expect(cls.totals[i].count >= 0 && cls.totals[i].count <= pod_set.count, id,
             "counts more pods than it has");
      for (const auto& [resource, amount] : cls.totals[i].requests)
        Expect(amount >= 0, id, "requests less than nothing");
    }
  }

  void CheckLists() {
    IdVector<WorkloadId, int32_t> listed(state_.workloads.size(), -1);
    for (size_t place = 0; place < state_.dirty.size(); ++place) {
      const WorkloadId id = state_.dirty[place];
      Expect(listed[id] < 0, id, "is listed twice for the controllers");
      listed[id] = static_cast<int32_t>(place);
    }
    for (WorkloadId id : state_.workloads.InOrder()) {
      Expect(state_.At(id).dirty_place == listed[id], id,
             "is mistaken about being listed for the controllers");
    }
    for (NodeId node : state_.to_requeue) {
      if (!state_.queues.Contains(node)) problems_.push_back("a tree is to be requeued that does not exist");
    }
    for (const LedgerEntry& entry : state_.ledger) {
      for (const auto& [resource, nano] : entry.consumed) {
        if (nano < 0) problems_.push_back("a LocalQueue consumed less than nothing");
      }
      if (entry.last_update > state_.now) problems_.push_back("a LocalQueue was sampled in the future");
    }
  }

  const State& state_;
  std::vector<std::string>& problems_;
  IdVector<WorkloadId, int> waiting_, charged_;  // Number of occurrences.
};

}  // namespace

void CheckWorkloads(const State& state, std::vector<std::string>& problems) {
  WorkloadsCheck(state, problems).Run();
}

}  // namespace kueue
