#include "engine/fingerprint.h"

#include <algorithm>

namespace kueue {
namespace {

// A mix of 64 bits, the same in every run (Abseil's hashes are not).
class Mixer {
 public:
  void Add(uint64_t value) {
    value_ += value + 0x9e3779b97f4a7c15;
    value_ = (value_ ^ (value_ >> 30)) * 0xbf58476d1ce4e5b9;
    value_ = (value_ ^ (value_ >> 27)) * 0x94d049bb133111eb;
    value_ ^= value_ >> 31;
  }
  void Add(int64_t value) { Add(static_cast<uint64_t>(value)); }
  void Add(int32_t value) { Add(static_cast<int64_t>(value)); }
  void Add(bool value) { Add(static_cast<uint64_t>(value ? 1 : 2)); }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0;
};

// How far a scan of flavors got, and whether it still counts.
void AddProgress(const State& state, const Workload& workload, Mixer& mixer) {
  const ScanProgress& progress = *workload.progress;
  const NodeId queue = state.QueueOf(workload);
  mixer.Add(queue != kNoId && state.Queue(queue).generation > progress.generation);
  mixer.Add(std::min<int64_t>(state.scheduling_cycle - progress.cycle, 2));
  mixer.Add(progress.cls);
  for (const auto& pod_set : progress.tried) {
    for (const auto& [resource, index] : pod_set) {
      mixer.Add(resource);
      mixer.Add(index);
    }
  }
}

void AddAdmission(const Admission& admission, Mixer& mixer) {
  mixer.Add(admission.cluster_queue);
  for (const PodSetAdmission& pod_set : admission.pod_sets) {
    mixer.Add(pod_set.count);
    for (const PodSetAdmission::Resource& entry : pod_set.resources) {
      mixer.Add(entry.resource);
      mixer.Add(entry.flavor);
      mixer.Add(entry.usage);
    }
    mixer.Add(static_cast<int32_t>(pod_set.delayed));
    if (!pod_set.topology) continue;
    for (const DomainCount& entry : pod_set.topology->domains) {
      mixer.Add(entry.domain);
      mixer.Add(entry.count);
    }
  }
}

void AddStatus(const StatusDetails& status, Mixer& mixer) {
  mixer.Add(status.pods_ready);
  mixer.Add(static_cast<int64_t>(status.unhealthy_nodes.size()));
  mixer.Add(status.requeue_count.value_or(-1));
  mixer.Add(status.requeue_at.value_or(-1));
  mixer.Add(status.past_execution_seconds.value_or(-1));
  for (const WorkloadCheck& check : status.checks) {
    mixer.Add(check.check);
    mixer.Add(static_cast<int32_t>(check.state));
    mixer.Add(check.transition);
  }
}

void AddWorkload(const State& state, WorkloadId id, Mixer& mixer) {
  const Workload& workload = state.At(id);
  mixer.Add(id);
  mixer.Add(static_cast<int32_t>(workload.place));
  mixer.Add(workload.queue_time);
  mixer.Add(workload.charged);
  for (const Condition& condition : workload.conditions) {
    mixer.Add(static_cast<int32_t>(condition.type));
    mixer.Add(condition.status);
    mixer.Add(condition.reason);
    mixer.Add(condition.transition);
  }
  if (workload.place == QueuePlace::kQueued || workload.place == QueuePlace::kDelayed) {
    const PendingQueue& pending = state.Queue(workload.queued).pending;
    mixer.Add(pending.IsInadmissible(state.workloads, id));
    mixer.Add(pending.InadmissibleReason(workload.cls) != nullptr);
  }
  if (workload.progress) AddProgress(state, workload, mixer);
  if (workload.admission) AddAdmission(*workload.admission, mixer);
  if (workload.status) AddStatus(*workload.status, mixer);
}

}  // namespace

uint64_t Fingerprint(const State& state, NodeId root) {
  const auto concerns = [&](NodeId queue) {
    return root == kNoId || (queue != kNoId && (queue == root || state.forest().Root(queue) == root));
  };
  const auto tree_of = [&](const Workload& workload) {
    return workload.charged != kNoId ? workload.charged : state.QueueOf(workload);
  };
  Mixer mixer;
  for (WorkloadId id = 0; id < static_cast<WorkloadId>(state.workloads.size()); ++id) {
    const Workload& workload = state.At(id);
    if (state.workloads.IsFree(id) || workload.deleted || workload.IsFinished()) continue;
    if (concerns(tree_of(workload))) AddWorkload(state, id, mixer);
  }
  for (NodeId node : state.forest().Queues()) {
    if (!concerns(node)) continue;
    const PendingQueue& pending = state.Queue(node).pending;
    mixer.Add(pending.preemptor);
    mixer.Add(pending.sticky);
    for (WorkloadId id : pending.HeapOrder()) mixer.Add(id);
  }
  for (NodeId node : state.to_requeue) {
    if (concerns(node)) mixer.Add(node);
  }
  for (const SecondPass& pass : state.second_passes) {
    if (!concerns(tree_of(state.At(pass.workload)))) continue;
    mixer.Add(pass.workload);
    mixer.Add(pass.iteration);
    mixer.Add(pass.due);
  }
  mixer.Add(state.waiting.start ? state.waiting.passed : -1);
  mixer.Add(state.waiting.released);
  for (size_t queue = 0; queue < state.ledger.size(); ++queue) {
    if (!concerns(state.local_queues[queue].cluster_queue)) continue;
    const LedgerEntry& entry = state.ledger[queue];
    for (const auto& [resource, nano] : entry.consumed) mixer.Add(static_cast<int64_t>(nano));
    mixer.Add(static_cast<int64_t>(entry.penalties.size()));
    mixer.Add(entry.last_update);
  }
  return mixer.value();
}

}  // namespace kueue
