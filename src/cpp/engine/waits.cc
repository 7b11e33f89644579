#include "engine/waits.h"

#include <set>
#include <utility>

#include "lifecycle/devices.h"
#include "lifecycle/queueing.h"
#include "state/devices.h"
#include "state/names.h"
#include "state/rebuild.h"

namespace kueue {
namespace {

// Returns whether neither Engine::Settle() nor Engine::RunCycle() would change anything.
bool IsQuiet(State& state) {
  return IsSettled(state) && HasNoHead(state) && state.to_requeue.empty() && state.deleted.empty() &&
         state.topology.freed.empty() && state.followed.held_back.empty();
}

std::optional<Wait> FindWaitInQueue(const State& state, NodeId queue, ClassId cls) {
  if (state.Queue(queue).pending.InadmissibleReason(state.Class(cls).hash) != nullptr)
    return Wait{queue, cls, 0};
  if (state.caches.refusals.Find(state.quota, queue, cls) == nullptr) return std::nullopt;
  return Wait{queue, cls, 1};
}

}  // namespace

bool IsSettled(State& state) {
  return state.dirty.empty() && !state.stale && !state.devices_changed && state.waiting.start == nullptr &&
         state.topology.waiting.empty() && !state.config.admission_fair_sharing &&
         !state.config.gates.concurrent_admission && TerminatingQueues(state).empty();
}

bool HasNoHead(const State& state) {
  return state.waiting.start == nullptr && !state.stale && !state.topology.made.stale &&
         state.second_passes.empty() && state.caches.heads.IsEmpty();
}

std::optional<Wait> FindWait(State& state, const WorkloadSpec& spec) {
  const FeatureGates& gates = state.config.gates;
  if (!IsQuiet(state) || state.config.wait_for_pods_ready || !gates.unadmitted_workloads_observability ||
      gates.unadmitted_workloads_explicit_status || !gates.scheduling_equivalence_hashing || !spec.active ||
      !spec.admission_gate.empty() || !spec.preemption_gates.empty() || !spec.replaces.empty() ||
      AsksForDevices(state, spec)) {
    return std::nullopt;
  }
  const LocalQueue& local = std::as_const(state).Local(LocalQueueOf(state, spec));
  const NodeId node = local.IsRunning() ? local.cluster_queue : kNoId;
  if (node == kNoId || !state.forest().IsDeclared(node) || !state.forest().IsActive(node))
    return std::nullopt;
  const ClusterQueue& queue = std::as_const(state).Queue(node);
  if (!queue.inactivity.IsActive() || !queue.checks.empty() || queue.pending.by_usage ||
      queue.pending.sticky || queue.spec.queueing_strategy != QueueingStrategy::kBestEffortFIFO) {
    return std::nullopt;
  }
  const Namespace& space = state.namespaces[local.namespace_id];
  if (!space.exists || !MayUse(state, node, local.namespace_id)) return std::nullopt;
  const ClassId cls = KnownClassOf(state, spec, local.namespace_id);
  if (cls == kNoId || !state.Class(cls).resource_error.empty()) return std::nullopt;
  return FindWaitInQueue(state, node, cls);
}

std::optional<Wait> RetryAndFindWait(State& state, const Wait& before) {
  if (state.stale || state.holds_retries) return std::nullopt;
  const std::set<NodeId>& retries = state.to_requeue;
  const bool is_own = retries.size() == 1 && *retries.begin() == state.forest().Root(before.queue);
  if (is_own && IsSettled(state) && HasNoHead(state)) RequeueNotified(state);
  return IsQuiet(state) ? FindWaitInQueue(state, before.queue, before.cls) : std::nullopt;
}

bool HasOnlyBefore(const State& state, const Wait& wait, Time created) {
  return state.Queue(wait.queue).pending.HasOnly(state.Class(wait.cls).hash, created);
}

bool IsInadmissible(const State& state, const Wait& wait) {
  const PendingQueue& pending = state.Queue(wait.queue).pending;
  return pending.active_count() == 0 && pending.InadmissibleReason(state.Class(wait.cls).hash) != nullptr;
}

int64_t CountPending(const State& state, NodeId queue) {
  const PendingQueue& pending = state.Queue(queue).pending;
  return int64_t{pending.active_count()} + pending.inadmissible_count();
}

bool IsAlone(State& state, NodeId queue) {
  EnsureBuilt(state);
  const NodeId root = state.forest().Root(queue);
  if (root == kNoId || state.forest().QueuesOfTree(root).size() != 1) return false;
  const Preemption& rules = std::as_const(state).Queue(queue).spec.preemption;
  return rules.within_cluster_queue == PreemptionPolicy::kNever &&
         rules.reclaim_within_cohort == PreemptionPolicy::kNever;
}

void CountCycles(State& state, const Wait& wait, int times) {
  state.scheduling_cycle += times * wait.cycles;
  state.Queue(wait.queue).pending.pop_cycle += times * wait.cycles;
}

void SubmitAndDelete(State& state, const Wait& wait) {
  state.workloads.SkipSerial();
  state.NotifyRetry(wait.queue);
}

}  // namespace kueue
