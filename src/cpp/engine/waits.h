// Prediction of the wait of a workload, so that a caller need not submit a workload that would only wait.
#ifndef KUEUE_ENGINE_WAITS_H_
#define KUEUE_ENGINE_WAITS_H_

#include <cstdint>
#include <optional>

#include "state/state.h"

namespace kueue {

// What happens to a new workload that is not admitted: `cycles` cycles (0 or 1) refuse it, and it becomes
// inadmissible.
struct Wait {
  NodeId queue = kNoId;
  ClassId cls = kNoId;
  int cycles = 0;
};

// Returns whether it is certain that the controllers would change nothing.
bool IsSettled(State& state);
// Returns whether it is certain, without examining all queues, that a cycle would have no heads.
bool HasNoHead(const State& state);

// Returns what would happen to a workload with this spec if it were submitted now. Returns nullopt unless it
// is certain that the workload would only wait, and that nothing else would change until another call.
std::optional<Wait> FindWait(State& state, const WorkloadSpec& spec);
// Performs the scheduled retry of the queue's tree if no other retry is scheduled. Returns the same as
// FindWait(), but for a workload of the class that is the only head of the next cycle.
std::optional<Wait> RetryAndFindWait(State& state, const Wait& before);
// Returns whether all workloads that are pending in the queue precede a new workload of the class that was
// created at the given time, because they are of this class and older.
bool HasOnlyBefore(const State& state, const Wait& wait, Time created);
// Returns whether workloads of the class are inadmissible in the queue, and no workload of it is active.
bool IsInadmissible(const State& state, const Wait& wait);
// Returns the number of workloads that are pending in the queue.
int64_t CountPending(const State& state, NodeId queue);
// Returns whether the queue is the only one in its tree and cannot preempt, so that no cycle evicts its
// workloads.
bool IsAlone(State& state, NodeId queue);

// Has the effect of `times` (1 or -1) times the cycles of a wait on the numbers of cycles.
void CountCycles(State& state, const Wait& wait, int times);
// Has the effect of submitting a workload that waits in this way and of deleting it, apart from the cycles,
// which CountCycles() counts.
void SubmitAndDelete(State& state, const Wait& wait);

}  // namespace kueue

#endif  // KUEUE_ENGINE_WAITS_H_
