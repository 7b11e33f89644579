// Search for the workloads to preempt. Mirrors pkg/scheduler/preemption (kueue ff69552e79).
#ifndef KUEUE_PREEMPTION_PREEMPTION_H_
#define KUEUE_PREEMPTION_PREEMPTION_H_

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "flavor/assignment.h"
#include "flavor/oracle.h"
#include "flavor/placer.h"
#include "preemption/candidates.h"
#include "preemption/query.h"
#include "state/state.h"

namespace kueue {

// Searches for targets by changing the usage tables of `state` temporarily; the tables are restored before
// each call returns. `state` must outlive the Preemptor.
class Preemptor : public PreemptionOracle {
 public:
  explicit Preemptor(State& state) : state_(state), placer_(state) {}

  // Returns the targets for an assignment with mode Preempt, in Kueue's order; empty if preemption cannot
  // help.
  std::vector<Target> Targets(NodeId queue, WorkloadId workload, const Assignment& assignment,
                              WorkloadId replaced);
  std::vector<Target> Search(const PreemptionQuery& query);
  bool MayPreempt(NodeId queue) const override;
  GranularMode SimulatePreemption(NodeId queue, WorkloadId workload, FlavorResourceId fr,
                                  Amount amount) override;

  // Excludes the given workloads from the preemption candidates until the next call; null excludes none. Set
  // the exclusion while a recomputation treats the workloads as already preempted.
  void SetAlreadyPreempted(const absl::flat_hash_set<WorkloadId>* already_preempted) {
    already_preempted_ = already_preempted;
    Forget();
  }
  Placer& placer() { return placer_; }
  // Sets the trace in which searches record their steps; nullptr disables tracing. The trace must outlive the
  // searches.
  void SetTrace(SearchTrace* trace) { trace_ = trace; }
  // Starts a new cycle and drops the collected candidates.
  void BeginCycle() {
    placer_.BeginCycle();
    scratch_.trees.clear();
    Forget();
  }
  // Fills the lists of candidates that searches of this cycle share. Call this function before the cycle
  // evicts a workload.
  void KeepCandidates() {
    for (TreeCandidates& tree : scratch_.trees) tree.Fill(state_);
  }
  // Drops the cached result of the last search. Call this function after usage has changed; otherwise a
  // repeated search would return outdated targets.
  void Forget() {
    remembered_ = false;
    ++scratch_.epoch;
  }

 private:
  // Returns whether it is certain, without a search, that there are no targets.
  bool HasNoTargets(const PreemptionQuery& query) const;

  State& state_;
  Placer placer_;
  const absl::flat_hash_set<WorkloadId>* already_preempted_ = nullptr;
  CandidateScratch scratch_;
  SearchTrace* trace_ = nullptr;
  bool remembered_ = false;
  PreemptionQuery last_query_;
  std::vector<Target> last_targets_;
};

// Returns whether the queue can always reclaim its nominal quota (pkg/scheduler/preemption/policy.go).
inline bool CanAlwaysReclaim(const ClusterQueue& queue) {
  return queue.spec.preemption.reclaim_within_cohort == PreemptionPolicy::kAny;
}

}  // namespace kueue

#endif  // KUEUE_PREEMPTION_PREEMPTION_H_
