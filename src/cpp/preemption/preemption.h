// Whom a workload would have to preempt.
// Mirrors pkg/scheduler/preemption (kueue ff69552e79).
#ifndef KUEUE_PREEMPTION_PREEMPTION_H_
#define KUEUE_PREEMPTION_PREEMPTION_H_

#include <functional>
#include <vector>

#include "fairness/share.h"
#include "flavor/assignment.h"
#include "flavor/oracle.h"
#include "flavor/placer.h"
#include "preemption/candidates.h"
#include "state/state.h"

namespace kueue {

struct Target {
  WorkloadId workload;
  PreemptionReason reason;
};

// A question: who must leave so that `request` fits into `queue`, where the flavor resources of `contested`
// are short?
struct PreemptionQuery {
  NodeId queue;
  WorkloadId preemptor;
  std::vector<FlavorResourceId> contested;
  Amounts request;
  // What must have a place, too; null: nothing.
  const TopologyDemands* topology = nullptr;
  Placer* placer = nullptr;
  WorkloadId replaced = kNoId;
};

// One comparison of shares by a rule of fair sharing: whether the candidate's queue may lose it.
struct FairComparison {
  WorkloadId candidate;
  FairSharingStrategy strategy;
  NodeId ours, theirs;  // the nodes compared, right below the lowest common ancestor
  Share our_share;      // with the request
  Share their_share;    // before the candidate leaves
  Share final_share;    // after it left; compared by LessThanOrEqualToFinalShare
  bool holds;
};

// What a search saw, for explanations.
struct SearchTrace {
  std::vector<FairComparison> comparisons;  // with fair sharing
  // Without: the candidates of other queues, those that it may take, and those that it may not, because with
  // them gone the preemptor would have to borrow.
  std::vector<WorkloadId> allowed, needing_to_borrow;
};

// Searches for targets on the usage tables of `state`, and leaves them as it found them.
class Preemptor : public PreemptionOracle {
 public:
  explicit Preemptor(State& state) : state_(state), placer_(state) {}

  // The targets for an assignment whose mode is Preempt, in Kueue's order; none where preemption cannot help.
  std::vector<Target> Targets(NodeId queue, WorkloadId workload, const Assignment& assignment,
                              WorkloadId replaced);
  std::vector<Target> Search(const PreemptionQuery& query);
  bool MayPreempt(NodeId queue) const override;
  GranularMode SimulatePreemption(NodeId queue, WorkloadId workload, FlavorResourceId fr,
                                  Amount amount) override;

  // Workloads that are no candidates while a recomputation assumes that they have left.
  void SetAlreadyPreempted(std::vector<WorkloadId> already_preempted) {
    already_preempted_ = std::move(already_preempted);
    Forget();
  }
  Placer& placer() { return placer_; }
  // Where every search writes down what it saw; nullptr: nowhere.
  void SetTrace(SearchTrace* trace) { trace_ = trace; }
  // A new cycle: what was collected of the trees' workloads no longer holds.
  void BeginCycle() {
    placer_.BeginCycle();
    scratch_.trees.clear();
    Forget();
  }
  // A search on unchanged usage gives the same targets; whoever changes usage must call this.
  void Forget() {
    remembered_ = false;
    ++scratch_.epoch;
  }

 private:
  std::vector<Target> Classical(const PreemptionQuery& query);
  std::vector<Target> Fair(const PreemptionQuery& query);

  State& state_;
  Placer placer_;
  std::vector<WorkloadId> already_preempted_;
  CandidateScratch scratch_;
  SearchTrace* trace_ = nullptr;
  bool remembered_ = false;
  PreemptionQuery last_query_;
  std::vector<Target> last_targets_;
};

// Whether the queue can always get its nominal quota back (pkg/scheduler/preemption/policy.go).
inline bool CanAlwaysReclaim(const ClusterQueue& queue) {
  return queue.spec.preemption.reclaim_within_cohort == PreemptionPolicy::kAny;
}

}  // namespace kueue

#endif  // KUEUE_PREEMPTION_PREEMPTION_H_
