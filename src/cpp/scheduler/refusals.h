// Cycles in which every head is refused for the same reason as before.
#ifndef KUEUE_SCHEDULER_REFUSALS_H_
#define KUEUE_SCHEDULER_REFUSALS_H_

#include "scheduler/entry.h"

namespace kueue {

// Runs a cycle if the refusal of each head is known (state/refusals.h). The result is the same as that of
// Cycle::Run(). If a head may be admitted or may preempt, changes nothing and returns false.
bool RefuseHeads(State& state, CycleResult& result);

// The reason why a cycle does not reserve quota for a head.
struct HeadRefusal {
  RequeueReason requeue_reason;
  Reason quota_reserved_reason;
  const Message& message;
  bool is_gated = false;  // The workload may not preempt, because a preemption gate is closed.
};
// Requeues a head without a reservation, and writes the reason why the workload is pending. `seen` is the
// state at the start of a cycle that was blocked. If the workload can no longer be requeued, Kueue does not
// read it again (RequeueWorkload), and writes nothing if it had the same reason then.
void FinishRefused(State& state, WorkloadId id, const HeadRefusal& refusal, CycleResult& result,
                   State* seen = nullptr);

}  // namespace kueue

#endif  // KUEUE_SCHEDULER_REFUSALS_H_
