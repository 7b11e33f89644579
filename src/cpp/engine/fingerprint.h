// One number for all that decides what happens next, so that a state that comes again is recognised.
#ifndef KUEUE_ENGINE_FINGERPRINT_H_
#define KUEUE_ENGINE_FINGERPRINT_H_

#include <cstdint>

#include "state/state.h"

namespace kueue {

// Equal for two states of one engine, or of one that was saved and loaded, from which the same cycles follow
// while the clock stands still and nothing is applied: who waits where and with what progress, who holds what
// since when, in which condition. Counters that only grow are left out. The configuration and the objects are
// not looked at. With a `root`, of the tree of cohorts (or the lone ClusterQueue) alone that it is the root
// of.
uint64_t Fingerprint(const State& state, NodeId root = kNoId);

}  // namespace kueue

#endif  // KUEUE_ENGINE_FINGERPRINT_H_
