// Which names, classes and flavor resources something that is there refers to.
#ifndef KUEUE_PERSIST_USED_H_
#define KUEUE_PERSIST_USED_H_

#include <vector>

#include "persist/renumber.h"
#include "state/state.h"

namespace kueue {

// Of all the states, which have the same ids. Their pending queues forget what is empty. It `may_end` in the
// midst, as Poll() may.
Marks UsedIn(const std::vector<State*>& states, bool may_end);

}  // namespace kueue

#endif  // KUEUE_PERSIST_USED_H_
