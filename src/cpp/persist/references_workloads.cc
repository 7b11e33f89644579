// References between workloads and their queues, which must be mutual.
#include <vector>

#include "persist/field_lists.h"
#include "persist/references.h"

namespace kueue {
namespace {

class WorkloadReferences : private ReferenceCheck {
 public:
  explicit WorkloadReferences(const State& state) : ReferenceCheck(state), seen_(state.workloads.size(), 0) {}

  std::string FindBroken() {
    CheckPlaces();
    if (broken_.empty()) CheckQueues();
    if (broken_.empty()) CheckWorkloads();
    return broken_;
  }

 private:
  void CheckQueues() {
    for (NodeId node : state_.queues.Ids()) {
      const ClusterQueue& queue = state_.queues[node];
      ExpectAll(queue.flavors, state_.flavors, "flavors of a ClusterQueue");
      CheckInactivity(queue.inactivity);
      for (const ResourceGroupIds& group : queue.groups) {
        ExpectAll(group.covered, state_.resource_order, "resources of a ClusterQueue");
        ExpectAll(group.flavors, state_.flavors, "flavors of a ClusterQueue");
      }
      for (const CheckIds& rule : queue.checks) {
        Expect(In(rule.check, state_.checks), "checks of a ClusterQueue");
        ExpectAll(rule.flavors, state_.flavors, "flavors of a check");
      }
      CheckCharged(queue.workloads, node);
      CheckPending(queue.pending, node);
    }
  }

  void CheckInactivity(const Inactivity& inactivity) {
    for (const InactivityCause& cause : inactivity.causes) {
      Expect(cause.kind != InactivityKind::kTopologyNotFound || cause.names.size() == 2,
             "inactive ClusterQueues");
    }
  }

  void CheckCharged(const std::vector<WorkloadId>& workloads, NodeId node) {
    for (size_t place = 0; place < workloads.size(); ++place) {
      const WorkloadId id = workloads[place];
      Expect(IsWorkload(id) && state_.At(id).charged == node &&
                 state_.At(id).charged_place == static_cast<int32_t>(place),
             "workloads of a ClusterQueue");
    }
  }

  void CheckPending(const PendingQueue& pending, NodeId node) {
    FieldLists::Visit(
        pending, [&](const auto& preemptor, auto&, const auto& by_usage, auto&, auto&, const auto& buckets,
                     const auto& bucket_of, const auto& heads, const auto& heap,
                     const auto& inadmissible_buckets, const auto& delayed, const auto& classes,
                     const auto& inflight, const auto& active_count, const auto& inadmissible_count) {
          Expect(preemptor == kNoId || IsWorkload(preemptor), "preemptors");
          Expect(bucket_of.size() == buckets.size(), "buckets");
          size_t active = 0, inadmissible = delayed.size();
          for (size_t i = 0; i < buckets.size(); ++i) {
            const auto found = bucket_of.find({buckets[i].cls, buckets[i].local_queue});
            Expect(found != bucket_of.end() && static_cast<size_t>(found->second) == i, "buckets");
            CheckBucket(buckets[i], static_cast<int32_t>(i), heads, node);
            active += buckets[i].active.size();
            inadmissible += buckets[i].inadmissible.size();
          }
          for (const int32_t head : heads) {
            Expect(In(head, buckets) && !buckets[static_cast<size_t>(head)].active.empty(), "heads");
          }
          ExpectAll(inadmissible_buckets, buckets, "inadmissible workloads");
          CheckInadmissibleClasses(classes);
          for (const WorkloadId id : delayed) See(id, node, QueuePlace::kDelayed);
          if (inflight != kNoId) See(inflight, node, QueuePlace::kInflight);
          Expect(static_cast<size_t>(active_count) == active &&
                     static_cast<size_t>(inadmissible_count) == inadmissible,
                 "counts of pending workloads");
          Expect(heap.size() == (by_usage ? active : 0), "heaps");
          CheckHeap(heap, pending, node);
        });
  }

  template <typename Bucket, typename Heads>
  void CheckBucket(const Bucket& bucket, int32_t number, const Heads& heads, NodeId node) {
    Expect(In(bucket.cls, state_.classes) && In(bucket.local_queue, state_.local_queues), "buckets");
    CheckWorkloadRun(bucket.active, bucket, node);
    CheckWorkloadRun(bucket.inadmissible, bucket, node);
    const bool is_head =
        In(bucket.place_in_heads, heads) && heads[static_cast<size_t>(bucket.place_in_heads)] == number;
    Expect(bucket.active.empty() ? bucket.place_in_heads == -1 : is_head, "heads");
  }

  template <typename Classes>
  void CheckInadmissibleClasses(const Classes& classes) {
    for (const auto& [cls, reason] : classes) {
      Expect(In(cls, state_.classes) && IsReason(reason), "inadmissible classes");
    }
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
      Expect(workload.hash == bucket.cls && workload.local_queue == bucket.local_queue &&
                 workload.queue_time == item.time,
             "buckets");
      Expect(&item == run.begin() || (&item)[-1].time <= item.time, "order of pending workloads");
    }
  }

  void See(WorkloadId id, NodeId node, QueuePlace place) {
    const bool fits = IsWorkload(id) && state_.At(id).queued == node && state_.At(id).place == place &&
                      state_.At(id).spec && seen_[id]++ == 0;
    Expect(fits, "pending workloads");
  }

  // Returns for each slot whether it is in the free list.
  template <typename Places, typename Free>
  IdVector<WorkloadId, bool> CheckFree(const Places& places, const Free& free) {
    IdVector<WorkloadId, bool> is_free(places.size());
    for (const WorkloadId id : free) {
      Expect(In(id, places) && !is_free[id] && state_.workloads.IsFree(id), "free places");
      if (broken_.empty()) is_free[id] = true;
    }
    return is_free;
  }

  // Checks that ids and serial numbers refer to each other and that free slots are empty.
  void CheckPlaces() {
    size_t used = 0;
    FieldLists::Visit(state_.workloads, [&](const auto& places, const auto& free, const auto& roll,
                                            const Serial& next, const size_t& living) {
      const IdVector<WorkloadId, bool> is_free = CheckFree(places, free);
      for (size_t i = 0; i < roll.size(); ++i) {
        Expect(roll[i].serial < next && (i == 0 || roll[i - 1].serial < roll[i].serial),
               "numbers of workloads");
      }
      for (WorkloadId id : places.Ids()) {
        if (!broken_.empty()) return;
        Expect(is_free[id] == (places[id].spec == nullptr), "free places");
        if (is_free[id]) continue;
        ++used;
        Expect(state_.workloads.Find(places[id].serial) == id, "numbers of workloads");
      }
      Expect(living == used, "numbers of workloads");
    });
  }

  void CheckWorkloads() {
    for (WorkloadId id : state_.workloads.Ids()) {
      if (state_.workloads.IsFree(id)) {
        Expect(seen_[id] == 0, "pending workloads");
        continue;
      }
      const Workload& workload = state_.workloads[id];
      Expect(In(workload.local_queue, state_.local_queues), "workloads");
      Expect(InOrNone(workload.cls, state_.classes) && (workload.cls == kNoId || IsWhole(workload.cls)),
             "classes of workloads");
      Expect(InOrNone(workload.hash, state_.classes), "classes of workloads");
      Expect(InOrNone(workload.queued, state_.queues), "queues of workloads");
      Expect((workload.place == QueuePlace::kNowhere) == (seen_[id] == 0), "pending workloads");
      Expect(workload.charged == kNoId || IsCharged(workload, id), "charged workloads");
      CheckStatus(workload);
    }
  }

  // The entry of a hash has totals, but no pod sets.
  bool IsWhole(ClassId cls) const {
    return state_.Class(cls).pod_sets.size() == state_.Class(cls).totals.size();
  }

  bool IsCharged(const Workload& workload, WorkloadId id) const {
    if (!IsNode(workload.charged)) return false;
    const std::vector<WorkloadId>& charged = state_.Queue(workload.charged).workloads;
    return In(workload.charged_place, charged) && charged[static_cast<size_t>(workload.charged_place)] == id;
  }

  void CheckStatus(const Workload& workload) {
    for (const auto& [fr, amount] : workload.usage) Expect(In(fr, state_.flavor_resources), "usage");
    for (const Condition& condition : workload.conditions) {
      Expect(IsReason(condition.reason), "conditions");
      CheckMessage(condition.message);
    }
    if (workload.admission) CheckAdmission(*workload.admission);
    if (workload.topology_usage) CheckTopologyUsage(*workload.topology_usage);
    for (const WorkloadCheck& check : workload.Status().checks) {
      Expect(In(check.check, state_.checks), "checks of workloads");
    }
    Expect(workload.Status().dispatched.job <= JobPlace::kCopied, "jobs of workloads");
  }

  void CheckTopologyUsage(const TopologyCharge& charge) {
    for (const TopologyUsage& entry : charge.entries) {
      Expect(In(entry.domain, state_.topology.domains) && (entry.flavor == kNoId || IsFlavor(entry.flavor)),
             "topology usage");
      for (const auto& request : entry.requests) Expect(IsResource(request.first), "topology usage");
    }
  }

  void CheckAdmission(const Admission& admission) {
    Expect(IsNode(admission.cluster_queue), "admissions");
    for (const PodSetAdmission& pod_set : admission.pod_sets) {
      if (pod_set.topology) {
        for (const DomainCount& entry : pod_set.topology->domains)
          Expect(In(entry.domain, state_.topology.domains), "domains");
        Expect(!pod_set.topology->levels.empty(), "topology assignments");
      }
      for (const PodSetAdmission::Resource& entry : pod_set.resources) {
        Expect(IsResource(entry.resource) && (entry.flavor == kNoId || IsFlavor(entry.flavor)), "admissions");
      }
    }
  }

  IdVector<WorkloadId, int> seen_;  // Number of occurrences of each workload in queues.
};

}  // namespace

std::string BrokenWorkloadReference(const State& state) { return WorkloadReferences(state).FindBroken(); }

}  // namespace kueue
