// A hash of everything that determines the next decisions, used to detect repeated states.
#ifndef KUEUE_ENGINE_FINGERPRINT_H_
#define KUEUE_ENGINE_FINGERPRINT_H_

#include <cstdint>

#include "state/state.h"

namespace kueue {

// Returns a fingerprint. If two states of one engine, possibly saved and loaded, have equal fingerprints, the
// same cycles follow as long as neither the time nor an object changes. The fingerprint covers pending
// workloads with their scan progress, quota reservations with their times, and conditions. The fingerprint
// ignores the configuration, the objects, and counters that only increase. If `root` is given, the
// fingerprint covers only the tree of this root or of this ClusterQueue without a cohort.
uint64_t Fingerprint(const State& state, NodeId root = kNoId);

}  // namespace kueue

#endif  // KUEUE_ENGINE_FINGERPRINT_H_
