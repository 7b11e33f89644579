// Scan of the flavors of a resource group until one is suitable. Mirrors
// pkg/scheduler/flavorassigner/flavorassigner.go:findFlavorForPodSets, fitsResourceQuota (kueue ff69552e79).
#ifndef KUEUE_FLAVOR_SCAN_H_
#define KUEUE_FLAVOR_SCAN_H_

#include <optional>

#include "flavor/assignment.h"
#include "flavor/eligibility.h"
#include "flavor/oracle.h"
#include "flavor/placer.h"
#include "flavor/subject.h"
#include "state/state.h"

namespace kueue {

class FlavorScan {
 public:
  // All referenced objects must outlive the scan.
  FlavorScan(const State& state, PreemptionOracle& oracle, Placer& placer, const ResolvedSubject& subject)
      : state_(state), subject_(subject), oracle_(oracle), placer_(placer) {}

  // Searches for a flavor for the resources of the resource group and adds the result to `found`. Returns
  // whether a flavor was found; otherwise `found` contains only the refusals.
  bool Find(const PodSetGroup& group, const Requests& requests, ResourceId resource, int resource_group,
            const Amounts& assumed, PodSetAssignment& found);
  // Returns whether the group may use the flavor for the resource, if quota is not considered.
  bool MayUse(const PodSetGroup& group, int resource_group, FlavorId flavor, ResourceId resource) {
    return !WhySkipped(flavor, group, resource) && !WhyIneligible(group, resource_group, flavor, nullptr);
  }

 private:
  using Choices = absl::InlinedVector<FlavorChoice, 2>;

  // Returns the requests for resources of the resource group. Returns either `requests` itself or `some`,
  // which then contains a filtered copy.
  const Requests& OfResourceGroup(const Requests& requests, int resource_group, Requests& some) const;
  // Evaluates the flavor of `attempt` for the group. For each resource that fits, adds a choice to `choices`.
  GranularMode TryFlavor(const PodSetGroup& group, const Requests& requests, const Amounts& assumed,
                         FlavorAttempt& attempt, Choices& choices, Refusals& refusals);
  GranularMode FitsQuota(FlavorId flavor, ResourceId resource, int64_t request, const Amounts& assumed,
                         Refusals& refusals, Reason& no_fit_reason);
  bool IsPinnedAway(FlavorId flavor, const PodSetGroup& group, ResourceId resource) const;
  // Returns why the flavor is not tried: the workload's annotation, or a recomputation.
  std::optional<RefusalKind> WhySkipped(FlavorId flavor, const PodSetGroup& group, ResourceId resource) const;
  int NextFlavorToTry(int pod_set, ResourceId resource) const;
  bool IsBetter(GranularMode a, GranularMode b) const;
  std::optional<Refusal> WhyIneligible(const PodSetGroup& group, int resource_group, FlavorId flavor,
                                       const LabelKeys* group_keys);

  const State& state_;
  const ResolvedSubject& subject_;
  PreemptionOracle& oracle_;
  Placer& placer_;
};

// Returns the severity of a reason for not fitting. Among alternative flavors, the least severe reason is
// reported; among requirements that must all be met, the most severe reason is reported.
int Severity(Reason reason);
inline Reason MostSevere(Reason a, Reason b) { return Severity(a) >= Severity(b) ? a : b; }

// Returns whether Kueue considers preemption for a request of the amount `wanted`. `height` is the result of
// LowestSubtreeThatFits() for the request. Mirrors
// pkg/scheduler/flavorassigner/flavorassigner.go:fitsResourceQuota, canPreemptWhileBorrowing.
bool ConsidersPreemption(const State& state, NodeId queue, FlavorResourceId fr, Amount wanted,
                         const SubtreeHeight& height);

}  // namespace kueue

#endif  // KUEUE_FLAVOR_SCAN_H_
