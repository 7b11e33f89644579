// The heads of a scheduling cycle, and the result of a cycle. Mirrors pkg/scheduler/scheduler.go (kueue
// ff69552e79).
#ifndef KUEUE_SCHEDULER_ENTRY_H_
#define KUEUE_SCHEDULER_ENTRY_H_

#include <memory>
#include <vector>

#include "flavor/assignment.h"
#include "lifecycle/admissibility.h"
#include "lifecycle/queueing.h"
#include "preemption/query.h"
#include "state/state.h"

namespace kueue {

enum class EntryStatus : uint8_t { kNotNominated, kSkipped, kGated, kNominated, kAssumed, kEvicted };

// A head processed by the cycle.
struct Entry {
  WorkloadId workload = kNoId;
  NodeId queue = kNoId;
  bool is_preemptor = false;
  // Iteration of the workload's second pass; 0 if the entry is not a second pass.
  int second_pass = 0;
  // Whether the entry has an assignment. If the entry has no assignment, `inadmissibility` contains the
  // reason.
  bool nominated = false;
  Inadmissibility::Kind inadmissibility = Inadmissibility::Kind::kNone;
  // Whether this call of Run() decided the entry, rather than an earlier call before the cycle was blocked.
  bool decided = false;
  Assignment assignment;
  std::shared_ptr<const Admission> admission;  // Null: made from the assignment.
  std::vector<Target> targets;
  WorkloadId replaced = kNoId;  // Elastic slice that the workload replaces, or kNoId.
  EntryStatus status = EntryStatus::kNotNominated;
  RequeueReason requeue_reason = RequeueReason::kGeneric;
  Reason quota_reserved_reason = Reason::kEmpty;
  Message message;
};

struct CycleResult {
  bool idle = false;  // True if no active queue had a head or the current cycle is still blocked.
  int admitted = 0;   // Number of workloads that received a quota reservation.
  int evicted = 0;    // Number of newly evicted workloads.
  int heads = 0;
  bool made_inadmissible = false;  // Whether a head became inadmissible, so that its queue has a new head.
  bool scanning = false;           // Whether a head continues its flavor scan in the next cycle.
  bool moved = false;              // Whether something else changed, such as a condition or scan progress.
  std::vector<WorkloadId> admitted_workloads, evicted_workloads;
};

}  // namespace kueue

#endif  // KUEUE_SCHEDULER_ENTRY_H_
