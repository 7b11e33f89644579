// Pod sets of a workload that must be placed in a topology. Mirrors
// pkg/scheduler/flavorassigner/tas_flavorassigner.go:WorkloadsTopologyRequests (kueue ff69552e79).
#ifndef KUEUE_FLAVOR_DEMANDS_H_
#define KUEUE_FLAVOR_DEMANDS_H_

#include <optional>
#include <string>

#include "flavor/assignment.h"
#include "state/state.h"

namespace kueue {

// Returns the entry for the pod set with this name in the workload's admission, or null if there is none. The
// admission owns the entry.
const PodSetAdmission* AdmittedAs(const Workload& workload, const std::string& pod_set);

// Returns whether the flavor has a topology whose tree is known.
inline bool HasTree(const State& state, FlavorId flavor) {
  return state.topology.made.capacity.Find(flavor) != nullptr;
}

// Finds the single flavor with a topology among the flavors of the pod set, or returns an error. If there are
// several such flavors, sets `names` to their names.
std::optional<RefusalKind> FindTopologyFlavor(const State& state, const PodSetAssignment& pod_set,
                                              FlavorId& flavor, std::string& names);

// Returns the pod sets to place for an assignment whose flavors have been chosen. Marks in the assignment the
// pod sets with an invalid request and the pod sets whose placement waits for a provisioning check.
TopologyDemands TopologyDemandsOf(const State& state, Assignment& assignment, NodeId queue,
                                  WorkloadId workload);

}  // namespace kueue

#endif  // KUEUE_FLAVOR_DEMANDS_H_
