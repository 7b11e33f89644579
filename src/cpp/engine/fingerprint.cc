#include "engine/fingerprint.h"

#include <algorithm>
#include <string>
#include <vector>

namespace kueue {
namespace {

// A 64-bit hash that is the same in every process, unlike Abseil's hashes. Objects are identified by name and
// workloads by serial number, because ids depend on the history of the state and change when it is saved.
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
  void Add(const std::string& name) {
    uint64_t hash = 0xcbf29ce484222325;
    for (char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
    Add(hash);
  }
  // Adds items in an order-independent way. `add(item, mixer)` adds one item.
  template <typename Items, typename AddItem>
  void AddSet(const Items& items, AddItem add) {
    uint64_t sum = 0;
    for (const auto& item : items) {
      Mixer mixer;
      add(item, mixer);
      sum += mixer.value();
    }
    Add(sum);
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0;
};

const std::string& NameOf(const State& state, NodeId node) {
  static const std::string none;
  return node == kNoId ? none : state.forest().Name(node);
}
int64_t SerialOf(const State& state, WorkloadId id) { return id == kNoId ? kNoId : state.At(id).serial; }

// Adds the position of a flavor scan, and whether it is still valid.
void AddProgress(const State& state, const Workload& workload, Mixer& mixer) {
  const ScanProgress& progress = *workload.progress;
  const NodeId queue = state.QueueOf(workload);
  mixer.Add(queue != kNoId && state.Queue(queue).generation > progress.generation);
  mixer.Add(std::min<int64_t>(state.scheduling_cycle - progress.cycle, 2));
  mixer.Add(progress.cls == workload.hash);
  for (const auto& pod_set : progress.tried) {
    mixer.AddSet(pod_set, [&state](const auto& entry, Mixer& one) {
      one.Add(state.resource_names.Name(entry.first));
      one.Add(entry.second);
    });
  }
}

void AddAdmission(const State& state, const Admission& admission, Mixer& mixer) {
  mixer.Add(NameOf(state, admission.cluster_queue));
  for (const PodSetAdmission& pod_set : admission.pod_sets) {
    mixer.Add(pod_set.count);
    mixer.AddSet(pod_set.resources, [&state](const PodSetAdmission::Resource& entry, Mixer& one) {
      one.Add(state.resource_names.Name(entry.resource));
      if (entry.flavor != kNoId) one.Add(state.flavor_names.Name(entry.flavor));
      one.Add(entry.usage);
    });
    mixer.Add(static_cast<int32_t>(pod_set.delayed));
    if (!pod_set.topology) continue;
    for (const DomainCount& entry : pod_set.topology->domains) {
      mixer.Add(state.topology.domains.Name(entry.domain));
      mixer.Add(entry.count);
    }
  }
}

void AddStatus(const State& state, const StatusDetails& status, Mixer& mixer) {
  mixer.Add(status.pods_ready);
  mixer.Add(static_cast<int64_t>(status.unhealthy_nodes.size()));
  mixer.Add(status.requeue_count.value_or(-1));
  mixer.Add(status.requeue_at.value_or(-1));
  mixer.Add(status.past_execution_seconds.value_or(-1));
  mixer.Add(status.job_stops_at.value_or(-1));
  for (const WorkloadCheck& check : status.checks) {
    mixer.Add(state.check_names.Name(check.check));
    mixer.Add(static_cast<int32_t>(check.state));
    mixer.Add(check.transition);
  }
  const Dispatched& dispatched = status.dispatched;
  mixer.Add(static_cast<int32_t>(dispatched.job));
  mixer.Add(dispatched.suspended);
  mixer.Add(dispatched.active);
  mixer.Add(dispatched.cluster);
  for (int32_t cluster : dispatched.nominated) mixer.Add(cluster);
  for (const OpenGate& gate : dispatched.open_gates) mixer.Add(gate.since);
}

void AddDevices(const DeviceQueueing& devices, Mixer& mixer) {
  for (bool flag : {devices.changed, devices.ignores_requeued, devices.failed_checks}) mixer.Add(flag);
  if (devices.charges == nullptr) return;
  for (const DeviceCharge& charge : devices.charges->pod_sets) {
    mixer.AddSet(charge.amounts, [](const auto& amount, Mixer& one) {
      one.Add(amount.first);
      one.Add(amount.second.ToText());
    });
  }
}

void AddWorkload(const State& state, WorkloadId id, Mixer& mixer) {
  const Workload& workload = state.At(id);
  mixer.Add(workload.serial);
  mixer.Add(static_cast<int32_t>(workload.place));
  mixer.Add(workload.queue_time);
  mixer.Add(NameOf(state, workload.charged));
  mixer.Add(workload.listed);
  mixer.Add(workload.assigned == kNoId ? std::string() : state.local_queue_names.Name(workload.assigned));
  for (const Condition& condition : workload.conditions) {
    mixer.Add(static_cast<int32_t>(condition.type));
    mixer.Add(condition.status);
    mixer.Add(state.reasons.Name(condition.reason));
    mixer.Add(condition.transition);
    mixer.Add(condition.generation == workload.generation);
  }
  if (workload.place == QueuePlace::kQueued || workload.place == QueuePlace::kDelayed) {
    const PendingQueue& pending = state.Queue(workload.queued).pending;
    mixer.Add(pending.IsInadmissible(state.workloads, id));
    mixer.Add(pending.InadmissibleReason(workload.hash) != nullptr);
  }
  if (workload.devices) AddDevices(*workload.devices, mixer);
  if (workload.progress) AddProgress(state, workload, mixer);
  if (workload.admission) AddAdmission(state, *workload.admission, mixer);
  if (workload.status) AddStatus(state, *workload.status, mixer);
}

void AddLedger(const State& state, const LedgerEntry& entry, Mixer& mixer) {
  mixer.AddSet(entry.consumed, [&state](const auto& consumed, Mixer& one) {
    one.Add(state.resource_names.Name(consumed.first));
    one.Add(static_cast<int64_t>(consumed.second));
  });
  mixer.Add(static_cast<int64_t>(entry.penalties.size()));
  mixer.Add(entry.last_update);
}

// One tree of the cohort forest, or all trees.
class Scope {
 public:
  Scope(const State& state, NodeId root) : state_(state), root_(root) {}
  bool Has(NodeId queue) const {
    return root_ == kNoId || (queue != kNoId && (queue == root_ || state_.forest().Root(queue) == root_));
  }
  bool Has(const Workload& workload) const {
    return Has(workload.charged != kNoId ? workload.charged : state_.QueueOf(workload));
  }

 private:
  const State& state_;
  NodeId root_;
};

void AddQueues(const State& state, const Scope& scope, Mixer& mixer) {
  mixer.AddSet(state.forest().Queues(), [&](NodeId node, Mixer& one) {
    if (!scope.Has(node)) return;
    const PendingQueue& pending = state.Queue(node).pending;
    one.Add(NameOf(state, node));
    one.Add(SerialOf(state, pending.preemptor));
    one.Add(pending.sticky);
    for (WorkloadId id : pending.HeapOrder()) one.Add(SerialOf(state, id));
  });
  mixer.AddSet(state.to_requeue, [&](NodeId node, Mixer& one) {
    if (scope.Has(node)) one.Add(NameOf(state, node));
  });
  mixer.AddSet(state.refused, [&](const auto& kept, Mixer& one) {
    one.Add(NameOf(state, kept.first));
    one.Add(NameOf(state, kept.second));
  });
}

void AddLedgers(const State& state, const Scope& scope, Mixer& mixer) {
  std::vector<LocalQueueId> ledgers;
  for (LocalQueueId id : state.ledger.Ids()) {
    const bool exists = state.ledger[id].exists;
    if (exists && scope.Has(state.Local(id).cluster_queue)) ledgers.push_back(id);
  }
  mixer.AddSet(ledgers, [&state](LocalQueueId id, Mixer& one) {
    AddLedger(state, state.ledger[id], one);
    one.Add(state.local_queue_names.Name(id));
  });
}

}  // namespace

uint64_t Fingerprint(const State& state, NodeId root) {
  const Scope scope(state, root);
  Mixer mixer;
  for (WorkloadId id : state.workloads.InOrder()) {
    const Workload& workload = state.At(id);
    if (workload.deleted || workload.IsFinished()) continue;
    if (scope.Has(workload)) AddWorkload(state, id, mixer);
  }
  AddQueues(state, scope, mixer);
  for (const SecondPass& pass : state.second_passes) {
    if (!scope.Has(state.At(pass.workload))) continue;
    mixer.Add(SerialOf(state, pass.workload));
    mixer.Add(pass.iteration);
    mixer.Add(pass.due);
  }
  mixer.Add(state.waiting.start ? state.waiting.passed : -1);
  mixer.Add(state.waiting.released);
  AddLedgers(state, scope, mixer);
  return mixer.value();
}

}  // namespace kueue
