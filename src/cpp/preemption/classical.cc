// Preemption without fair sharing: within the queue, reclaim along the tree, borrowing while preempting.
// Mirrors pkg/scheduler/preemption/preemption.go:classicalPreemptions and pkg/scheduler/preemption/classical
// (kueue ff69552e79).
#include <algorithm>

#include "preemption/fit.h"
#include "preemption/preemption.h"

namespace kueue {
namespace {

// Candidates of other queues under a hierarchical advantage, those without, and the queue's own; evicted ones
// first.
enum List { kHierarchical, kPriority, kSame };

class ClassicalSearch {
 public:
  ClassicalSearch(State& state, const PreemptionQuery& query,
                  const std::vector<WorkloadId>& already_preempted, CandidateScratch& scratch)
      : state_(state),
        query_(query),
        queue_(state.Queue(query.queue)),
        preemptor_(state.At(query.preemptor)),
        already_preempted_(already_preempted),
        order_(state, query.queue),
        tree_order_(state, kNoId),
        scratch_(scratch),
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
  bool HasAny(List list) {
    if (tree_ == nullptr || list != tree_list_)
      return !Lists(list, true).empty() || !Lists(list, false).empty();
    for (NodeId queue : tree_->exceeding) {
      if (queue == query_.queue) continue;
      for (WorkloadId id : state_.Queue(queue).workloads) {
        if (IsCandidate(id, queue_.spec.preemption.reclaim_within_cohort)) return true;
      }
    }
    return false;
  }

  // Whether the node uses more than its own quota of a contested flavor resource.
  bool Exceeds(NodeId node) const {
    return std::any_of(query_.contested.begin(), query_.contested.end(),
                       [&](FlavorResourceId fr) { return state_.quota.IsBorrowing(node, fr); });
  }

  void Push(WorkloadId id, Variant variant, NodeId ancestor, List list) {
    const Candidate candidate = MakeCandidate(state_, id, variant, ancestor);
    Lists(list, candidate.evicted).Push(candidate);
  }

  bool IsCandidate(WorkloadId id, PreemptionPolicy policy) const {
    const Workload& workload = state_.At(id);
    return UsesAny(workload, query_.contested) && SatisfiesPolicy(preemptor_, workload, policy) &&
           std::find(already_preempted_.begin(), already_preempted_.end(), id) == already_preempted_.end();
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
    bool advantage = FitsInQuota(state_.quota, query_.queue, remaining);
    const NodeId parent = forest.Parent(query_.queue);
    if (parent == kNoId) return;
    if (forest.Parent(parent) == kNoId && !state_.config.admission_fair_sharing) {
      // All others meet the queue at the root: one list serves every preemptor of the tree.
      tree_ = &Tree(parent);
      if (tree_->epoch != scratch_.epoch) FindExceeding(*tree_);
      tree_list_ = advantage ? kHierarchical : kPriority;
      return;
    }
    NodeId previous = kNoId;
    for (NodeId node = forest.Parent(query_.queue); node != kNoId; node = forest.Parent(node)) {
      CollectSubtree(node, previous, node, advantage);
      const bool fits = FitsInQuota(state_.quota, node, remaining);
      advantage = advantage || fits;
      previous = node;
    }
  }

  TreeCandidates& Tree(NodeId root) {
    for (TreeCandidates& tree : scratch_.trees) {
      if (tree.root == root && tree.contested == query_.contested) return tree;
    }
    scratch_.trees.emplace_back();
    TreeCandidates& tree = scratch_.trees.back();
    tree.root = root;
    tree.contested = query_.contested;
    for (NodeId queue : state_.forest().QueuesOfTree(root)) {
      if (!state_.forest().IsActive(queue)) continue;
      for (WorkloadId id : state_.Queue(queue).workloads) {
        if (UsesAny(state_.At(id), query_.contested)) {
          tree.list.Push(MakeCandidate(state_, id, Variant::kHierarchical, root));
        }
      }
    }
    return tree;
  }

  void FindExceeding(TreeCandidates& tree) const {
    tree.epoch = scratch_.epoch;
    tree.exceeding.clear();
    tree.exceeds.assign(static_cast<size_t>(state_.forest().size()), false);
    for (NodeId queue : state_.forest().QueuesOfTree(tree.root)) {
      if (!state_.forest().IsActive(queue) || !ExceedsUpTo(queue, tree.root)) continue;
      tree.exceeding.push_back(queue);
      tree.exceeds[static_cast<size_t>(queue)] = true;
    }
  }

  // Whether an entry of the tree's list may be taken from another queue by this preemptor.
  bool IsOther(const Candidate& candidate) const {
    const Workload& workload = state_.At(candidate.workload);
    return workload.charged != query_.queue &&
           SatisfiesPolicy(preemptor_, workload, queue_.spec.preemption.reclaim_within_cohort) &&
           std::find(already_preempted_.begin(), already_preempted_.end(), candidate.workload) ==
               already_preempted_.end();
  }

  // Whether the queue, and every Cohort between it and `ancestor`, uses more than its own.
  bool ExceedsUpTo(NodeId queue, NodeId ancestor) const {
    for (NodeId node = queue; node != ancestor; node = state_.forest().Parent(node)) {
      if (!Exceeds(node)) return false;
    }
    return true;
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
    return kueue::VariantOf(queue_.spec.preemption, preemptor_, candidate);
  }

  bool IsUnderNominal() const {
    return std::all_of(query_.contested.begin(), query_.contested.end(), [&](FlavorResourceId fr) {
      return state_.quota.Nominal(query_.queue, fr) > state_.quota.Usage(query_.queue, fr);
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
    return ExceedsUpTo(queue, candidate.common_ancestor);
  }

  std::vector<Target> Attempt(bool borrow) {
    const Trial trial(state_);
    std::vector<Target> targets;
    for (bool evicted : {true, false}) {
      for (List list : {kHierarchical, kPriority, kSame}) {
        const bool found = tree_ != nullptr && list == tree_list_
                               ? TakeFromTree(evicted, borrow, targets)
                               : TakeFrom(Lists(list, evicted), borrow, targets);
        if (found) return targets;
      }
    }
    return {};
  }

  bool TakeFrom(CandidateList& candidates, bool borrow, std::vector<Target>& targets) {
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (Take(candidates.At(i, order_), borrow, targets)) return true;
    }
    return false;
  }

  bool TakeFromTree(bool evicted, bool borrow, std::vector<Target>& targets) {
    const bool only_own = tree_->exceeding.size() == 1 && tree_->exceeding.front() == query_.queue;
    if (tree_->exceeding.empty() || only_own) return false;
    for (size_t i = 0; i < tree_->list.size(); ++i) {
      const Candidate& listed = tree_->list.At(i, tree_order_);
      if (evicted && !listed.evicted) return false;  // evicted ones come first
      const NodeId queue = state_.At(listed.workload).charged;
      if (listed.evicted != evicted || !tree_->exceeds[static_cast<size_t>(queue)] || !IsOther(listed))
        continue;
      Candidate candidate = listed;
      if (tree_list_ == kPriority) candidate.variant = VariantOf(state_.At(candidate.workload));
      if (Take(candidate, borrow, targets)) return true;
    }
    return false;
  }

  // Removes the candidate if that is allowed; returns whether the request fits then, with the targets made
  // minimal.
  bool Take(const Candidate& candidate, bool borrow, std::vector<Target>& targets) {
    if (!IsValid(candidate, borrow)) return false;
    Discharge(state_, query_, candidate.workload);
    targets.push_back({candidate.workload, ReasonFor(candidate.variant)});
    if (!Fits(state_, query_, borrow)) return false;
    FillBack(state_, query_, borrow, targets);
    return true;
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
  const std::vector<WorkloadId>& already_preempted_;
  const CandidateOrder order_, tree_order_;
  CandidateScratch& scratch_;
  CandidateList* lists_;
  TreeCandidates* tree_ = nullptr;  // stands for the list `tree_list_` where it is set
  List tree_list_ = kPriority;
};

}  // namespace

bool FitsInQuota(const Quota& quota, NodeId node, Amounts& request) {
  bool fits = true;
  for (FlavorResourceAmount& entry : request) {
    if (quota.IsBorrowingWith(node, entry.fr, entry.amount)) fits = false;
    entry.amount = Max(Amount(0), entry.amount - quota.LocalAvailable(node, entry.fr));
  }
  return fits;
}

Variant VariantOf(const Preemption& rules, const Workload& preemptor, const Workload& candidate) {
  if (!rules.borrow_within_cohort || candidate.priority >= preemptor.priority) {
    return Variant::kWithoutBorrowing;
  }
  const bool above = rules.max_priority_threshold && candidate.priority > *rules.max_priority_threshold;
  return above ? Variant::kWithoutBorrowing : Variant::kWhileBorrowing;
}

std::vector<Target> Preemptor::Classical(const PreemptionQuery& query) {
  return ClassicalSearch(state_, query, already_preempted_, scratch_).Run();
}

}  // namespace kueue
