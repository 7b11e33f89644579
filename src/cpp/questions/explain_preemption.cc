#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "model/poll.h"
#include "preemption/fit.h"
#include "questions/explain.h"

namespace kueue {
namespace {

// The flavor resources that are short in a flavor that preemption was considered for.
std::vector<FlavorResourceId> Contested(const Facts& facts) {
  std::vector<FlavorResourceId> contested;
  for (const PodSetFacts& pod_set : facts.pod_sets) {
    for (const FlavorFacts& flavor : pod_set.flavors) {
      if (!flavor.tried || !flavor.ineligible.empty()) continue;
      for (const FlavorResourceFacts& fr : flavor.frs) {
        if (!fr.IsShort() || !fr.may_preempt) continue;
        if (std::find(contested.begin(), contested.end(), fr.fr) == contested.end())
          contested.push_back(fr.fr);
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
    facts_.counts.assign(kCandidateVerdicts, 0);
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
  // Searches once more, with every comparison of shares written down.
  void Trace() {
    if (!state_.config.fair_sharing || facts_.entry.assignment.mode != Mode::kPreempt) return;
    Preemptor preemptor(state_);
    preemptor.SetTrace(&comparisons_);
    preemptor.Targets(facts_.queue, facts_.workload, facts_.entry.assignment, facts_.entry.replaced);
    for (const FairComparison& made : comparisons_) comparisons_of_[made.candidate].push_back(&made);
  }

  bool Exceeds(NodeId node) const {
    return std::any_of(facts_.contested.begin(), facts_.contested.end(),
                       [&](FlavorResourceId fr) { return state_.quota.IsBorrowing(node, fr); });
  }

  // Whether some Cohort between the candidate and the preemptor uses no more than its own.
  bool IsShielded(NodeId queue) const {
    const Forest& forest = state_.forest();
    std::vector<NodeId> above;
    for (NodeId node = facts_.queue; node != kNoId; node = forest.Parent(node)) above.push_back(node);
    for (NodeId node = forest.Parent(queue); node != kNoId; node = forest.Parent(node)) {
      if (std::find(above.begin(), above.end(), node) != above.end()) return false;
      if (!Exceeds(node)) return true;
    }
    return false;
  }

  // Each flavor resource that is short is searched for apart (SimulatePreemption), so one in which it counts
  // is enough.
  bool MayTakeInSomeFlavorResource(const Workload& candidate) {
    return std::any_of(facts_.contested.begin(), facts_.contested.end(), [&](FlavorResourceId fr) {
      return UsesAny(candidate, {fr}) && MayTake(candidate, fr);
    });
  }

  // Whether some attempt may take a borrower's workload: one that borrows itself, or one that does not.
  bool MayTake(const Workload& candidate, FlavorResourceId fr) {
    const Preemption& rules = queue_.spec.preemption;
    const Amount asked = AskedOf(fr);
    return VariantOf(rules, preemptor_, candidate) == Variant::kWhileBorrowing ||
           HasAdvantage(candidate.charged, fr, asked) || MayFitWithoutBorrowing(fr, asked);
  }

  bool MayFitWithoutBorrowing(FlavorResourceId fr, Amount asked) {
    const auto [known, is_new] = fits_without_borrowing_.try_emplace(fr, false);
    if (is_new) known->second = FitsWithoutBorrowing(fr, asked);
    return known->second;
  }

  Amount AskedOf(FlavorResourceId fr) const {
    Amount asked(0);
    for (const PodSetFacts& pod_set : facts_.pod_sets) {
      for (const FlavorFacts& flavor : pod_set.flavors) {
        for (const FlavorResourceFacts& facts : flavor.frs) {
          if (facts.fr == fr) asked = Max(asked, facts.asked);
        }
      }
    }
    return asked;
  }

  // Whether a node between the preemptor's queue and the first Cohort above both has quota of its own for
  // all.
  bool HasAdvantage(NodeId other, FlavorResourceId fr, Amount asked) const {
    const Forest& forest = state_.forest();
    std::vector<NodeId> above;
    for (NodeId node = other; node != kNoId; node = forest.Parent(node)) above.push_back(node);
    Amounts remaining = {{fr, asked}};
    for (NodeId node = facts_.queue; node != kNoId; node = forest.Parent(node)) {
      if (std::find(above.begin(), above.end(), node) != above.end()) return false;
      if (FitsInQuota(state_.quota, node, remaining)) return true;
    }
    return false;
  }

  // Whether the attempt without borrowing is made at all, and could succeed once the queue's own candidates
  // have left.
  bool FitsWithoutBorrowing(FlavorResourceId fr, Amount asked) const {
    const Preemption& rules = queue_.spec.preemption;
    const Amount nominal = state_.quota.Nominal(facts_.queue, fr);
    Amount usage = state_.quota.Usage(facts_.queue, fr);
    if (!rules.borrow_within_cohort && nominal <= usage) return false;
    for (WorkloadId id : queue_.workloads) {
      const Workload& own = state_.At(id);
      if (!UsesAny(own, {fr}) || !SatisfiesPolicy(preemptor_, own, rules.within_cluster_queue)) continue;
      for (const auto& [used, amount] : own.usage) {
        if (used == fr) usage -= amount;
      }
    }
    return usage + asked <= nominal;
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
    if (!own && !state_.IsInSnapshot(candidate.charged)) return CandidateVerdict::kQueueIsInactive;
    if (!own && !Exceeds(candidate.charged)) return CandidateVerdict::kQueueIsNotBorrowing;
    if (!own && IsShielded(candidate.charged)) return CandidateVerdict::kCohortIsNotBorrowing;
    if (!SatisfiesPolicy(preemptor_, candidate, policy)) {
      const bool equal =
          policy == PreemptionPolicy::kLowerOrNewerEqualPriority && preemptor_.priority == candidate.priority;
      return equal ? CandidateVerdict::kNotNewer : CandidateVerdict::kPriority;
    }
    if (LostAllComparisons(id)) return CandidateVerdict::kShare;
    if (!own && !state_.config.fair_sharing && !MayTakeInSomeFlavorResource(candidate))
      return WhyNotBorrow(candidate);
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
    ++facts_.counts[static_cast<size_t>(verdict)];
    if (verdict != CandidateVerdict::kTaken && facts_.candidates.size() >= taken + kMostCandidates) return;
    const Workload& workload = state_.At(id);
    CandidateFacts candidate{id, workload.charged, verdict, reason, {}, {}};
    for (const auto& [fr, amount] : workload.usage) {
      const std::vector<FlavorResourceId>& contested = facts_.contested;
      if (std::find(contested.begin(), contested.end(), fr) != contested.end()) {
        candidate.holds.push_back({fr, amount});
      }
    }
    if (const auto made = comparisons_of_.find(id); made != comparisons_of_.end()) {
      for (const FairComparison* comparison : made->second) candidate.comparisons.push_back(*comparison);
    }
    facts_.candidates.push_back(std::move(candidate));
  }

  State& state_;
  Facts& facts_;
  const Workload& preemptor_;
  const ClusterQueue& queue_;
  absl::flat_hash_set<WorkloadId> targets_;
  std::vector<FairComparison> comparisons_;
  absl::flat_hash_map<WorkloadId, std::vector<const FairComparison*>> comparisons_of_;  // by candidate
  absl::flat_hash_map<FlavorResourceId, bool> fits_without_borrowing_;  // the same for all candidates
};

}  // namespace

void ExplainPreemption(State& state, Facts& facts) {
  facts.contested = Contested(facts);
  // Without anything that is short, room in a topology may still cost targets.
  if (!facts.contested.empty() || !facts.entry.targets.empty()) CandidateVerdicts(state, facts).Run();
}

}  // namespace kueue
