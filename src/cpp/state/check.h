// The invariants of a State, recomputed from scratch. Test builds (KUEUE_CHECK) do so after every change.
#ifndef KUEUE_STATE_CHECK_H_
#define KUEUE_STATE_CHECK_H_

#include <string>
#include <vector>

#include "state/state.h"

namespace kueue {

// One text for each invariant that does not hold between two steps; none where all do:
// - the forest: children, roots, heights and order follow from the parents;
// - the tables: quotas follow from the specs, usage from the admissions of the workloads, bottom up;
// - the workloads: each is in one place, none is lost, what it charges follows from its admission, its
//   conditions and its class agree with it;
// - the topologies: what is free in each leaf follows from nodes and pods, what is used from places;
// - the queues: what Inspect() (queue/check.h) looks at, and that they hold whom they should.
std::vector<std::string> Check(const State& state);

// The parts of it.
void CheckForest(const State& state, std::vector<std::string>& problems);
void CheckTables(const State& state, std::vector<std::string>& problems);
void CheckWorkloads(const State& state, std::vector<std::string>& problems);
void CheckTopologies(const State& state, std::vector<std::string>& problems);

}  // namespace kueue

#endif  // KUEUE_STATE_CHECK_H_
