#include "preemption/classical.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "preemption/fit.h"

namespace kueue {
namespace {

// Lists of candidates: candidates in other queues over which the preemptor has a hierarchical advantage,
// candidates in all other queues, and candidates in its own queue. Evicted candidates come first in each
// list.
enum List { kHierarchical, kPriority, kSame };

// Returns whether all of `request` fits in the node's own quota. Afterwards, `request` contains the rest,
// which the parent must provide.
bool FitsInQuota(const Quota& quota, NodeId node, Amounts& request) {
  bool fits = true;
  for (FlavorResourceAmount& entry : request) {
    if (quota.IsBorrowingWith(node, entry.fr, entry.amount)) fits = false;
    entry.amount = Max(Amount(0), entry.amount - quota.LocalAvailable(node, entry.fr));
  }
  return fits;
}

class ClassicalSearch {
 public:
  ClassicalSearch(State& state, const PreemptionQuery& query,
                  const absl::flat_hash_set<WorkloadId>* already_preempted, CandidateScratch& scratch,
                  SearchTrace* trace)
      : state_(state),
        view_(state),
        query_(query),
        queue_(view_.Queue(query.queue)),
        preemptor_(view_.At(query.preemptor)),
        already_preempted_(already_preempted),
        order_(state, query.queue),
        tree_order_(state, kNoId),
        scratch_(scratch),
        lists_(scratch.lists),
        trace_(trace) {}

  std::vector<Target> Run() {
    for (int i = 0; i < 6; ++i) lists_[i].Clear();
    CollectOwn();
    CollectOthers();
    if (state_.config.admission_fair_sharing) {
      for (int i = 0; i < 6; ++i) lists_[i].SortAll(state_, order_);
    }
    const absl::InlinedVector<bool, 2> attempts = Attempts();
    if (trace_ != nullptr) Note(attempts.front() && attempts.back());
    for (bool borrow : attempts) {
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
    for (const auto& [queue, place] : tree_->exceeding()) {
      if (queue == query_.queue) continue;
      for (WorkloadId id : view_.Queue(queue).workloads) {
        if (IsCandidate(id, queue_.spec.preemption.reclaim_within_cohort)) return true;
      }
    }
    return false;
  }

  bool Exceeds(NodeId node) const { return IsBorrowingAny(state_.quota, node, query_.contested); }

  void Push(WorkloadId id, Variant variant, NodeId ancestor, List list) {
    const Candidate candidate = MakeCandidate(state_, id, variant, ancestor);
    Lists(list, candidate.evicted).Push(candidate);
  }

  bool IsCandidate(WorkloadId id, PreemptionPolicy policy) const {
    const Workload& workload = view_.At(id);
    return UsesAny(workload, query_.contested) && SatisfiesPolicy(preemptor_, workload, policy) &&
           !Contains(already_preempted_, id);
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
      // The lowest common ancestor with all other queues is the root, so one list serves every preemptor of
      // the tree.
      tree_ = &Tree(parent);
      tree_->Update(view_, already_preempted_, scratch_.epoch);
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
      if (tree.Is(root, query_.contested)) return tree;
    }
    return scratch_.trees.emplace_back(root, query_.contested);
  }

  // Returns whether this preemptor may preempt a candidate of the tree. The candidate belongs to another
  // queue.
  bool MayBeTaken(const Candidate& candidate) const {
    return candidate.charged != query_.queue && SatisfiesPolicy(preemptor_, view_.At(candidate.workload),
                                                                queue_.spec.preemption.reclaim_within_cohort);
  }

  bool ExceedsUpTo(NodeId queue, NodeId ancestor) const {
    return AreBorrowingUpTo(state_, queue, ancestor, query_.contested);
  }

  void CollectSubtree(NodeId node, NodeId skip, NodeId ancestor, bool advantage) {
    const Forest& forest = state_.forest();
    for (NodeId child : forest.ChildCohorts(node)) {
      if (child != skip && Exceeds(child)) CollectSubtree(child, skip, ancestor, advantage);
    }
    for (NodeId child : forest.ChildQueues(node)) {
      if (child == query_.queue || !forest.IsActive(child) || !Exceeds(child)) continue;
      for (WorkloadId id : view_.Queue(child).workloads) {
        if (!IsCandidate(id, queue_.spec.preemption.reclaim_within_cohort)) continue;
        const Variant variant = advantage ? Variant::kHierarchical : VariantOf(view_.At(id));
        Push(id, variant, ancestor, advantage ? kHierarchical : kPriority);
      }
    }
  }

  // Returns the variant of a candidate in another queue if the preemptor has no hierarchical advantage.
  Variant VariantOf(const Workload& candidate) const {
    const Preemption& rules = queue_.spec.preemption;
    if (!rules.borrow_within_cohort || candidate.priority >= preemptor_.priority) {
      return Variant::kWithoutBorrowing;
    }
    const bool above = rules.max_priority_threshold && candidate.priority > *rules.max_priority_threshold;
    return above ? Variant::kWithoutBorrowing : Variant::kWhileBorrowing;
  }

  bool IsUnderNominal() const {
    return std::all_of(query_.contested.begin(), query_.contested.end(), [&](FlavorResourceId fr) {
      return state_.quota.limits().nominal(query_.queue, fr) > state_.quota.Usage(query_.queue, fr);
    });
  }

  // Returns the attempts in order: true for an attempt with borrowing, false for an attempt without
  // borrowing.
  absl::InlinedVector<bool, 2> Attempts() {
    const bool forbidden = !queue_.spec.preemption.borrow_within_cohort;
    const bool no_others = !HasAny(kHierarchical) && !HasAny(kPriority);
    if (no_others || (forbidden && !IsUnderNominal())) return {true};
    if (forbidden && !HasAny(kHierarchical)) return {false, true};
    return {true, false};
  }

  // Returns whether preempting the candidate still reclaims borrowed quota.
  bool IsValid(const Candidate& candidate, bool borrow) const {
    const NodeId queue = view_.At(candidate.workload).charged;
    if (queue == query_.queue) return true;
    if (borrow && candidate.variant == Variant::kWithoutBorrowing) return false;
    return ExceedsUpTo(queue, candidate.common_ancestor);
  }

  std::vector<Target> Attempt(bool borrow) {
    const bool needs_own = !borrow && Borrows(state_.quota, query_);
    if (needs_own && !FitsWithinNominal()) return {};
    const bool from_tree = tree_ != nullptr && OffersAny(borrow);
    const bool has_listed =
        std::any_of(lists_, lists_ + 6, [](const CandidateList& list) { return !list.empty(); });
    if (!from_tree && !has_listed) return {};
    const Trial trial(state_, query_.queue);
    if (needs_own && from_tree) {
      if (std::optional<std::vector<Target>> targets = AttemptByQueue()) return *std::move(targets);
    }
    std::vector<Target> targets;
    for (bool evicted : {true, false}) {
      for (List list : {kHierarchical, kPriority, kSame}) {
        const bool is_tree = tree_ != nullptr && list == tree_list_;
        if (is_tree && !from_tree) continue;
        const bool found = is_tree ? TakeFromTree(evicted, borrow, targets)
                                   : TakeFrom(Lists(list, evicted), borrow, targets);
        if (!found) continue;
        FillBack(state_, query_, borrow, targets);
        return targets;
      }
    }
    return {};
  }

  // The usage of the root that is freed if all candidates of the tree are preempted, and the number of these
  // candidates.
  struct AllLost {
    Amounts usage;
    size_t count = 0;
  };

  // Returns nullopt if the loss of a queue also depends on a Cohort below the root, or if a sum or the usage
  // of a node is saturated.
  std::optional<AllLost> AllLosses() {
    const auto is_saturated = [&](NodeId node, const QueueLoss& loss) {
      for (const FlavorResourceAmount& entry : loss.usage) {
        if (entry.amount.IsUnlimited() || state_.quota.Usage(node, entry.fr).IsUnlimited()) return true;
      }
      return false;
    };
    const bool takes_all = queue_.spec.preemption.reclaim_within_cohort == PreemptionPolicy::kAny;
    const NodeId root = state_.forest().Parent(query_.queue);
    AllLost all;
    QueueLoss some;
    for (const TreeCandidates::Exceeding& exceeding : tree_->exceeding()) {
      if (exceeding.queue == query_.queue) continue;
      if (state_.forest().Parent(exceeding.queue) != root) return std::nullopt;
      if (!takes_all) {
        some = tree_->LossOf(view_, exceeding, tree_order_,
                             [this](const Candidate& candidate) { return MayBeTaken(candidate); });
      }
      const QueueLoss& loss = takes_all ? tree_->FullLossOf(view_, exceeding, tree_order_) : some;
      if (is_saturated(exceeding.queue, loss) || is_saturated(root, loss)) return std::nullopt;
      all.count += loss.workloads.size();
      for (const auto& [fr, amount] : loss.usage)
        AddTo(all.usage, fr, state_.quota.PassedOn(exceeding.queue, fr, amount));
    }
    return all;
  }

  // The result of an attempt without borrowing if the queue exceeds its nominal quota whatever other queues
  // lose. TakeFromTree() would then preempt all candidates of the tree, and FillBack() would readmit most of
  // them. The usage of a Cohort depends only on the usage of its queues, so that the sum for each queue
  // determines which candidates of the queue itself are targets. Of the tree, FillBack() keeps no candidate
  // after the first ones that suffice together with these targets. Returns nullopt if this reasoning does not
  // apply.
  std::optional<std::vector<Target>> AttemptByQueue() {
    tree_->Fill(view_);
    if (query_.topology != nullptr || tree_->has_evicted() || !Lists(kSame, true).empty())
      return std::nullopt;
    const std::optional<AllLost> all = AllLosses();
    if (!all) return std::nullopt;
    // The search below reads only the usage of the queue itself and of the root.
    const NodeId root = state_.forest().Parent(query_.queue);
    for (const auto& [fr, amount] : all->usage) state_.quota.Remove(root, fr, amount);
    std::vector<Target> own, targets;
    if (!TakeFrom(Lists(kSame, false), /*borrow=*/false, own)) return targets;
    FillBack(state_, query_, /*borrow=*/false, own);
    for (const auto& [fr, amount] : all->usage) state_.quota.Add(root, fr, amount);
    if (!Fits(state_, query_, /*borrow=*/false)) TakeFromTree(/*evicted=*/false, /*borrow=*/false, targets);
    // FillBack() moves the last target to the position of each candidate that it readmits.
    const size_t moved = (all->count - targets.size()) % own.size();
    std::rotate(own.begin(), own.end() - static_cast<std::ptrdiff_t>(moved), own.end());
    targets.insert(targets.end(), own.begin(), own.end());
    FillBack(state_, query_, /*borrow=*/false, targets);
    return targets;
  }

  // Returns whether any candidate of the tree's list may be preempted. Preempting other workloads never adds
  // candidates.
  bool OffersAny(bool borrow) const {
    const Preemption& rules = queue_.spec.preemption;
    const bool by_priority = borrow && tree_list_ == kPriority;
    if (by_priority && !rules.borrow_within_cohort) return false;
    const auto may_leave = [&](WorkloadId id) {
      return IsCandidate(id, rules.reclaim_within_cohort) &&
             (!by_priority || VariantOf(view_.At(id)) != Variant::kWithoutBorrowing);
    };
    return std::any_of(tree_->exceeding().begin(), tree_->exceeding().end(), [&](const auto& exceeding) {
      const std::vector<WorkloadId>& workloads = view_.Queue(exceeding.queue).workloads;
      return exceeding.queue != query_.queue && std::any_of(workloads.begin(), workloads.end(), may_leave);
    });
  }

  bool TakeFrom(CandidateList& candidates, bool borrow, std::vector<Target>& targets) {
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (Take(candidates.At(i, order_), borrow, targets)) return true;
    }
    return false;
  }

  bool TakeFromTree(bool evicted, bool borrow, std::vector<Target>& targets) {
    tree_->Fill(view_);
    if (evicted && !tree_->has_evicted()) return false;
    for (size_t i = 0; const Candidate* listed = tree_->At(i, tree_order_); ++i) {
      if (evicted && !listed->evicted) return false;  // Evicted candidates come first.
      if (listed->evicted != evicted || !MayBeTaken(*listed)) continue;
      Candidate candidate = *listed;
      if (tree_list_ == kPriority) candidate.variant = VariantOf(view_.At(candidate.workload));
      if (Take(candidate, borrow, targets)) return true;
    }
    return false;
  }

  // Preempts the candidate if that is allowed. Returns whether the request then fits.
  bool Take(const Candidate& candidate, bool borrow, std::vector<Target>& targets) {
    if (!IsValid(candidate, borrow)) return false;
    Discharge(state_, query_, candidate.workload);
    targets.push_back({candidate.workload, ReasonFor(candidate.variant)});
    return Fits(state_, query_, borrow);
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

  // Returns whether the request would stay within the queue's nominal quota after preempting all candidates
  // of the queue itself.
  bool FitsWithinNominal() {
    return std::all_of(query_.request.begin(), query_.request.end(), [&](const FlavorResourceAmount& entry) {
      Amount used = state_.quota.Usage(query_.queue, entry.fr);
      for (bool evicted : {true, false}) {
        for (const Candidate& own : Lists(kSame, evicted).items()) {
          for (const auto& [fr, amount] : view_.At(own.workload).usage) {
            if (fr == entry.fr) used -= amount;
          }
        }
      }
      return used + entry.amount <= state_.quota.limits().subtree(query_.queue, entry.fr);
    });
  }

  // Records in the trace which candidates of other queues an attempt may preempt.
  void Note(bool only_borrowing) {
    const bool within_nominal = !only_borrowing && FitsWithinNominal();
    const auto note = [&](WorkloadId id, Variant variant) {
      const bool may = variant != Variant::kWithoutBorrowing || within_nominal;
      (may ? trace_->allowed : trace_->needing_to_borrow).push_back(id);
    };
    for (bool evicted : {true, false}) {
      for (List list : {kHierarchical, kPriority}) {
        CandidateList& listed = Lists(list, evicted);
        for (size_t i = 0; i < listed.size(); ++i) {
          const Candidate& candidate = listed.At(i, order_);
          note(candidate.workload, candidate.variant);
        }
      }
    }
    if (tree_ == nullptr) return;
    tree_->Fill(view_);
    for (size_t i = 0; const Candidate* candidate = tree_->At(i, tree_order_); ++i) {
      if (!MayBeTaken(*candidate)) continue;
      const bool advantage = tree_list_ == kHierarchical;
      note(candidate->workload, advantage ? candidate->variant : VariantOf(view_.At(candidate->workload)));
    }
  }

  State& state_;       // For changes of usage.
  const State& view_;  // For all else, so that no workload is copied that a fork shares.
  const PreemptionQuery& query_;
  const ClusterQueue& queue_;
  const Workload& preemptor_;
  const absl::flat_hash_set<WorkloadId>* const already_preempted_;
  const CandidateOrder order_, tree_order_;
  CandidateScratch& scratch_;
  CandidateList* lists_;
  TreeCandidates* tree_ = nullptr;  // If set, it contains the candidates of the list `tree_list_`.
  List tree_list_ = kPriority;
  SearchTrace* const trace_;
};

}  // namespace

std::vector<Target> ClassicalTargets(State& state, const PreemptionQuery& query,
                                     const absl::flat_hash_set<WorkloadId>* already_preempted,
                                     CandidateScratch& scratch, SearchTrace* trace) {
  return ClassicalSearch(state, query, already_preempted, scratch, trace).Run();
}

}  // namespace kueue
