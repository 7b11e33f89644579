// Mirrors pkg/scheduler/flavorassigner/flavorassigner.go (kueue ff69552e79).
#include "flavor/assigner.h"

#include <algorithm>

#include "flavor/demands.h"
#include "state/held.h"

namespace kueue {
namespace {

int64_t RequestOf(const Requests& requests, ResourceId resource) {
  for (const auto& [name, amount] : requests) {
    if (name == resource) return amount;
  }
  return 0;
}

// Keeps the requests sorted by the hash of the resource name.
void SetRequest(const State& state, Requests& requests, ResourceId resource, int64_t amount, bool add) {
  const auto order = [&state](ResourceId id) { return state.resource_order[id]; };
  auto at = requests.begin();
  while (at != requests.end() && order(at->first) < order(resource)) ++at;
  if (at != requests.end() && at->first == resource) {
    at->second = add ? SaturatingAdd(at->second, amount) : amount;
  } else {
    requests.insert(at, {resource, amount});
  }
}

void TakeWorstMode(Assignment& assignment) {
  for (const PodSetAssignment& pod_set : assignment.pod_sets) {
    assignment.mode = std::min(assignment.mode, pod_set.RepresentativeMode());
  }
}

}  // namespace

Requests FlavorAssigner::Scaled(const PodSetTotals& totals, int64_t count) {
  Requests scaled = totals.requests;
  if (totals.count == 0 || totals.count == count) return scaled;
  for (auto& [resource, amount] : scaled) amount = SaturatingMul(amount / totals.count, count);
  return scaled;
}

void FlavorAssigner::Prepare(int pod_set, const std::vector<int64_t>* counts,
                             PodSetAssignment& result) const {
  const PodSetTotals& totals = subject_.cls.totals[static_cast<size_t>(pod_set)];
  result.pod_set = pod_set;
  result.count = totals.count;
  const bool again = subject_.workload.admission && subject_.workload.HasQuotaReservation();
  if (again) TakeAdmitted(result);
  if (counts != nullptr && result.count != 0 && !result.topology) {
    const int64_t before = result.count;
    result.count = (*counts)[static_cast<size_t>(pod_set)];
    if (again) Rescale(result, before);
  }
  if (result.flavors.empty()) result.requests = Scaled(totals, result.count);
  if (subject_.queue.covers_pods) SetRequest(state_, result.requests, state_.pods, result.count, false);
}

// In a second pass, the workload keeps its flavors and only its placement is computed.
void FlavorAssigner::TakeAdmitted(PodSetAssignment& result) const {
  const std::string& name = subject_.cls.pod_sets[static_cast<size_t>(result.pod_set)].name;
  for (const PodSetAdmission& admitted : subject_.workload.admission->pod_sets) {
    if (admitted.name != name) continue;
    result.count = HeldCount(state_, subject_.workload, admitted);
    for (const PodSetAdmission::Resource& entry : admitted.resources) {
      if (entry.flavor == kNoId) continue;
      SetRequest(state_, result.requests, entry.resource, HeldUsage(entry.usage, admitted, result.count),
                 false);
      result.flavors.push_back({entry.resource, entry.flavor, Mode::kFit, 0, 0});
    }
    result.topology = admitted.topology;
    result.delayed = admitted.delayed;
  }
}

// Scales the requests down to fewer pods, for partial admission (pkg/workload/workload.go:ScaledTo).
void FlavorAssigner::Rescale(PodSetAssignment& result, int64_t before) {
  result.delayed = DelayedTopology::kNone;
  if (result.count == before) return;
  for (auto& [resource, amount] : result.requests) amount = SaturatingMul(amount / before, result.count);
}

// Fast path for the most frequent result: all requests of the only pod set fit in the first flavor of one
// resource group, and the flavor scan ends there. Returns false if this is not the case, and then leaves the
// flavors, attempts and usage empty. `pod_set` contains the requests.
bool FlavorAssigner::TakeFirstFlavor(PodSetAssignment& pod_set, Assignment& assignment) {
  if (pod_set.requests.empty()) return false;
  const ResourceId first = pod_set.requests.front().first;
  const int group = subject_.queue.GroupOf(first);
  if (group == kNoId) return false;
  const std::vector<FlavorId>& flavors = subject_.queue.groups[static_cast<size_t>(group)].flavors;
  if (flavors.empty()) return false;
  const FlavorId flavor = flavors.front();
  if (!scan_.MayUse(PodSetGroup{0}, group, flavor, first)) return false;
  const bool fungible = state_.config.gates.flavor_fungibility, is_last = flavors.size() == 1;
  const auto give_up = [&] {
    pod_set.flavors.clear();
    assignment.usage.clear();
    return false;
  };
  int borrowing = 0;
  for (const auto& [resource, amount] : pod_set.requests) {
    if (pod_set.requests.size() > 1 && subject_.queue.GroupOf(resource) != group) return give_up();
    const FlavorResourceId fr = state_.FlavorResource(flavor, resource);
    const Amount wanted(amount);
    if (wanted > state_.quota.Available(subject_.queue_id, fr) ||
        wanted > state_.quota.limits().potential(subject_.queue_id, fr))
      return give_up();
    const int height = LowestSubtreeThatFits(state_.quota, subject_.queue_id, fr, wanted).height;
    borrowing = std::max(borrowing, height);
    pod_set.flavors.push_back({resource, flavor, Mode::kFit, height, fungible && is_last ? -1 : 0});
    assignment.usage.push_back({fr, wanted});
  }
  if (fungible && !is_last &&
      ShouldTryNextFlavor({PreemptionMode::kFit, borrowing}, subject_.queue.spec.flavor_fungibility)) {
    return give_up();
  }
  pod_set.attempts.push_back({flavor, group, PreemptionMode::kFit, borrowing, Reason::kEmpty});
  assignment.borrowing = borrowing;
  assignment.mode = Mode::kFit;
  return true;
}

void FlavorAssigner::Assign(Assignment& assignment, const std::vector<int64_t>* counts) {
  if (!assignment.pod_sets.empty() || !assignment.usage.empty()) assignment = Assignment();
  const bool is_simple = subject_.cls.pod_sets.size() == 1 && counts == nullptr &&
                         !subject_.replaced.exists() && subject_.workload.progress == nullptr &&
                         subject_.workload.admission == nullptr &&
                         !state_.config.rules.label_keys_of_whole_group;
  if (is_simple && !subject_.lacks_quota) {
    PodSetAssignment& pod_set = assignment.pod_sets.emplace_back();
    Prepare(0, nullptr, pod_set);
    if (TakeFirstFlavor(pod_set, assignment)) return Conclude(assignment, true);
    assignment.pod_sets.clear();
  }
  bool complete = true;
  if (subject_.cls.pod_sets.size() == 1) {
    complete = AssignGroup(PodSetGroup{0}, counts, assignment);
  } else {
    for (const PodSetGroup& group : GroupsOf(subject_.cls)) {
      complete = AssignGroup(group, counts, assignment);
      if (!complete) break;
    }
  }
  Conclude(assignment, complete);
}

bool FlavorAssigner::AssignGroup(const PodSetGroup& group, const std::vector<int64_t>* counts,
                                 Assignment& assignment) {
  const size_t before = assignment.pod_sets.size();
  for (int pod_set : group) Prepare(pod_set, counts, assignment.pod_sets.emplace_back());
  const absl::Span<PodSetAssignment> members = absl::MakeSpan(assignment.pod_sets).subspan(before);
  if (members.size() == 1) {
    FindFlavors(group, members.front().requests, assignment.usage, members.front());
  } else {
    PodSetAssignment together;
    for (PodSetAssignment& member : members) {
      for (const auto& [resource, amount] : member.requests)
        SetRequest(state_, together.requests, resource, amount, true);
      together.flavors.insert(together.flavors.end(), member.flavors.begin(), member.flavors.end());
    }
    FindFlavors(group, together.requests, assignment.usage, together);
    ShareOut(together, members);
  }
  bool all_assigned = true;
  for (const PodSetAssignment& member : members) {
    CountAsUsed(member, assignment);
    if (!member.requests.empty() && member.flavors.empty()) all_assigned = false;
  }
  return all_assigned;
}

void FlavorAssigner::FindFlavors(const PodSetGroup& group, const Requests& requests, const Amounts& assumed,
                                 PodSetAssignment& found) {
  for (const auto& [resource, amount] : requests) {
    const int resource_group = subject_.queue.GroupOf(resource);
    const bool undeclared = resource_group == kNoId;
    const bool may_ignore =
        state_.config.ignore_undeclared_resources && state_.config.gates.quota_check_strategy;
    if (undeclared && (amount == 0 || may_ignore)) continue;
    if (found.Find(resource) != nullptr) continue;
    if (undeclared) {
      found.flavors.clear();
      found.refusals.clear();
      found.refusals.push_back({RefusalKind::kUndeclaredResource, kNoId, resource});
      return;
    }
    if (!scan_.Find(group, requests, resource, resource_group, assumed, found)) return;
  }
}

void FlavorAssigner::ShareOut(const PodSetAssignment& chosen, absl::Span<PodSetAssignment> members) const {
  for (PodSetAssignment& member : members) {
    member.flavors.clear();
    for (const FlavorChoice& choice : chosen.flavors) {
      const auto asks = [&choice](const auto& request) { return request.first == choice.resource; };
      const bool asked = std::any_of(member.requests.begin(), member.requests.end(), asks);
      if ((asked || Inherits(member, choice)) && member.Find(choice.resource) == nullptr)
        member.flavors.push_back(choice);
    }
    member.refusals = chosen.refusals;
    member.attempts = chosen.attempts;
  }
}

void FlavorAssigner::CountAsUsed(const PodSetAssignment& member, Assignment& assignment) const {
  const PodSetAdmission* const old =
      !subject_.replaced.exists()
          ? nullptr
          : subject_.replaced.Named(subject_.cls.pod_sets[static_cast<size_t>(member.pod_set)].name);
  for (const FlavorChoice& choice : member.flavors) {
    assignment.borrowing = std::max(assignment.borrowing, choice.borrow);
    const int64_t request = SaturatingSub(RequestOf(member.requests, choice.resource),
                                          subject_.replaced.RequestOf(old, choice.resource));
    AddTo(assignment.usage, state_.FlavorResource(choice.flavor, choice.resource), Amount(request));
  }
}

bool FlavorAssigner::Inherits(const PodSetAssignment& member, const FlavorChoice& choice) const {
  if (state_.config.rules.pod_sets_without_requests_inherit_nothing) return false;
  return member.requests.empty() &&
         !subject_.cls.pod_sets[static_cast<size_t>(member.pod_set)].group.empty() &&
         HasTree(state_, choice.flavor);
}

// Sets the mode of all resources of a pod set, and of the same resources of all pod sets in its group.
void FlavorAssigner::SetMode(Assignment& assignment, int pod_set, Mode mode) const {
  const std::string& group = subject_.cls.pod_sets[static_cast<size_t>(pod_set)].group;
  const PodSetAssignment& changed = *assignment.Find(pod_set);
  for (PodSetAssignment& other : assignment.pod_sets) {
    const bool together =
        !group.empty() && subject_.cls.pod_sets[static_cast<size_t>(other.pod_set)].group == group;
    if (other.pod_set != pod_set && !together) continue;
    for (FlavorChoice& choice : other.flavors) {
      if (changed.Find(choice.resource) != nullptr) choice.mode = mode;
    }
  }
  assignment.mode = mode;
}

void FlavorAssigner::PlacePodSets(Assignment& assignment) {
  if (!placer_.Concerns(subject_.queue_id, subject_.cls)) return;
  if (assignment.demands.empty())
    assignment.demands = TopologyDemandsOf(state_, assignment, subject_.queue_id, subject_.workload_id);
  if (!state_.config.rules.topology_faults_pass) TakeWorstMode(assignment);
  if (assignment.mode == Mode::kFit) {
    const auto answers =
        placer_.Find(assignment.demands, subject_.workload_id, false, subject_.replaced.id());
    if (const TopologyAnswer* failed = placer_.FailureIn(answers, subject_.workload.cls)) {
      assignment.Find(failed->pod_set)
          ->refusals.push_back({RefusalKind::kPlacement, failed->flavor, kNoId, failed->failure});
      SetMode(assignment, failed->pod_set, Mode::kPreempt);
    } else {
      placer_.Apply(answers, assignment, subject_.workload_id);
    }
  }
  // Kueue does not preempt workloads to replace a node.
  if (assignment.mode != Mode::kPreempt || !subject_.workload.Status().unhealthy_nodes.empty()) return;
  if_empty_ = placer_.Find(assignment.demands, subject_.workload_id, true, subject_.replaced.id());
  const TopologyAnswer* const failed = placer_.FailureIn(*if_empty_, subject_.workload.cls);
  if (failed == nullptr) {
    for (const TopologyDemand& demand : assignment.demands)
      SetMode(assignment, demand.pod_set, Mode::kPreempt);
    return;
  }
  const std::string& group = subject_.cls.pod_sets[static_cast<size_t>(failed->pod_set)].group;
  for (PodSetAssignment& other : assignment.pod_sets) {
    const bool together =
        !group.empty() && subject_.cls.pod_sets[static_cast<size_t>(other.pod_set)].group == group;
    if (other.pod_set != failed->pod_set && !together) continue;
    const auto attempt = std::find_if(other.attempts.begin(), other.attempts.end(),
                                      [&](const FlavorAttempt& one) { return one.flavor == failed->flavor; });
    if (attempt == other.attempts.end()) continue;
    attempt->mode = PreemptionMode::kNoFit;
    attempt->no_fit_reason = Reason::kTopologyPlacementFailed;
  }
  SetMode(assignment, failed->pod_set, Mode::kNoFit);
}

void FlavorAssigner::Conclude(Assignment& assignment, bool complete) {
  if (assignment.pod_sets.empty()) return;
  assignment.mode = Mode::kFit;
  TakeWorstMode(assignment);
  if (complete && assignment.mode != Mode::kNoFit) PlacePodSets(assignment);
  if (assignment.mode == Mode::kNoFit) assignment.no_fit_reason = NoFitReason(assignment);
}

Reason FlavorAssigner::NoFitReason(const Assignment& assignment) const {
  Reason overall = Reason::kEmpty;
  for (const PodSetAssignment& pod_set : assignment.pod_sets) {
    if (pod_set.RepresentativeMode() != Mode::kNoFit) continue;
    if (pod_set.attempts.empty()) {
      overall = MostSevere(overall, Reason::kNoMatchingFlavor);
      continue;
    }
    for (size_t group = 0; group < subject_.queue.groups.size(); ++group) {
      const FlavorAttempt* least = nullptr;
      for (const FlavorAttempt& attempt : pod_set.attempts) {
        if (attempt.group != static_cast<int>(group) || attempt.mode != PreemptionMode::kNoFit) continue;
        if (least == nullptr || Severity(attempt.no_fit_reason) < Severity(least->no_fit_reason))
          least = &attempt;
      }
      if (least != nullptr) overall = MostSevere(overall, least->no_fit_reason);
    }
  }
  return overall;
}

}  // namespace kueue
