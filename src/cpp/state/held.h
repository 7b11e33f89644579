// Quota still held by an admitted workload after some of its pods became reclaimable or an elastic job scaled
// down. Mirrors pkg/workload/workload.go:totalRequestsFromAdmission,podSetsCountsAfterReclaim (kueue
// ff69552e79).
#ifndef KUEUE_STATE_HELD_H_
#define KUEUE_STATE_HELD_H_

#include "state/state.h"

namespace kueue {

// Returns the count of the pod set minus its reclaimable pods.
int64_t CountAfterReclaim(const State& state, const Workload& workload, const PodSetSpec& pod_set);

// Returns the number of pods of an admitted pod set that still hold quota: the admitted count or, if lower,
// the current count.
int64_t HeldCount(const State& state, const Workload& workload, const PodSetAdmission& admitted);

// Returns the usage of `held` pods, given the usage of all pods of an admitted pod set.
inline int64_t HeldUsage(int64_t usage, const PodSetAdmission& admitted, int64_t held) {
  return held < admitted.count && admitted.count != 0 ? SaturatingMul(usage / admitted.count, held) : usage;
}

}  // namespace kueue

#endif  // KUEUE_STATE_HELD_H_
