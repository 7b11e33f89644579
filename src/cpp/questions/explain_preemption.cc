#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "model/poll.h"
#include "preemption/fit.h"
#include "questions/explain.h"

namespace kueue {
namespace {

// Returns the insufficient flavor resources in flavors for which preemption was considered.
std::vector<FlavorResourceId> Contested(const State& state, const Facts& facts) {
  std::vector<FlavorResourceId> contested;
  for (const PodSetFacts& pod_set : facts.pod_sets) {
    for (const FlavorFacts& flavor : pod_set.flavors) {
      if (!flavor.mode || !flavor.ineligible.empty()) continue;
      for (const FlavorResourceFacts& one : flavor.frs) {
        if (!one.is_short || !one.may_preempt) continue;
        const FlavorResourceId fr = state.FlavorResource(one.flavor, one.resource);
        if (std::find(contested.begin(), contested.end(), fr) == contested.end()) contested.push_back(fr);
      }
    }
  }
  return contested;
}

class CandidateVerdicts {
 public:
  CandidateVerdicts(State& state, Facts& facts)
      : state_(state),
        facts_(facts),
        preemptor_(state.At(facts.workload)),
        queue_(state.Queue(facts.queue)) {}

  void Run() {
    Trace();
    const Forest& forest = state_.forest();
    std::vector<NodeId> queues = {facts_.queue};
    if (forest.Parent(facts_.queue) != kNoId) queues = forest.QueuesOfTree(forest.Root(facts_.queue));
    for (const Target& target : facts_.entry.targets) {
      targets_.insert(target.workload);
      Add(target.workload, CandidateVerdict::kTaken, target.reason);
    }
    for (NodeId queue : queues) {
      for (WorkloadId id : state_.Queue(queue).workloads) {
        if (!UsesAny(state_.At(id), facts_.contested) || targets_.contains(id)) continue;
        Poll();
        Add(id, VerdictOn(id), PreemptionReason::kInClusterQueue);
      }
    }
  }

 private:
  // Repeats the search and records its steps. With fair sharing, one search covers the whole assignment.
  // Without it, each insufficient flavor resource is searched separately, and a candidate is allowed if any
  // of these searches allows it.
  void Trace() {
    Preemptor preemptor(state_);
    preemptor.SetTrace(&trace_);
    if (state_.config.fair_sharing) {
      if (facts_.entry.assignment.mode != Mode::kPreempt) return;
      preemptor.Targets(facts_.queue, facts_.workload, facts_.entry.assignment, facts_.entry.replaced);
    } else {
      for (FlavorResourceId fr : facts_.contested) {
        preemptor.SimulatePreemption(facts_.queue, facts_.workload, fr, AskedOf(fr));
      }
    }
    for (const FairComparison& made : trace_.comparisons) comparisons_of_[made.candidate].push_back(&made);
    needs_to_borrow_.insert(trace_.needing_to_borrow.begin(), trace_.needing_to_borrow.end());
    for (WorkloadId id : trace_.allowed) needs_to_borrow_.erase(id);
  }

  Amount AskedOf(FlavorResourceId fr) const {
    Amount asked(0);
    for (const PodSetFacts& pod_set : facts_.pod_sets) {
      for (const FlavorFacts& flavor : pod_set.flavors) {
        for (const FlavorResourceFacts& facts : flavor.frs) {
          if (state_.FlavorResource(facts.flavor, facts.resource) == fr) asked = Max(asked, facts.asked);
        }
      }
    }
    return asked;
  }

  // Returns the lowest common ancestor of the queue and the preemptor's queue.
  NodeId MeetingNode(NodeId queue) const {
    const Forest& forest = state_.forest();
    std::vector<NodeId> above;
    for (NodeId node = facts_.queue; node != kNoId; node = forest.Parent(node)) above.push_back(node);
    NodeId node = forest.Parent(queue);
    while (node != kNoId && std::find(above.begin(), above.end(), node) == above.end())
      node = forest.Parent(node);
    return node;
  }

  CandidateVerdict WhyNotBorrow(const Workload& candidate) const {
    if (!queue_.spec.preemption.borrow_within_cohort) return CandidateVerdict::kBorrowNever;
    return candidate.priority >= preemptor_.priority ? CandidateVerdict::kBorrowPriority
                                                     : CandidateVerdict::kBorrowThreshold;
  }

  CandidateVerdict VerdictOn(WorkloadId id) {
    const Workload& candidate = state_.At(id);
    const Preemption& rules = queue_.spec.preemption;
    const bool own = candidate.charged == facts_.queue;
    const PreemptionPolicy policy = own ? rules.within_cluster_queue : rules.reclaim_within_cohort;
    if (policy == PreemptionPolicy::kNever)
      return own ? CandidateVerdict::kQueueNever : CandidateVerdict::kCohortNever;
    if (!own && !state_.forest().IsActive(candidate.charged)) return CandidateVerdict::kQueueIsInactive;
    if (!own && !IsBorrowingAny(state_.quota, candidate.charged, facts_.contested))
      return CandidateVerdict::kQueueIsNotBorrowing;
    if (!own &&
        !AreBorrowingUpTo(state_, candidate.charged, MeetingNode(candidate.charged), facts_.contested))
      return CandidateVerdict::kCohortIsNotBorrowing;
    if (!SatisfiesPolicy(preemptor_, candidate, policy)) {
      const bool equal =
          policy == PreemptionPolicy::kLowerOrNewerEqualPriority && preemptor_.priority == candidate.priority;
      return equal ? CandidateVerdict::kNotNewer : CandidateVerdict::kPriority;
    }
    if (LostAllComparisons(id)) return CandidateVerdict::kShare;
    if (needs_to_borrow_.contains(id)) return WhyNotBorrow(candidate);
    return facts_.entry.targets.empty() ? CandidateVerdict::kNotEnough : CandidateVerdict::kNotNeeded;
  }

  bool LostAllComparisons(WorkloadId id) const {
    const auto made = comparisons_of_.find(id);
    return made != comparisons_of_.end() &&
           std::none_of(made->second.begin(), made->second.end(),
                        [](const FairComparison* comparison) { return comparison->holds; });
  }

  void Add(WorkloadId id, CandidateVerdict verdict, PreemptionReason reason) {
    const size_t taken = facts_.entry.targets.size();
    ++facts_.counts[verdict];
    if (verdict != CandidateVerdict::kTaken && facts_.candidates.size() >= taken + kMostCandidates) return;
    const Workload& workload = state_.At(id);
    CandidateFacts candidate{
        id, workload.charged, verdict, std::nullopt, workload.IsEvicted(), workload.priority, {}, {}};
    if (verdict == CandidateVerdict::kTaken) candidate.reason = reason;
    for (const auto& [fr, amount] : workload.usage) {
      const std::vector<FlavorResourceId>& contested = facts_.contested;
      if (std::find(contested.begin(), contested.end(), fr) != contested.end()) {
        candidate.holds.push_back({fr, amount});
      }
    }
    if (const auto made = comparisons_of_.find(id); made != comparisons_of_.end()) {
      for (const FairComparison* comparison : made->second) {
        candidate.comparisons.push_back({comparison->strategy, comparison->ours, comparison->theirs,
                                         comparison->our_share.Weighted(), comparison->their_share.Weighted(),
                                         comparison->final_share.Weighted(), comparison->holds});
      }
    }
    facts_.candidates.push_back(std::move(candidate));
  }

  State& state_;
  Facts& facts_;
  const Workload& preemptor_;
  const ClusterQueue& queue_;
  absl::flat_hash_set<WorkloadId> targets_;
  SearchTrace trace_;
  absl::flat_hash_map<WorkloadId, std::vector<const FairComparison*>> comparisons_of_;  // By candidate.
  // Candidates that no search allows, because the preemptor would have to borrow.
  absl::flat_hash_set<WorkloadId> needs_to_borrow_;
};

}  // namespace

void ExplainPreemption(State& state, Facts& facts) {
  facts.contested = Contested(state, facts);
  // Targets may be needed for topology capacity alone, even if all quotas are sufficient.
  if (!facts.contested.empty() || !facts.entry.targets.empty()) CandidateVerdicts(state, facts).Run();
}

}  // namespace kueue
