// Flavor assignment of a workload. Mirrors pkg/scheduler/flavorassigner/flavorassigner.go (kueue ff69552e79).
#ifndef KUEUE_FLAVOR_ASSIGNER_H_
#define KUEUE_FLAVOR_ASSIGNER_H_

#include <vector>

#include "absl/types/span.h"
#include "flavor/assignment.h"
#include "flavor/oracle.h"
#include "flavor/placer.h"
#include "flavor/scan.h"
#include "flavor/subject.h"
#include "state/state.h"

namespace kueue {

// Assigns flavors to the pod sets of a workload. A FlavorScan finds the flavor of each resource group, and
// the Placer then places the pod sets.
class FlavorAssigner {
 public:
  FlavorAssigner(const State& state, PreemptionOracle& oracle, Placer& placer,
                 const AssignmentSubject& subject)
      : state_(state), subject_(state, subject), placer_(placer), scan_(state, oracle, placer, subject_) {}
  FlavorAssigner(const FlavorAssigner&) = delete;
  FlavorAssigner& operator=(const FlavorAssigner&) = delete;

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
  void Prepare(int pod_set, const std::vector<int64_t>* counts, PodSetAssignment& result) const;
  // Returns true if flavors were assigned to every pod set of the group.
  bool AssignGroup(const PodSetGroup& group, const std::vector<int64_t>* counts, Assignment& assignment);
  // Searches for a flavor for each requested resource of the group. Stops at the first resource without a
  // suitable flavor.
  void FindFlavors(const PodSetGroup& group, const Requests& requests, const Amounts& assumed,
                   PodSetAssignment& found);
  // Splits the flavors chosen for a group into the assignments of its pod sets.
  void ShareOut(const PodSetAssignment& chosen, absl::Span<PodSetAssignment> members) const;
  // Adds the usage of the pod set to the usage of the assignment.
  void CountAsUsed(const PodSetAssignment& member, Assignment& assignment) const;
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
  const ResolvedSubject subject_;
  Placer& placer_;
  FlavorScan scan_;
  std::optional<TopologyAnswers> if_empty_;
};

}  // namespace kueue

#endif  // KUEUE_FLAVOR_ASSIGNER_H_
