#include "preemption/fair.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "fairness/share.h"
#include "preemption/fit.h"

namespace kueue {
namespace {

bool IsAboveOrEqual(const Forest& forest, NodeId above, NodeId node) {
  while (node != above && node != kNoId) node = forest.Parent(node);
  return node == above;
}

// Repeatedly selects the queue that loses its next candidate.
class TargetQueues {
 public:
  TargetQueues(const State& state, NodeId preemptor, const std::vector<Candidate>& candidates)
      : state_(state),
        preemptor_(preemptor),
        head_order_(state, preemptor, /*by_usage=*/false),
        candidates_(candidates.size()) {
    for (const Candidate& candidate : candidates) {
      const auto [place, is_new] = place_.try_emplace(candidate.charged, remaining_.size());
      if (is_new) remaining_.emplace_back();
      ++remaining_[place->second].end;
    }
    size_t begin = 0;
    for (Range& range : remaining_) {
      const size_t size = range.end;
      range.next = range.end = begin;
      begin += size;
    }
    for (const Candidate& candidate : candidates)
      candidates_[remaining_[place_.at(candidate.charged)].end++] = candidate;
  }

  bool HasCandidates(NodeId queue) const {
    const auto place = place_.find(queue);
    return place != place_.end() && remaining_[place->second].HasNext();
  }
  // The caller may preempt the candidate, which changes the share of the queue.
  const Candidate& PopCandidate(NodeId queue) {
    Range& range = remaining_[place_.at(queue)];
    range.share.reset();
    return candidates_[range.next++];
  }
  void Drop(NodeId queue) { pruned_.insert(queue); }

  // Returns kNoId if there are no candidates left.
  NodeId Next() {
    const Forest& forest = state_.forest();
    if (forest.Parent(preemptor_) == kNoId) {
      return HasCandidates(preemptor_) && pruned_.count(preemptor_) == 0 ? preemptor_ : kNoId;
    }
    const NodeId root = forest.Root(preemptor_);
    while (pruned_.count(root) == 0) {
      const NodeId queue = NextIn(root);
      if (queue != kNoId) return queue;
    }
    return kNoId;
  }

 private:
  // The candidates of one queue that have not been popped, as positions in `candidates_`.
  struct Range {
    size_t next = 0, end = 0;
    std::optional<Share> share;  // Share of the queue, if no candidate was popped since it was calculated.
    bool HasNext() const { return next < end; }
  };

  NodeId NextIn(NodeId cohort) {
    Share queue_share, cohort_share;
    const NodeId queue = BestQueue(cohort, queue_share);
    const NodeId child = BestCohort(cohort, cohort_share);
    if (queue == kNoId && child == kNoId) {
      pruned_.insert(cohort);
      return kNoId;
    }
    const bool cohort_wins =
        child != kNoId && (queue == kNoId || CompareShares(cohort_share, queue_share) >= 0);
    return cohort_wins ? NextIn(child) : queue;
  }

  NodeId BestQueue(NodeId cohort, Share& best_share) {
    NodeId best = kNoId;
    for (NodeId queue : state_.forest().ChildQueues(cohort)) {
      if (!state_.forest().IsActive(queue) || pruned_.count(queue) > 0) continue;
      const auto place = place_.find(queue);
      if (place == place_.end() || !remaining_[place->second].HasNext()) {
        pruned_.insert(queue);
        continue;
      }
      const Share& share = ShareOf(queue, remaining_[place->second]);
      if (!Borrows(share) && queue != preemptor_) {
        pruned_.insert(queue);
        continue;
      }
      const int order = best == kNoId ? 1 : CompareShares(share, best_share);
      if (order > 0 || (order == 0 && head_order_(NextOf(queue), NextOf(best)))) {
        best = queue;
        best_share = share;
      }
    }
    return best;
  }

  NodeId BestCohort(NodeId cohort, Share& best_share) {
    NodeId best = kNoId;
    for (NodeId child : state_.forest().ChildCohorts(cohort)) {
      if (pruned_.count(child) > 0) continue;
      const Share share = DominantResourceShare(state_, child);
      if (!Borrows(share) && !IsAboveOrEqual(state_.forest(), child, preemptor_)) {
        pruned_.insert(child);
        continue;
      }
      if (best == kNoId || CompareShares(share, best_share) >= 0) {
        best = child;
        best_share = share;
      }
    }
    return best;
  }

  // The search adds and removes the usage of the preemptor, which may change the share of its queue.
  const Share& ShareOf(NodeId queue, Range& range) const {
    if (!range.share || queue == preemptor_) range.share = DominantResourceShare(state_, queue);
    return *range.share;
  }

  // Returns whether the node counts as borrowing. The ratio is 0 if the node borrows a resource that no node
  // can lend.
  bool Borrows(const Share& share) const {
    return state_.config.rules.zero_shares_do_not_borrow ? share.ratio != 0 : share.borrowing;
  }

  const Candidate& NextOf(NodeId queue) const { return candidates_[remaining_[place_.at(queue)].next]; }

  const State& state_;
  const NodeId preemptor_;
  const CandidateOrder head_order_;
  std::vector<Candidate> candidates_;  // Grouped by queue.
  std::vector<Range> remaining_;
  absl::flat_hash_map<NodeId, size_t> place_;  // By queue, the position in `remaining_`.
  absl::flat_hash_set<NodeId> pruned_;
};

class FairSearch {
 public:
  FairSearch(State& state, const PreemptionQuery& query,
             const absl::flat_hash_set<WorkloadId>* already_preempted, SearchTrace* trace)
      : state_(state),
        query_(query),
        queue_(state.Queue(query.queue)),
        already_preempted_(already_preempted),
        trace_(trace) {}

  std::vector<Target> Run() {
    const std::vector<Candidate> candidates = Collect();
    if (candidates.empty()) return {};
    const std::vector<FairSharingStrategy>& strategies = *state_.config.fair_sharing;
    // Kueue subtracts the request again, which does not restore saturated values, and the rest of the cycle
    // sees the difference. Undoing is faster and gives the same result if nothing saturates.
    const bool leaks = state_.quota.IsOnTrial() && Saturates();
    std::optional<Trial> trial;
    if (!leaks) trial.emplace(state_, query_.queue);
    AddRequest();
    bool fits = FirstPass(candidates, strategies.front());
    if (!fits && strategies.size() > 1) fits = SecondPass();
    RemoveRequest();
    if (fits) FillBack(state_, query_, /*borrow=*/true, targets_);
    if (leaks) {
      for (const Target& target : targets_) Charge(state_, query_, target.workload);
    }
    return fits ? targets_ : std::vector<Target>();
  }

 private:
  bool Saturates() const {
    return std::any_of(query_.request.begin(), query_.request.end(),
                       [this](const FlavorResourceAmount& entry) {
                         return WouldSaturate(state_.quota, query_.queue, entry.fr, entry.amount);
                       });
  }
  void AddRequest() {
    for (const FlavorResourceAmount& entry : query_.request)
      state_.quota.Add(query_.queue, entry.fr, entry.amount);
  }
  void RemoveRequest() {
    for (const FlavorResourceAmount& entry : query_.request)
      state_.quota.Remove(query_.queue, entry.fr, entry.amount);
  }
  bool FitsNow() {
    RemoveRequest();
    const bool fits = Fits(state_, query_, /*borrow=*/true);
    AddRequest();
    return fits;
  }
  bool IsBorrowing(NodeId queue) const { return IsBorrowingAny(state_.quota, queue, query_.contested); }

  void CollectFrom(NodeId queue, PreemptionPolicy policy, Variant variant,
                   std::vector<Candidate>& candidates) const {
    for (WorkloadId id : state_.Queue(queue).workloads) {
      const Workload& workload = state_.At(id);
      if (!UsesAny(workload, query_.contested)) continue;
      if (!SatisfiesPolicy(state_.At(query_.preemptor), workload, policy)) continue;
      if (Contains(already_preempted_, id)) continue;
      candidates.push_back(MakeCandidate(state_, id, variant, kNoId));
    }
  }

  std::vector<Candidate> Collect() const {
    const Forest& forest = state_.forest();
    const Preemption& preemption = queue_.spec.preemption;
    std::vector<Candidate> candidates;
    CollectFrom(query_.queue, preemption.within_cluster_queue, Variant::kWithinQueue, candidates);
    if (forest.Parent(query_.queue) != kNoId &&
        preemption.reclaim_within_cohort != PreemptionPolicy::kNever) {
      for (NodeId queue : forest.QueuesOfTree(forest.Root(query_.queue))) {
        if (queue == query_.queue || !forest.IsActive(queue) || !IsBorrowing(queue)) continue;
        CollectFrom(queue, preemption.reclaim_within_cohort, Variant::kHierarchical, candidates);
      }
    }
    const CandidateOrder order(state_, query_.queue);
    if (!state_.config.admission_fair_sharing) {
      std::sort(candidates.begin(), candidates.end(), order);
      return candidates;
    }
    // LocalQueue usage can make the order intransitive, and then the result depends on the algorithm.
    std::sort(candidates.begin(), candidates.end(), [this](const Candidate& a, const Candidate& b) {
      return state_.At(a.workload).uid < state_.At(b.workload).uid;
    });
    std::stable_sort(candidates.begin(), candidates.end(), order);
    return candidates;
  }

  bool Take(const Candidate& candidate, PreemptionReason reason) {
    Discharge(state_, query_, candidate.workload);
    targets_.push_back({candidate.workload, reason});
    return FitsNow();
  }

  // Returns the children of the lowest common ancestor on the preemptor's and on the target's side.
  std::pair<NodeId, NodeId> AlmostCommonAncestors(NodeId target) const {
    const Forest& forest = state_.forest();
    NodeId theirs = target;
    while (!IsAboveOrEqual(forest, forest.Parent(theirs), query_.queue)) theirs = forest.Parent(theirs);
    NodeId ours = query_.queue;
    while (forest.Parent(ours) != forest.Parent(theirs)) ours = forest.Parent(ours);
    return {ours, theirs};
  }

  bool FirstPass(const std::vector<Candidate>& candidates, FairSharingStrategy strategy) {
    const bool within_nominal =
        state_.config.gates.fair_sharing_preempt_within_nominal && !IsBorrowing(query_.queue);
    TargetQueues queues(state_, query_.queue, candidates);
    for (NodeId queue = queues.Next(); queue != kNoId; queue = queues.Next()) {
      if (queue == query_.queue || within_nominal) {
        const PreemptionReason reason = queue == query_.queue ? PreemptionReason::kInClusterQueue
                                                              : PreemptionReason::kInCohortReclamation;
        if (Take(queues.PopCandidate(queue), reason)) return true;
        continue;
      }
      if (TakeByStrategy(queues, queue, strategy)) return true;
    }
    return false;
  }

  // Takes the first candidate of the queue that satisfies the strategy. The candidates before it are tried
  // later.
  bool TakeByStrategy(TargetQueues& queues, NodeId queue, FairSharingStrategy strategy) {
    const auto [ours, theirs] = AlmostCommonAncestors(queue);
    const Share new_share = DominantResourceShare(state_, ours),
                old_share = DominantResourceShare(state_, theirs);
    const bool hopeless = new_share.IsZeroWeightBorrowing() && !old_share.IsZeroWeightBorrowing();
    while (queues.HasCandidates(queue)) {
      const Candidate candidate = queues.PopCandidate(queue);
      const bool holds = !hopeless && Holds(strategy, new_share, old_share, theirs, candidate);
      if (trace_ != nullptr) Note(candidate, strategy, ours, theirs, holds);
      if (!holds) {
        retry_.push_back(candidate);
        continue;
      }
      return Take(candidate, PreemptionReason::kInCohortFairSharing);
    }
    return false;
  }

  bool Holds(FairSharingStrategy strategy, const Share& new_share, const Share& old_share, NodeId theirs,
             const Candidate& candidate) {
    if (strategy == FairSharingStrategy::kLessThanInitialShare)
      return CompareShares(new_share, old_share) < 0;
    const Trial trial(state_, query_.queue);
    Discharge(state_, query_, candidate.workload);
    return CompareShares(new_share, DominantResourceShare(state_, theirs)) <= 0;
  }

  void Note(const Candidate& candidate, FairSharingStrategy strategy, NodeId ours, NodeId theirs,
            bool holds) {
    FairComparison made{candidate.workload,
                        strategy,
                        ours,
                        theirs,
                        DominantResourceShare(state_, ours),
                        DominantResourceShare(state_, theirs),
                        {},
                        holds};
    const Trial trial(state_, query_.queue);
    Discharge(state_, query_, candidate.workload);
    made.final_share = DominantResourceShare(state_, theirs);
    trace_->comparisons.push_back(std::move(made));
  }

  bool SecondPass() {
    TargetQueues queues(state_, query_.queue, retry_);
    for (NodeId queue = queues.Next(); queue != kNoId; queue = queues.Next()) {
      const auto [ours, theirs] = AlmostCommonAncestors(queue);
      const Share new_share = DominantResourceShare(state_, ours),
                  old_share = DominantResourceShare(state_, theirs);
      const Candidate candidate = queues.PopCandidate(queue);
      const bool holds = CompareShares(new_share, old_share) < 0;
      if (trace_ != nullptr) Note(candidate, FairSharingStrategy::kLessThanInitialShare, ours, theirs, holds);
      if (holds && Take(candidate, PreemptionReason::kInCohortFairSharing)) return true;
      queues.Drop(queue);
    }
    return false;
  }

  State& state_;
  const PreemptionQuery& query_;
  const ClusterQueue& queue_;
  const absl::flat_hash_set<WorkloadId>* const already_preempted_;
  SearchTrace* const trace_;
  std::vector<Target> targets_;
  std::vector<Candidate> retry_;
};

}  // namespace

std::vector<Target> FairTargets(State& state, const PreemptionQuery& query,
                                const absl::flat_hash_set<WorkloadId>* already_preempted,
                                SearchTrace* trace) {
  return FairSearch(state, query, already_preempted, trace).Run();
}

}  // namespace kueue
