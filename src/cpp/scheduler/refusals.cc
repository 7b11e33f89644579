// Mirrors pkg/scheduler/scheduler.go:requeueAndUpdate (kueue ff69552e79).
#include "scheduler/refusals.h"

#include "absl/container/inlined_vector.h"
#include "lifecycle/admissibility.h"
#include "lifecycle/conditions.h"
#include "lifecycle/controllers.h"
#include "lifecycle/dispatched.h"
#include "scheduler/nomination.h"
#include "state/rebuild.h"
#include "state/variants.h"

namespace kueue {
namespace {

struct RefusedHead {
  WorkloadId workload;
  NodeId queue;
};
using RefusedHeads = absl::InlinedVector<RefusedHead, 8>;

// Returns whether the queue takes part in the cycle.
bool TakesPart(const State& state, NodeId node) {
  const IdVector<NodeId, bool>& held_back = state.followed.held_back;
  return state.Queue(node).inactivity.IsActive() && (held_back.empty() || !held_back[node]);
}

const KnownRefusal* RefusalOf(const State& state, WorkloadId id, NodeId queue) {
  const Workload& workload = state.At(id);
  const bool is_told_by_class = !IsVariant(state, workload) && workload.progress == nullptr &&
                                workload.admission == nullptr &&
                                (workload.spec->replaces.empty() || ReplacedSlice(state, id, queue) == kNoId);
  if (!is_told_by_class || !workload.Status().checks.empty() || !state.forest().IsActive(queue))
    return nullptr;
  const KnownRefusal* const known = state.caches.refusals.Find(state.quota, queue, workload.cls);
  return known != nullptr && ValidateAdmissibility(state, workload, queue).IsNone() ? known : nullptr;
}

bool AreAllRefused(State& state) {
  bool all = true;
  state.caches.heads.Take(state.forest().Queues(), [&](NodeId node) {
    if (!all || !TakesPart(state, node)) return true;
    const PendingQueue& pending = std::as_const(state).Queue(node).pending;
    if (!pending.HasActive()) return true;
    const WorkloadId head = pending.by_usage || pending.sticky ? kNoId : pending.FirstActive();
    all = head != kNoId && RefusalOf(state, head, node) != nullptr;
    return true;
  });
  return all;
}

}  // namespace

bool RefuseHeads(State& state, CycleResult& result) {
  const std::optional<WaitForPodsReady>& ready = state.config.wait_for_pods_ready;
  if (!state.second_passes.empty() || (ready && ready->block_admission)) return false;
  EnsureBuilt(state);
  EnsureTopologies(state);
  if (!AreAllRefused(state)) return false;
  RefusedHeads heads;
  state.caches.heads.Take(state.forest().Queues(), [&](NodeId node) {
    if (!TakesPart(state, node)) return true;
    PendingQueue& pending = state.Queue(node).pending;
    const WorkloadId head = pending.Pop(state.pending_tables(), [](LocalQueueId) { return false; });
    if (head != kNoId) heads.push_back({head, node});
    return pending.HasActive();
  });
  result.idle = heads.empty();
  if (result.idle) return true;
  result.heads = static_cast<int>(heads.size());
  ++state.scheduling_cycle;
  for (const RefusedHead& head : heads) {
    const KnownRefusal& known =
        *state.caches.refusals.Find(state.quota, head.queue, state.At(head.workload).cls);
    FinishRefused(state, head.workload,
                  {known.has_no_candidates ? RequeueReason::kPreemptionNoCandidates : RequeueReason::kNoFit,
                   known.has_no_candidates ? Reason::kWaitingForQuota : known.no_fit_reason, known.message},
                  result);
  }
  return true;
}

void FinishRefused(State& state, WorkloadId id, const HeadRefusal& refusal, CycleResult& result,
                   State* seen) {
  Workload& workload = state.At(id);
  workload.evaluated = true;
  const bool had_progress = workload.progress != nullptr;
  if (seen != nullptr && IsAdmissible(state, workload) && state.Local(workload.local_queue).IsRunning())
    seen = nullptr;
  const bool is_active = Requeue(state, id, refusal.requeue_reason, refusal.quota_reserved_reason);
  result.made_inadmissible = result.made_inadmissible || !is_active;
  result.scanning = result.scanning || (is_active && had_progress);
  const Reason reason = state.config.gates.unadmitted_workloads_observability ? refusal.quota_reserved_reason
                                                                              : Reason::kPending;
  // Kueue writes nothing if the workload was already blocked by its gates, whatever else has changed.
  if (refusal.is_gated && !BlockOnPreemptionGates(state, id)) return;
  if (seen != nullptr && !UnsetQuotaReservation(*seen, id, reason, refusal.message)) return;
  if (!UnsetQuotaReservation(state, id, reason, refusal.message)) return;
  result.moved = true;
  AfterWrite(state, id);
}

}  // namespace kueue
