// Finds the names, classes and flavor resources that existing objects refer to.
#ifndef KUEUE_PERSIST_USED_H_
#define KUEUE_PERSIST_USED_H_

#include <vector>

#include "persist/renumber.h"
#include "state/state.h"

namespace kueue {

// Returns the ids that any of the states uses. An id must have the same meaning in all states. Removes empty
// buckets from the pending queues of the states. If `may_end` is set, a listener may abort the call (see
// Poll()).
Marks UsedIn(const std::vector<State*>& states, bool may_end);

}  // namespace kueue

#endif  // KUEUE_PERSIST_USED_H_
