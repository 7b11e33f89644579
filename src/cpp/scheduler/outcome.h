// Effects of a scheduling cycle: preemptions, admissions, and the conditions of all other heads. Mirrors
// pkg/scheduler/{scheduler,preemption/preemption}.go (kueue ff69552e79).
#ifndef KUEUE_SCHEDULER_OUTCOME_H_
#define KUEUE_SCHEDULER_OUTCOME_H_

#include <utility>
#include <vector>

#include "scheduler/entry.h"
#include "scheduler/nomination.h"
#include "state/state.h"

namespace kueue {

class Outcome {
 public:
  // Decisions are computed from `state` and written to `live`, which differs from `state` only in a resumed
  // cycle.
  Outcome(State& state, State& live, Nomination& nomination)
      : state_(state), live_(live), nomination_(nomination) {}

  CycleResult& result() { return result_; }
  // Notes a workload that is admitted in its second pass.
  void NoteAssignedAgain(WorkloadId workload) { assigned_again_.push_back(workload); }
  // Preempts the targets of the entry, which waits for them.
  void IssuePreemptions(Entry& entry);
  // Evicts a variant in a less preferred flavor, so that the entry can take its place.
  void IssueMigration(Entry& entry, WorkloadId sibling);
  // Evicts the workload of an entry because a node failed.
  void EvictForNode(Entry& entry);
  // Writes the admissions of the entries, and the evictions that follow them.
  void Apply(const std::vector<Entry*>& admitted);
  // Requeues the heads without a reservation. `second_passes` are the second passes of the cycle.
  void Requeue(std::vector<Entry>& entries, const std::vector<SecondPass>& second_passes);

 private:
  bool IsResumed() const { return &live_ != &state_; }
  void Preempt(State& state, const Entry& entry, const Target& target);
  bool IsAssignedAgain(WorkloadId workload) const;
  bool IsWritten(WorkloadId workload) const;
  bool HoldsTopologyUsage(const Entry& entry) const;
  void Admit(Entry& entry);
  void FinishReplaced(const Entry& entry);
  void FinishEntry(Entry& entry, const std::vector<SecondPass>& second_passes);

  State& state_;
  State& live_;
  Nomination& nomination_;
  // Workloads admitted in a second pass. Kueue writes admissions asynchronously but evictions synchronously.
  // The first `written_` of these admissions had been written when the last eviction was written.
  std::vector<WorkloadId> assigned_again_;
  size_t written_ = 0;
  // Evictions of workloads in `assigned_again_`, each with the preempting entry. The evictions are applied
  // after the admissions of the cycle.
  std::vector<std::pair<const Entry*, Target>> late_;
  CycleResult result_;
};

// Returns the message of an entry whose preemption targets have not stopped yet. `failed` of them could not
// be preempted.
Message PendingPreemptions(const Entry& entry, ClassId cls, int failed);

}  // namespace kueue

#endif  // KUEUE_SCHEDULER_OUTCOME_H_
