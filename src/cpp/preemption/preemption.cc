// Mirrors pkg/scheduler/preemption/{preemption,preemption_oracle}.go (kueue ff69552e79).
#include "preemption/preemption.h"

#include <algorithm>
#include <utility>

#include "flavor/assigner.h"
#include "preemption/classical.h"
#include "preemption/fair.h"
#include "preemption/fit.h"
#include "state/held.h"

namespace kueue {

namespace {

void ChargeQuota(State& state, const Workload& workload) {
  for (const auto& [fr, amount] : workload.usage) state.quota.Add(workload.charged, fr, amount);
}

void DischargeQuota(State& state, const Workload& workload) {
  for (const auto& [fr, amount] : workload.usage) state.quota.Remove(workload.charged, fr, amount);
}

void AddPlaces(State& state, const Workload& workload, int sign) {
  if (workload.topology_usage) AddTopologyUsage(state, workload.topology_usage->entries, sign);
}

}  // namespace

void Charge(State& state, WorkloadId id) {
  const Workload& workload = std::as_const(state).At(id);
  ChargeQuota(state, workload);
  AddPlaces(state, workload, 1);
}

void Discharge(State& state, WorkloadId id) {
  const Workload& workload = std::as_const(state).At(id);
  DischargeQuota(state, workload);
  AddPlaces(state, workload, -1);
}

void Charge(State& state, const PreemptionQuery& query, WorkloadId id) {
  const Workload& workload = std::as_const(state).At(id);
  ChargeQuota(state, workload);
  if (query.topology != nullptr) AddPlaces(state, workload, 1);
}

void Discharge(State& state, const PreemptionQuery& query, WorkloadId id) {
  const Workload& workload = std::as_const(state).At(id);
  DischargeQuota(state, workload);
  if (query.topology != nullptr) AddPlaces(state, workload, -1);
}

bool Borrows(const Quota& quota, const PreemptionQuery& query) {
  for (const auto& [fr, amount] : query.request) {
    if (quota.IsBorrowingWith(query.queue, fr, amount)) return true;
  }
  return false;
}

namespace {

bool FitsTopology(const PreemptionQuery& query) {
  return query.topology == nullptr || query.placer->Fits(*query.topology, query.preemptor, query.replaced);
}

}  // namespace

bool Fits(const State& state, const PreemptionQuery& query, bool borrow) {
  if (!borrow && Borrows(state.quota, query)) return false;
  for (const auto& [fr, amount] : query.request) {
    if (amount > state.quota.Available(query.queue, fr)) return false;
  }
  return FitsTopology(query);
}

namespace {

// Returns by how much usage may grow before less than the request is available. Negative if that is so now.
Amount Slack(const Quota& quota, const PreemptionQuery& query) {
  Amount slack = Amount::Unlimited();
  for (const auto& [fr, amount] : query.request)
    slack = Min(slack, quota.Available(query.queue, fr) - amount);
  return slack;
}

Amount TotalUsage(const Workload& workload) {
  Amount total;
  for (const auto& [fr, amount] : workload.usage) total += Max(Amount(0), amount);
  return total;
}

}  // namespace

void FillBack(State& state, const PreemptionQuery& query, bool borrow, std::vector<Target>& targets) {
  // A lower bound. A charged workload reduces the slack by at most its usage, whatever the limits of Cohorts.
  Amount slack = Slack(state.quota, query);
  for (size_t i = targets.size() - 1; i-- > 0;) {
    Charge(state, query, targets[i].workload);
    Amount left = slack - TotalUsage(std::as_const(state).At(targets[i].workload));
    if (left < Amount(0)) left = Slack(state.quota, query);
    if (left >= Amount(0) && (borrow || !Borrows(state.quota, query)) && FitsTopology(query)) {
      slack = left;
      targets[i] = targets.back();
      targets.pop_back();
    } else {
      Discharge(state, query, targets[i].workload);
    }
  }
}

namespace {

bool IsSame(const PreemptionQuery& a, const PreemptionQuery& b) {
  const auto same = [](const FlavorResourceAmount& x, const FlavorResourceAmount& y) {
    return x.fr == y.fr && x.amount == y.amount;
  };
  return a.queue == b.queue && a.preemptor == b.preemptor && a.contested == b.contested &&
         std::equal(a.request.begin(), a.request.end(), b.request.begin(), b.request.end(), same);
}

}  // namespace

bool Preemptor::MayPreempt(NodeId queue) const {
  const State& view = state_;  // Copies no page that a fork shares.
  const Preemption& rules = view.Queue(queue).spec.preemption;
  return rules.within_cluster_queue != PreemptionPolicy::kNever ||
         rules.reclaim_within_cohort != PreemptionPolicy::kNever;
}

// Without an advantage over other queues, and without permission to borrow while it preempts them, a
// preemptor needs targets in its own queue.
bool Preemptor::HasNoTargets(const PreemptionQuery& query) const {
  const State& view = state_;
  const Preemption& rules = view.Queue(query.queue).spec.preemption;
  const NodeId parent = view.forest().Parent(query.queue);
  const bool is_flat = parent != kNoId && view.forest().Parent(parent) == kNoId;
  if (trace_ != nullptr || !is_flat || view.config.fair_sharing || view.config.admission_fair_sharing ||
      rules.borrow_within_cohort || !Borrows(view.quota, query)) {
    return false;
  }
  if (rules.within_cluster_queue == PreemptionPolicy::kNever) return true;
  const std::vector<WorkloadId>& own = view.Queue(query.queue).workloads;
  const Workload& preemptor = view.At(query.preemptor);
  return std::none_of(own.begin(), own.end(), [&](WorkloadId id) {
    const Workload& workload = view.At(id);
    return SatisfiesPolicy(preemptor, workload, rules.within_cluster_queue) &&
           UsesAny(workload, query.contested) && !Contains(already_preempted_, id);
  });
}

std::vector<Target> Preemptor::Search(const PreemptionQuery& query) {
  if (HasNoTargets(query)) return {};
  if (remembered_ && query.topology == nullptr && IsSame(query, last_query_)) return last_targets_;
  last_targets_ = state_.config.fair_sharing
                      ? FairTargets(state_, query, already_preempted_, trace_)
                      : ClassicalTargets(state_, query, already_preempted_, scratch_, trace_);
  last_query_ = query;
  remembered_ = query.topology == nullptr;
  return last_targets_;
}

GranularMode Preemptor::SimulatePreemption(NodeId queue, WorkloadId workload, FlavorResourceId fr,
                                           Amount amount) {
  std::vector<Target> targets;
  if (MayPreempt(queue)) targets = Search({queue, workload, {fr}, {{fr, amount}}});
  if (targets.empty()) {
    return {PreemptionMode::kNoCandidates, LowestSubtreeThatFits(state_.quota, queue, fr, amount).height};
  }
  const Trial trial(state_, queue);
  bool own = false;
  for (const Target& target : targets) {
    DischargeQuota(state_, state_.At(target.workload));
    own = own || state_.At(target.workload).charged == queue;
  }
  const int level = LowestSubtreeThatFits(state_.quota, queue, fr, amount).height;
  return {own ? PreemptionMode::kPreempt : PreemptionMode::kReclaim, level};
}

std::vector<Target> Preemptor::Targets(NodeId queue, WorkloadId id, const Assignment& assignment,
                                       WorkloadId replaced) {
  if (!MayPreempt(queue)) return {};
  PreemptionQuery query{queue, id, {}, {}};
  const EquivalenceClass& cls = state_.Class(state_.At(id).cls);
  for (const PodSetAssignment& pod_set : assignment.pod_sets) {
    for (const FlavorChoice& choice : pod_set.flavors) {
      if (choice.mode != Mode::kPreempt) continue;
      const FlavorResourceId fr = state_.FlavorResource(choice.flavor, choice.resource);
      if (std::find(query.contested.begin(), query.contested.end(), fr) == query.contested.end()) {
        query.contested.push_back(fr);
      }
    }
  }
  // Matched by index, as in Kueue: totals are in the order of the spec, assignments in the order of pod set
  // groups.
  for (size_t i = 0; i < cls.totals.size() && i < assignment.pod_sets.size(); ++i) {
    int64_t count = assignment.pod_sets[i].count;
    if (replaced != kNoId && state_.At(replaced).admission &&
        i < state_.At(replaced).admission->pod_sets.size()) {
      const Workload& old = state_.At(replaced);
      count = cls.totals[i].count - HeldCount(state_, old, old.admission->pod_sets[i]);
    }
    const auto ask = [&](ResourceId resource, int64_t amount) {
      const FlavorChoice* choice = assignment.pod_sets[i].Find(resource);
      if (amount == 0 || choice == nullptr) return;
      AddTo(query.request, state_.FlavorResource(choice->flavor, resource), Amount(amount));
    };
    for (const auto& [resource, amount] : FlavorAssigner::Scaled(cls.totals[i], count)) ask(resource, amount);
    if (state_.config.rules.preemption_counts_pods && state_.Queue(queue).covers_pods)
      ask(state_.pods, count);
  }
  if (!assignment.demands.empty()) {
    query.topology = &assignment.demands;
    query.placer = &placer_;
    query.replaced = replaced;
  }
  return Search(query);
}

}  // namespace kueue
