// Topology usage of the placements of an assignment. Mirrors
// pkg/scheduler/flavorassigner/flavorassigner.go and pkg/cache/scheduler/tas_flavor_snapshot.go (kueue
// ff69552e79).
#ifndef KUEUE_FLAVOR_TOPOLOGY_USAGE_H_
#define KUEUE_FLAVOR_TOPOLOGY_USAGE_H_

#include <vector>

#include "flavor/assignment.h"
#include "state/state.h"

namespace kueue {

// Sets the topology usage of the assignment: the usage of its placements that exceeds the usage already
// charged for the workload's admission.
void SetNetUsage(State& state, Assignment& assignment, WorkloadId workload);
// Returns whether the pods of each domain currently fit, checking each domain separately.
bool HasRoom(const State& state, const TopologyUsages& usage);

}  // namespace kueue

#endif  // KUEUE_FLAVOR_TOPOLOGY_USAGE_H_
