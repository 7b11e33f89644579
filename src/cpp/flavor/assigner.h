// Flavor assignment of a workload. Mirrors pkg/scheduler/flavorassigner/flavorassigner.go (kueue ff69552e79).
#ifndef KUEUE_FLAVOR_ASSIGNER_H_
#define KUEUE_FLAVOR_ASSIGNER_H_

#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "flavor/assignment.h"
#include "flavor/oracle.h"
#include "flavor/placer.h"
#include "state/state.h"

namespace kueue {

// For each pod set and resource, the flavor that a recomputation within the same cycle must use.
using NominationMapping = std::vector<absl::InlinedVector<std::pair<ResourceId, FlavorId>, 2>>;

// The workload to assign flavors to, and its queue.
struct AssignmentSubject {
  NodeId queue;
  WorkloadId workload;
  WorkloadId replaced;              // Elastic slice that the workload replaces, or kNoId.
  const NominationMapping* pinned;  // If null, all flavors may be assigned.
  // Whether the request is known not to fit in the first flavor, which saves an attempt.
  bool lacks_quota = false;
};

// A group of pod sets that must be assigned the same flavors. Each pod set is identified by its index in the
// equivalence class. Most groups contain a single pod set.
using PodSetGroup = absl::InlinedVector<int, 1>;
std::vector<PodSetGroup> GroupsOf(const EquivalenceClass& cls);

class FlavorAssigner {
 public:
  FlavorAssigner(const State& state, PreemptionOracle& oracle, Placer& placer,
                 const AssignmentSubject& subject)
      : state_(state),
        queue_id_(subject.queue),
        queue_(state.Queue(subject.queue)),
        workload_id_(subject.workload),
        workload_(state.At(subject.workload)),
        class_(state.Class(workload_.cls)),
        replaced_(subject.replaced),
        oracle_(oracle),
        placer_(placer),
        pinned_(subject.pinned),
        lacks_quota_(subject.lacks_quota) {}

  // Computes the flavor assignment and overwrites the previous content of `assignment`. If `counts` is given,
  // the pod sets are scaled to these numbers of pods.
  void Assign(Assignment& assignment, const std::vector<int64_t>* counts = nullptr);
  // Completes an assignment whose flavors are known and fit: places its pod sets if necessary.
  void Place(Assignment& assignment) { Conclude(assignment, /*complete=*/true); }
  // Returns the placement in an empty cluster that the last assignment needed to know; nullopt if it needed
  // none.
  std::optional<TopologyAnswers> TakePlacementIfEmpty() { return std::move(if_empty_); }

  // Returns the requests of the pod set scaled to `count` pods, without the resource `pods`.
  static Requests Scaled(const PodSetTotals& totals, int64_t count);

 private:
  using Choices = absl::InlinedVector<FlavorChoice, 2>;
  using Group = PodSetGroup;

  void Prepare(int pod_set, const std::vector<int64_t>* counts, PodSetAssignment& result) const;
  // Returns true if flavors were assigned to every pod set of the group.
  bool AssignGroup(const Group& group, const std::vector<int64_t>* counts, Assignment& assignment);
  // Searches for a flavor for each requested resource of the group. Stops at the first resource without a
  // suitable flavor.
  void FindFlavors(const Group& group, const Requests& requests, const Amounts& assumed,
                   PodSetAssignment& found);
  // Splits the flavors chosen for a group into the assignments of its pod sets.
  void ShareOut(const PodSetAssignment& chosen, absl::Span<PodSetAssignment> members) const;
  // Adds the usage of the pod set to the usage of the assignment.
  void CountAsUsed(const PodSetAssignment& member, Assignment& assignment) const;
  // Returns the requests for resources of the resource group. Returns either `requests` itself or `some`,
  // which then contains a filtered copy.
  const Requests& OfResourceGroup(const Requests& requests, int resource_group, Requests& some) const;
  // Searches for a flavor for the resources of the resource group and adds the result to `found`. Returns
  // whether a flavor was found; otherwise `found` contains only the refusals.
  bool FindFlavor(const Group& group, const Requests& requests, ResourceId resource, int resource_group,
                  const Amounts& assumed, PodSetAssignment& found);
  // Evaluates the flavor of `attempt` for the group. For each resource that fits, adds a choice to `choices`.
  GranularMode TryFlavor(const Group& group, const Requests& requests, const Amounts& assumed,
                         FlavorAttempt& attempt, Choices& choices, Refusals& refusals);
  GranularMode FitsQuota(FlavorId flavor, ResourceId resource, int64_t request, const Amounts& assumed,
                         Refusals& refusals, Reason& no_fit_reason);
  bool IsPinnedAway(FlavorId flavor, const Group& group, ResourceId resource) const;
  int NextFlavorToTry(int pod_set, ResourceId resource) const;
  // Return data from the admission of the replaced slice: the usage of a resource, the pod set at an index,
  // or the pod set with a given name.
  int64_t ReplacedRequest(const PodSetAdmission* old, ResourceId resource) const;
  const PodSetAdmission* ReplacedAt(int pod_set) const;
  const PodSetAdmission* ReplacedNamed(const std::string& name) const;
  FlavorId ReplacedFlavor(int pod_set, ResourceId resource) const;
  bool IsBetter(GranularMode a, GranularMode b) const;
  std::optional<Refusal> WhyIneligible(const Group& group, int resource_group, FlavorId flavor,
                                       const LabelKeys* group_keys);
  // Returns whether a pod set without requests inherits the flavor choice of its group. Only flavors with a
  // topology are inherited.
  bool Inherits(const PodSetAssignment& member, const FlavorChoice& choice) const;
  void TakeAdmitted(PodSetAssignment& result) const;
  static void Rescale(PodSetAssignment& result, int64_t before);
  void PlacePodSets(Assignment& assignment);
  void SetMode(Assignment& assignment, int pod_set, Mode mode) const;
  bool TakeFirstFlavor(PodSetAssignment& pod_set, Assignment& assignment);
  void Conclude(Assignment& assignment, bool complete);
  Reason NoFitReason(const Assignment& assignment) const;

  const State& state_;
  const NodeId queue_id_;
  const ClusterQueue& queue_;
  const WorkloadId workload_id_;
  const Workload& workload_;
  const EquivalenceClass& class_;
  const WorkloadId replaced_;
  PreemptionOracle& oracle_;
  Placer& placer_;
  const NominationMapping* pinned_;
  const bool lacks_quota_;
  std::optional<TopologyAnswers> if_empty_;
};

// Returns the severity of a reason for not fitting. Among alternative flavors, the least severe reason is
// reported; among requirements that must all be met, the most severe reason is reported.
int Severity(Reason reason);
inline Reason MostSevere(Reason a, Reason b) { return Severity(a) >= Severity(b) ? a : b; }

// Returns whether Kueue considers preemption for a request of the amount `wanted`. `height` is the result of
// Quota::LowestSubtreeThatFits() for the request. Mirrors
// pkg/scheduler/flavorassigner/flavorassigner.go:fitsResourceQuota, canPreemptWhileBorrowing.
bool ConsidersPreemption(const State& state, NodeId queue, FlavorResourceId fr, Amount wanted,
                         const Quota::Height& height);

}  // namespace kueue

#endif  // KUEUE_FLAVOR_ASSIGNER_H_
