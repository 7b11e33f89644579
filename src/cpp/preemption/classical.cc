// Preemption without fair sharing: within the queue, reclaim along the tree, borrowing while preempting.
// Mirrors pkg/scheduler/preemption/preemption.go:classicalPreemptions and pkg/scheduler/preemption/classical
// (kueue ff69552e79).
#include <algorithm>

#include "preemption/fit.h"
#include "preemption/preemption.h"

namespace kueue {
namespace {

// Candidates of other queues under a hierarchical advantage, those without, and the queue's own; evicted ones first.
enum List { kHierarchical, kPriority, kSame };

class ClassicalSearch {
 public:
  ClassicalSearch(State& state, const PreemptionQuery& query, const std::vector<WorkloadId>& gone,
                  CandidateScratch& scratch)
      : state_(state),
        query_(query),
        queue_(state.Queue(query.queue)),
        preemptor_(state.At(query.preemptor)),
        gone_(gone),
        order_(state, query.queue),
        lists_(scratch.lists) {}

  std::vector<Target> Run() {
    for (int i = 0; i < 6; ++i) lists_[i].Clear();
    CollectOwn();
    CollectOthers();
    if (state_.config.admission_fair_sharing) {
      for (int i = 0; i < 6; ++i) lists_[i].SortAll(state_, order_);
    }
    for (bool borrow : Attempts()) {
      std::vector<Target> targets = Attempt(borrow);
      if (!targets.empty()) return targets;
    }
    return {};
  }

 private:
  CandidateList& Lists(List list, bool evicted) { return lists_[(evicted ? 0 : 3) + list]; }
  bool HasAny(List list) { return !Lists(list, true).empty() || !Lists(list, false).empty(); }

  // Whether the node uses more than its own quota of a contested cell.
  bool Exceeds(NodeId node) const {
    return std::any_of(query_.contested.begin(), query_.contested.end(),
                       [&](CellId cell) { return state_.quota.IsBorrowing(node, cell); });
  }

  void Push(WorkloadId id, Variant variant, NodeId ancestor, List list) {
    const Candidate candidate = MakeCandidate(state_, id, variant, ancestor);
    Lists(list, candidate.evicted).Push(candidate);
  }

  bool IsCandidate(WorkloadId id, PreemptionPolicy policy) const {
    const Workload& workload = state_.At(id);
    return UsesAny(workload, query_.contested) && SatisfiesPolicy(preemptor_, workload, policy) &&
           std::find(gone_.begin(), gone_.end(), id) == gone_.end();
  }

  void CollectOwn() {
    const PreemptionPolicy policy = queue_.spec.preemption.within_cluster_queue;
    if (policy == PreemptionPolicy::kNever) return;
    for (WorkloadId id : queue_.workloads) {
      if (IsCandidate(id, policy)) Push(id, Variant::kWithinQueue, kNoId, kSame);
    }
  }

  void CollectOthers() {
    const Forest& forest = state_.forest();
    if (queue_.spec.preemption.reclaim_within_cohort == PreemptionPolicy::kNever) return;
    Amounts remaining = query_.request;
    bool advantage = FitsInQuota(query_.queue, remaining);
    NodeId previous = kNoId;
    for (NodeId node = forest.Parent(query_.queue); node != kNoId; node = forest.Parent(node)) {
      CollectSubtree(node, previous, node, advantage);
      const bool fits = FitsInQuota(node, remaining);
      advantage = advantage || fits;
      previous = node;
    }
  }

  // Whether all of `request` fits into the node's own quota; leaves what is to be asked of its parent.
  bool FitsInQuota(NodeId node, Amounts& request) const {
    bool fits = true;
    for (CellAmount& entry : request) {
      if (state_.quota.IsBorrowingWith(node, entry.cell, entry.amount)) fits = false;
      entry.amount = Max(Amount(0), entry.amount - state_.quota.LocalAvailable(node, entry.cell));
    }
    return fits;
  }

  void CollectSubtree(NodeId node, NodeId skip, NodeId ancestor, bool advantage) {
    const Forest& forest = state_.forest();
    for (NodeId child : forest.ChildCohorts(node)) {
      if (child != skip && Exceeds(child)) CollectSubtree(child, skip, ancestor, advantage);
    }
    for (NodeId child : forest.ChildQueues(node)) {
      if (child == query_.queue || !forest.IsActive(child) || !Exceeds(child)) continue;
      for (WorkloadId id : state_.Queue(child).workloads) {
        if (!IsCandidate(id, queue_.spec.preemption.reclaim_within_cohort)) continue;
        const Variant variant = advantage ? Variant::kHierarchical : VariantOf(state_.At(id));
        Push(id, variant, ancestor, advantage ? kHierarchical : kPriority);
      }
    }
  }

  Variant VariantOf(const Workload& candidate) const {
    const Preemption& preemption = queue_.spec.preemption;
    if (!preemption.borrow_within_cohort || candidate.priority >= preemptor_.priority) {
      return Variant::kWithoutBorrowing;
    }
    const bool above = preemption.max_priority_threshold && candidate.priority > *preemption.max_priority_threshold;
    return above ? Variant::kWithoutBorrowing : Variant::kWhileBorrowing;
  }

  bool IsUnderNominal() const {
    return std::all_of(query_.contested.begin(), query_.contested.end(), [&](CellId cell) {
      return state_.quota.Nominal(query_.queue, cell) > state_.quota.Usage(query_.queue, cell);
    });
  }

  std::vector<bool> Attempts() {
    const bool forbidden = !queue_.spec.preemption.borrow_within_cohort;
    const bool no_others = !HasAny(kHierarchical) && !HasAny(kPriority);
    if (no_others || (forbidden && !IsUnderNominal())) return {true};
    if (forbidden && !HasAny(kHierarchical)) return {false, true};
    return {true, false};
  }

  // Whether taking the candidate still gives back what was borrowed.
  bool IsValid(const Candidate& candidate, bool borrow) const {
    const NodeId queue = state_.At(candidate.workload).charged;
    if (queue == query_.queue) return true;
    if (borrow && candidate.variant == Variant::kWithoutBorrowing) return false;
    if (!Exceeds(queue)) return false;
    for (NodeId node = state_.forest().Parent(queue); node != candidate.common_ancestor;
         node = state_.forest().Parent(node)) {
      if (!Exceeds(node)) return false;
    }
    return true;
  }

  std::vector<Target> Attempt(bool borrow) {
    const Trial trial(state_.quota);
    std::vector<Target> targets;
    for (bool evicted : {true, false}) {
      for (List list : {kHierarchical, kPriority, kSame}) {
        CandidateList& candidates = Lists(list, evicted);
        for (size_t i = 0; i < candidates.size(); ++i) {
          const Candidate candidate = candidates.At(i, order_);
          if (!IsValid(candidate, borrow)) continue;
          Discharge(state_, candidate.workload);
          targets.push_back({candidate.workload, ReasonFor(candidate.variant)});
          if (!Fits(state_, query_, borrow)) continue;
          FillBack(state_, query_, borrow, targets);
          return targets;
        }
      }
    }
    return {};
  }

  static PreemptionReason ReasonFor(Variant variant) {
    switch (variant) {
      case Variant::kWithinQueue:
        return PreemptionReason::kInClusterQueue;
      case Variant::kWhileBorrowing:
        return PreemptionReason::kInCohortReclaimWhileBorrowing;
      default:
        return PreemptionReason::kInCohortReclamation;
    }
  }

  State& state_;
  const PreemptionQuery& query_;
  const ClusterQueue& queue_;
  const Workload& preemptor_;
  const std::vector<WorkloadId>& gone_;
  const CandidateOrder order_;
  CandidateList* lists_;
};

}  // namespace

std::vector<Target> Preemptor::Classical(const PreemptionQuery& query) {
  return ClassicalSearch(state_, query, gone_, scratch_).Run();
}

}  // namespace kueue
