// Chooses the flavors of a workload.
// Mirrors pkg/scheduler/flavorassigner/flavorassigner.go (kueue ff69552e79).
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

// The flavors that a recomputation within a cycle keeps to, by pod set and resource.
using NominationMapping = std::vector<absl::InlinedVector<std::pair<ResourceId, FlavorId>, 2>>;

// Whose flavors are chosen, and where.
struct AssignmentSubject {
  NodeId queue;
  WorkloadId workload;
  WorkloadId replaced;              // the elastic slice that the workload takes the place of, or kNoId
  const NominationMapping* pinned;  // null: any flavor may be chosen
};

// The pod sets of a class that get the same flavors, by their index; most are a group of their own.
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
        pinned_(subject.pinned) {}

  // Where `counts` is given, each pod set is scaled to its count. An assignment of before goes.
  void Assign(Assignment& assignment, const std::vector<int64_t>* counts = nullptr);

  // What the pod set asks for when scaled to `count` pods, without `pods`.
  static Requests Scaled(const PodSetTotals& totals, int64_t count);

 private:
  using Choices = absl::InlinedVector<FlavorChoice, 2>;
  using Group = PodSetGroup;

  void Prepare(int pod_set, const std::vector<int64_t>* counts, PodSetAssignment& result) const;
  // Returns whether every pod set of the group got what it asked for, so that the next group may go on.
  bool AssignGroup(const Group& group, const std::vector<int64_t>* counts, Assignment& assignment);
  // Looks for a flavor of each resource that the group asks for, until one has none.
  void FindFlavors(const Group& group, const Requests& requests, const Amounts& assumed,
                   PodSetAssignment& found);
  // Gives each pod set of a group what was chosen for it and the pod set asks for.
  void ShareOut(const PodSetAssignment& chosen, absl::Span<PodSetAssignment> members) const;
  // Counts what was chosen for the pod set as used.
  void CountAsUsed(const PodSetAssignment& member, Assignment& assignment) const;
  // The requests for resources of the group: all that there are, or a copy of some in `some`.
  const Requests& OfResourceGroup(const Requests& requests, int resource_group, Requests& some) const;
  // Adds what is found for the resources of the group to what was found for others; without any flavor that
  // will do, only what stands in the way is left. Whether there is one.
  bool FindFlavor(const Group& group, const Requests& requests, ResourceId resource, int resource_group,
                  const Amounts& assumed, PodSetAssignment& found);
  // How the flavor of the attempt does for the group, with a choice for each resource that it could hold.
  GranularMode TryFlavor(const Group& group, const Requests& requests, const Amounts& assumed,
                         FlavorAttempt& attempt, Choices& choices, Refusals& refusals);
  GranularMode FitsQuota(FlavorId flavor, ResourceId resource, int64_t request, const Amounts& assumed,
                         Refusals& refusals, Reason& no_fit_reason);
  bool IsPinnedAway(FlavorId flavor, const Group& group, ResourceId resource) const;
  int NextFlavorToTry(int pod_set, ResourceId resource) const;
  // What the slice that is replaced holds of a resource: in the pod set at this place, or in that of this
  // name.
  int64_t ReplacedRequest(const PodSetAdmission* old, ResourceId resource) const;
  const PodSetAdmission* ReplacedAt(int pod_set) const;
  const PodSetAdmission* ReplacedNamed(const std::string& name) const;
  FlavorId ReplacedFlavor(int pod_set, ResourceId resource) const;
  bool IsBetter(GranularMode a, GranularMode b) const;
  std::optional<Refusal> WhyIneligible(const Group& group, int resource_group, FlavorId flavor,
                                       const LabelKeys* group_keys);
  // What a pod set that asks for no resource gets: the flavors of its group that have a topology.
  bool Inherits(const PodSetAssignment& member, const FlavorChoice& choice) const;
  void TakeAdmitted(PodSetAssignment& result) const;
  static void Rescale(PodSetAssignment& result, int64_t before);
  void PlacePodSets(Assignment& assignment);
  void SetMode(Assignment& assignment, int pod_set, Mode mode) const;
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
};

// How severe a reason not to fit is: among alternatives the least severe counts, among needs the most severe.
int Severity(Reason reason);
inline Reason MostSevere(Reason a, Reason b) { return Severity(a) >= Severity(b) ? a : b; }

// Whether preemption is asked for room for a request that fits into the lowest subtree of `height` at most.
// Mirrors pkg/scheduler/flavorassigner/flavorassigner.go:fitsResourceQuota, canPreemptWhileBorrowing.
bool ConsidersPreemption(const State& state, NodeId queue, FlavorResourceId fr, Amount wanted,
                         const Quota::Height& height);

}  // namespace kueue

#endif  // KUEUE_FLAVOR_ASSIGNER_H_
