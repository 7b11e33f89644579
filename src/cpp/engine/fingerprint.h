// A hash of everything that determines the next decisions, used to detect repeated states.
#ifndef KUEUE_ENGINE_FINGERPRINT_H_
#define KUEUE_ENGINE_FINGERPRINT_H_

#include <cstdint>

#include "state/state.h"

namespace kueue {

// Returns a fingerprint. If two states of one engine have equal fingerprints, their next cycles make the same
// decisions as long as neither the time nor an object changes. Fingerprints of saved and loaded states can be
// compared as well. The fingerprint covers pending workloads with their scan progress, quota reservations
// with their times, and conditions. The fingerprint ignores the configuration, the objects, and counters that
// only increase. If `root` is given, the fingerprint covers only the tree with this root, or only this
// ClusterQueue if it has no cohort.
uint64_t Fingerprint(const State& state, NodeId root = kNoId);

}  // namespace kueue

#endif  // KUEUE_ENGINE_FINGERPRINT_H_
