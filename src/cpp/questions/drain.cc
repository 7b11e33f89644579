#include "questions/drain.h"

#include <algorithm>

#include "preemption/candidates.h"
#include "preemption/fit.h"

namespace kueue {
namespace {

// A queue and a cell of which it has more than it may have.
struct Excess {
  NodeId queue = kNoId;
  CellId cell = kNoId;
};

Excess FindExcess(const State& state) {
  const Quota& quota = state.quota;
  for (NodeId queue : state.forest().Queues()) {
    if (!state.forest().IsDeclared(queue) || state.forest().HasCycle(queue)) continue;
    for (CellId cell = 0; cell < quota.cells(); ++cell) {
      if (quota.Usage(queue, cell) > Amount(0) && quota.RawAvailable(queue, cell) < Amount(0))
        return {queue, cell};
    }
  }
  return {};
}

// Queues that borrow the cell in the tree of the excess; the queue itself where none does.
std::vector<NodeId> Debtors(const State& state, const Excess& excess) {
  std::vector<NodeId> debtors;
  if (state.quota.IsBorrowing(excess.queue, excess.cell)) return {excess.queue};
  for (NodeId queue : state.forest().QueuesOfTree(state.forest().Root(excess.queue))) {
    if (state.quota.IsBorrowing(queue, excess.cell)) debtors.push_back(queue);
  }
  if (debtors.empty()) debtors.push_back(excess.queue);
  return debtors;
}

WorkloadId Next(const State& state, const Excess& excess, const std::vector<WorkloadId>& gone) {
  const CandidateOrder before(state, kNoId);
  std::vector<Candidate> candidates;
  for (NodeId queue : Debtors(state, excess)) {
    for (WorkloadId id : state.Queue(queue).workloads) {
      if (!UsesAny(state.At(id), {excess.cell}) || std::find(gone.begin(), gone.end(), id) != gone.end())
        continue;
      candidates.push_back(MakeCandidate(state, id, Variant::kWithinQueue, kNoId));
    }
  }
  const auto first = std::min_element(candidates.begin(), candidates.end(), before);
  return first == candidates.end() ? kNoId : first->workload;
}

}  // namespace

std::vector<WorkloadId> MustLeave(State& state) {
  state.EnsureBuilt();
  const Trial trial(state);
  std::vector<WorkloadId> gone;
  for (Excess excess = FindExcess(state); excess.queue != kNoId; excess = FindExcess(state)) {
    const WorkloadId next = Next(state, excess, gone);
    if (next == kNoId) break;
    Discharge(state, next);
    gone.push_back(next);
  }
  std::vector<WorkloadId> needed;
  for (size_t i = gone.size(); i-- > 0;) {  // whoever can be spared stays, the last one first
    Charge(state, gone[i]);
    if (FindExcess(state).queue == kNoId) continue;
    Discharge(state, gone[i]);
    needed.push_back(gone[i]);
  }
  std::reverse(needed.begin(), needed.end());
  return needed;
}

}  // namespace kueue
