// What a workload with an admission still holds, after pods that can be reclaimed or that an elastic job gave
// up. Mirrors pkg/workload/workload.go:totalRequestsFromAdmission,podSetsCountsAfterReclaim (kueue
// ff69552e79).
#ifndef KUEUE_STATE_HELD_H_
#define KUEUE_STATE_HELD_H_

#include "state/state.h"

namespace kueue {

// Pods of a pod set that count: its count, less those that can be reclaimed.
int64_t CountAfterReclaim(const State& state, const Workload& workload, const PodSetSpec& pod_set);

// Pods of an admitted pod set that hold quota: those admitted, or the fewer that count now.
int64_t HeldCount(const State& state, const Workload& workload, const PodSetAdmission& admitted);

// The part of an admitted pod set's usage that `held` of its pods have.
inline int64_t HeldUsage(int64_t usage, const PodSetAdmission& admitted, int64_t held) {
  return held < admitted.count && admitted.count != 0 ? SaturatingMul(usage / admitted.count, held) : usage;
}

}  // namespace kueue

#endif  // KUEUE_STATE_HELD_H_
