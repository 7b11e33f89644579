// Checks the invariants of a State by recomputing its contents from scratch. Builds with KUEUE_CHECK check
// the invariants after every change.
#ifndef KUEUE_STATE_CHECK_H_
#define KUEUE_STATE_CHECK_H_

#include <string>
#include <vector>

#include "state/state.h"

namespace kueue {

// Returns one description per violated invariant; the result is empty if all invariants hold. Call this
// function only between two steps of the engine. The invariants cover:
// - the forest: children, roots, heights and order follow from the parents;
// - the tables: quotas follow from the specs, and usage follows from the admissions of the workloads, from
//   the bottom up;
// - the workloads: each has exactly one place in the queues, and its charges, conditions and class are
//   consistent;
// - the topologies: free capacity follows from nodes and pods, and usage follows from topology assignments;
// - the queues: the checks of Inspect() (queue/check.h), and each queue holds the expected workloads.
std::vector<std::string> Check(const State& state);

// The individual checks. Each function appends its findings to `problems`.
void CheckForest(const State& state, std::vector<std::string>& problems);
void CheckTables(const State& state, std::vector<std::string>& problems);
void CheckWorkloads(const State& state, std::vector<std::string>& problems);
void CheckTopologies(const State& state, std::vector<std::string>& problems);

}  // namespace kueue

#endif  // KUEUE_STATE_CHECK_H_
