#include "questions/drain.h"

#include <algorithm>

#include "model/poll.h"
#include "preemption/candidates.h"
#include "preemption/fit.h"
#include "state/rebuild.h"

namespace kueue {
namespace {

// A queue that uses more of a flavor resource than it may.
struct Excess {
  NodeId queue = kNoId;
  FlavorResourceId fr = kNoId;
};

Excess FindExcess(const State& state) {
  const Quota& quota = state.quota;
  for (NodeId queue : state.forest().Queues()) {
    if (!state.forest().IsDeclared(queue) || HasCycle(state.forest(), queue)) continue;
    for (FlavorResourceId fr : quota.FlavorResources()) {
      if (quota.Usage(queue, fr) > Amount(0) && quota.RawAvailable(queue, fr) < Amount(0)) return {queue, fr};
    }
  }
  return {};
}

// Returns the queues of the tree that borrow the flavor resource, or the queue itself if none does.
std::vector<NodeId> Debtors(const State& state, const Excess& excess) {
  std::vector<NodeId> debtors;
  if (state.quota.IsBorrowing(excess.queue, excess.fr)) return {excess.queue};
  for (NodeId queue : state.forest().QueuesOfTree(state.forest().Root(excess.queue))) {
    if (state.quota.IsBorrowing(queue, excess.fr)) debtors.push_back(queue);
  }
  if (debtors.empty()) debtors.push_back(excess.queue);
  return debtors;
}

WorkloadId Next(const State& state, const Excess& excess, const std::vector<WorkloadId>& leaving) {
  const CandidateOrder before(state, kNoId);
  std::vector<Candidate> candidates;
  for (NodeId queue : Debtors(state, excess)) {
    for (WorkloadId id : state.Queue(queue).workloads) {
      Poll();
      if (!UsesAny(state.At(id), {excess.fr}) ||
          std::find(leaving.begin(), leaving.end(), id) != leaving.end())
        continue;
      candidates.push_back(MakeCandidate(state, id, Variant::kWithinQueue, kNoId));
    }
  }
  const auto first = std::min_element(candidates.begin(), candidates.end(), before);
  return first == candidates.end() ? kNoId : first->workload;
}

// Removes workloads that need not be evicted, from the last to the first. Returns the remaining workloads in
// order.
std::vector<WorkloadId> WithoutSpared(State& state, const std::vector<WorkloadId>& leaving) {
  std::vector<WorkloadId> needed;
  for (size_t i = leaving.size(); i-- > 0;) {
    Charge(state, leaving[i]);
    if (FindExcess(state).queue == kNoId) continue;
    Discharge(state, leaving[i]);
    needed.push_back(leaving[i]);
  }
  std::reverse(needed.begin(), needed.end());
  return needed;
}

}  // namespace

std::vector<WorkloadId> MustLeave(State& state) {
  EnsureBuilt(state);
  const Trial trial(state, kNoId);
  std::vector<WorkloadId> leaving;
  for (Excess excess = FindExcess(state); excess.queue != kNoId; excess = FindExcess(state)) {
    const WorkloadId next = Next(state, excess, leaving);
    if (next == kNoId) break;
    Discharge(state, next);
    leaving.push_back(next);
  }
  return WithoutSpared(state, leaving);
}

}  // namespace kueue
