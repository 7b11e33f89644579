// The state without what is gone: names that nothing refers to are forgotten, and what is left is numbered
// in an order that tells only what there is.
#ifndef KUEUE_PERSIST_COMPACT_H_
#define KUEUE_PERSIST_COMPACT_H_

#include <cstddef>

#include "state/state.h"

namespace kueue {

// How many names, classes, cells and free places there are: what Compact() may make fewer.
size_t EntriesOf(const State& state);

// Numbers everything anew: workloads in the order of submission, ClusterQueues before Cohorts, and names,
// classes and cells in the order of their texts. No decision depends on these numbers, so what goes on is
// what would have gone on; two states in which the same is there have the same numbers, whatever was there
// before. Serial numbers of workloads stay. Ends the validity of all ids. Where it `may_end` in the midst, as
// Poll() may, a state is left that is of no use.
void Compact(State& state, bool may_end = false);

// The names alone, for those who still hold ids.
State NamesOf(const State& state);

}  // namespace kueue

#endif  // KUEUE_PERSIST_COMPACT_H_
