// Removes unused names from a state and renumbers its ids in a canonical order.
#ifndef KUEUE_PERSIST_COMPACT_H_
#define KUEUE_PERSIST_COMPACT_H_

#include <cstddef>

#include "state/state.h"

namespace kueue {

// Returns the total number of names, classes, flavor resources and free slots. Compact() removes the unused
// entries.
size_t EntriesOf(const State& state);

// Renumbers all ids: workloads in the order of submission, ClusterQueues before Cohorts, and names, classes
// and flavor resources in the lexicographic order of their string forms. Renumbering does not change any
// decision. Afterwards, states with equal contents have equal ids, regardless of their history. Serial
// numbers of workloads do not change. Invalidates all ids. If `may_end` is set, a listener may abort the call
// (see Poll()). An aborted call leaves the state unusable.
void Compact(State& state, bool may_end = false);

// Returns a state that contains only a copy of the names, for callers that still use old ids.
State NamesOf(const State& state);

}  // namespace kueue

#endif  // KUEUE_PERSIST_COMPACT_H_
