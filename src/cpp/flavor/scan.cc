#include "flavor/scan.h"

#include <algorithm>
#include <iterator>

namespace kueue {

int Severity(Reason reason) {
  switch (reason) {
    case Reason::kNoMatchingFlavor:
      return 4;
    case Reason::kExceedsMaxQuota:
      return 3;
    case Reason::kWaitingForQuota:
      return 2;
    case Reason::kTopologyPlacementFailed:
      return 1;
    default:
      return 0;
  }
}

int FlavorScan::NextFlavorToTry(int pod_set, ResourceId resource) const {
  if (!subject_.workload.progress || !state_.config.gates.flavor_fungibility) return 0;
  const auto& tried = subject_.workload.progress->tried;
  if (static_cast<size_t>(pod_set) >= tried.size()) return 0;
  for (const auto& [name, index] : tried[static_cast<size_t>(pod_set)]) {
    if (name == resource) return index + 1;
  }
  return 0;
}

bool FlavorScan::IsPinnedAway(FlavorId flavor, const PodSetGroup& group, ResourceId resource) const {
  if (subject_.pinned == nullptr || subject_.pinned->empty()) return false;
  for (int pod_set : group) {
    if (static_cast<size_t>(pod_set) >= subject_.pinned->size()) continue;
    for (const auto& [name, nominated] : (*subject_.pinned)[static_cast<size_t>(pod_set)]) {
      if (name == resource && nominated == flavor) return false;
    }
  }
  return true;
}

std::optional<RefusalKind> FlavorScan::WhySkipped(FlavorId flavor, const PodSetGroup& group,
                                                  ResourceId resource) const {
  if (IsPinnedAway(flavor, group, resource)) return RefusalKind::kNotNominated;
  const std::vector<std::string>& allowed = subject_.cls.allowed_flavors;
  const bool may_use = allowed.empty() || std::find(allowed.begin(), allowed.end(),
                                                    state_.flavor_names.Name(flavor)) != allowed.end();
  return may_use ? std::nullopt : std::optional(RefusalKind::kNotAllowed);
}

std::optional<Refusal> FlavorScan::WhyIneligible(const PodSetGroup& group, int resource_group,
                                                 FlavorId flavor, const LabelKeys* group_keys) {
  const ResourceFlavor* const spec = state_.Flavor(flavor);
  for (int pod_set : group) {
    if (spec != nullptr && IsPlain(subject_.cls.pod_sets[static_cast<size_t>(pod_set)], *spec)) continue;
    const TopologyMatch match =
        placer_.MatchOf(subject_.queue_id, resource_group, flavor, subject_.workload.cls, pod_set);
    std::optional<Refusal> refusal =
        Ineligibility(subject_.cls.pod_sets[static_cast<size_t>(pod_set)], flavor, spec, match, group_keys);
    if (refusal) return refusal;
  }
  return std::nullopt;
}

const Requests& FlavorScan::OfResourceGroup(const Requests& requests, int resource_group,
                                            Requests& some) const {
  if (requests.size() == 1) return requests;  // The only request is the one whose resource group is scanned.
  const auto is_of_group = [&](const auto& request) {
    return subject_.queue.GroupOf(request.first) == resource_group;
  };
  if (std::all_of(requests.begin(), requests.end(), is_of_group)) return requests;
  std::copy_if(requests.begin(), requests.end(), std::back_inserter(some), is_of_group);
  return some;
}

namespace {

// Adds the flavors chosen for a resource group to the flavors of other groups. If no flavor was chosen,
// clears all choices. Returns whether a flavor was chosen.
bool Join(const absl::InlinedVector<FlavorChoice, 2>& chosen, PodSetAssignment& found) {
  if (chosen.empty()) found.flavors.clear();
  for (const FlavorChoice& choice : chosen) {
    if (found.Find(choice.resource) == nullptr) found.flavors.push_back(choice);
  }
  return !chosen.empty();
}

}  // namespace

bool FlavorScan::Find(const PodSetGroup& group, const Requests& all_requests, ResourceId resource,
                      int resource_group, const Amounts& assumed, PodSetAssignment& found) {
  const ResourceGroupIds& ids = subject_.queue.groups[static_cast<size_t>(resource_group)];
  Requests some;
  const Requests& requests = OfResourceGroup(all_requests, resource_group, some);
  const bool fungible = state_.config.gates.flavor_fungibility;
  const int flavor_count = static_cast<int>(ids.flavors.size());
  const ReleaseRules& rules = state_.config.rules;
  std::optional<LabelKeys> group_keys;
  if (rules.label_keys_of_whole_group) group_keys = GroupLabelKeys(state_, ids.flavors);
  const auto refused = static_cast<std::ptrdiff_t>(found.refusals.size());
  Choices chosen;
  GranularMode best = kWorstMode;
  int attempted = -1;
  for (int index = NextFlavorToTry(group.front(), resource); index < flavor_count; ++index) {
    attempted = index;
    const FlavorId flavor = ids.flavors[static_cast<size_t>(index)];
    if (const std::optional<RefusalKind> skipped = WhySkipped(flavor, group, resource)) {
      found.refusals.push_back({*skipped, flavor, resource});
      continue;
    }
    FlavorAttempt attempt{flavor, resource_group, PreemptionMode::kNoFit, 0, Reason::kNoMatchingFlavor};
    if (std::optional<Refusal> refusal =
            WhyIneligible(group, resource_group, flavor, group_keys ? &*group_keys : nullptr)) {
      found.refusals.push_back(std::move(*refusal));
      found.attempts.push_back(attempt);
      continue;
    }
    Choices choices;
    const GranularMode mode = TryFlavor(group, requests, assumed, attempt, choices, found.refusals);
    found.attempts.push_back(attempt);
    if (fungible && !ShouldTryNextFlavor(mode, subject_.queue.spec.flavor_fungibility)) {
      chosen = std::move(choices);
      best = mode;
      break;
    }
    const bool better = fungible ? IsBetter(mode, best) : mode.mode > best.mode;
    if (better) {
      chosen = std::move(choices);
      best = mode;
    }
    if (!fungible && best.mode == PreemptionMode::kFit) break;
  }
  if (fungible) {
    for (FlavorChoice& choice : chosen) choice.tried = attempted == flavor_count - 1 ? -1 : attempted;
  }
  if (best.mode == PreemptionMode::kFit)
    found.refusals.erase(found.refusals.begin() + refused, found.refusals.end());
  if (chosen.empty()) found.refusals.erase(found.refusals.begin(), found.refusals.begin() + refused);
  return Join(chosen, found);
}

GranularMode FlavorScan::TryFlavor(const PodSetGroup& group, const Requests& requests, const Amounts& assumed,
                                   FlavorAttempt& attempt, Choices& choices, Refusals& refusals) {
  const FlavorId flavor = attempt.flavor;
  GranularMode representative = kBestMode;
  attempt.no_fit_reason = Reason::kEmpty;
  for (const auto& [resource, amount] : requests) {
    int64_t request = amount;
    if (subject_.replaced.exists()) {
      for (int pod_set : group) {
        const FlavorId original = subject_.replaced.FlavorOf(pod_set, resource);
        if (original != flavor) {
          representative = kWorstMode;
          std::string name = original == kNoId ? "" : state_.flavor_names.Name(original);
          refusals.push_back({RefusalKind::kReplacedSliceFlavor, flavor, resource, std::move(name)});
          attempt.no_fit_reason = MostSevere(attempt.no_fit_reason, Reason::kNoMatchingFlavor);
          break;
        }
        request =
            SaturatingSub(request, subject_.replaced.RequestOf(subject_.replaced.At(pod_set), resource));
      }
    }
    Reason no_fit_reason = Reason::kEmpty;
    const GranularMode mode = FitsQuota(flavor, resource, request, assumed, refusals, no_fit_reason);
    attempt.no_fit_reason = MostSevere(attempt.no_fit_reason, no_fit_reason);
    attempt.borrow = std::max(attempt.borrow, mode.borrowing_level);
    if (IsBetter(representative, mode)) representative = mode;
    if (representative.mode == PreemptionMode::kNoFit) {
      if (state_.config.rules.scan_stops_at_first_missing_resource) break;
      continue;
    }
    choices.push_back({resource, flavor, PublicMode(mode.mode), mode.borrowing_level, 0});
  }
  attempt.mode = representative.mode;
  return representative;
}

bool FlavorScan::IsBetter(GranularMode a, GranularMode b) const {
  return IsPreferred(a, b, subject_.queue.spec.flavor_fungibility,
                     state_.config.rules.flavors_without_candidates_compete);
}

bool ConsidersPreemption(const State& state, NodeId queue, FlavorResourceId fr, Amount wanted,
                         const SubtreeHeight& height) {
  const Preemption& preemption = state.Queue(queue).spec.preemption;
  if (state.quota.limits().nominal(queue, fr) >= wanted || height.smaller_than_tree) return true;
  return preemption.borrow_within_cohort ||
         (state.config.fair_sharing && preemption.reclaim_within_cohort != PreemptionPolicy::kNever);
}

GranularMode FlavorScan::FitsQuota(FlavorId flavor, ResourceId resource, int64_t request,
                                   const Amounts& assumed, Refusals& refusals, Reason& no_fit_reason) {
  const Quota& quota = state_.quota;
  const FlavorResourceId fr = state_.FlavorResource(flavor, resource);
  const Amount before = AmountOf(assumed, fr), wanted = before + Amount(request);
  const Amount most = quota.limits().potential(subject_.queue_id, fr);
  if (wanted > most) {
    refusals.push_back(
        {RefusalKind::kExceedsCapacity, flavor, resource, CapacityExcess{before, Amount(request), most}});
    no_fit_reason = Reason::kExceedsMaxQuota;
    return {PreemptionMode::kNoFit, 0};
  }
  const SubtreeHeight height = LowestSubtreeThatFits(quota, subject_.queue_id, fr, wanted);
  const Amount available = quota.Available(subject_.queue_id, fr);
  if (wanted <= available) return {PreemptionMode::kFit, height.height};
  refusals.push_back(
      {RefusalKind::kShortOfQuota, flavor, resource, QuotaShortage{wanted - available, wanted, available}});
  if (ConsidersPreemption(state_, subject_.queue_id, fr, wanted, height)) {
    if (!oracle_.MayPreempt(subject_.queue_id)) return {PreemptionMode::kNoCandidates, height.height};
    return oracle_.SimulatePreemption(subject_.queue_id, subject_.workload_id, fr, wanted);
  }
  no_fit_reason = Reason::kWaitingForQuota;
  return {PreemptionMode::kNoFit, height.height};
}

}  // namespace kueue
