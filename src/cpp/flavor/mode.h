// How well a flavor does: Kueue's modes and the preference between them.
// Mirrors pkg/scheduler/flavorassigner/flavorassigner.go (kueue ff69552e79).
#ifndef KUEUE_FLAVOR_MODE_H_
#define KUEUE_FLAVOR_MODE_H_

#include <climits>

#include "model/queue.h"

namespace kueue {

enum class Mode : uint8_t { kNoFit, kPreempt, kDeferredFit, kFit };

// What the flavor scan distinguishes, low to high.
enum class PreemptionMode : uint8_t { kNoFit, kNoCandidates, kPreempt, kReclaim, kFit };

inline Mode PublicMode(PreemptionMode mode) {
  switch (mode) {
    case PreemptionMode::kNoFit:
      return Mode::kNoFit;
    case PreemptionMode::kFit:
      return Mode::kFit;
    default:
      return Mode::kPreempt;
  }
}

struct GranularMode {
  PreemptionMode mode;
  int borrowing_level;
};
inline constexpr GranularMode kWorstMode{PreemptionMode::kNoFit, INT_MAX};
inline constexpr GranularMode kBestMode{PreemptionMode::kFit, 0};

// Whether `a` is better than `b`. Equal ones are not, so the earlier flavor stays. A flavor without
// candidates for preemption comes last, unless it competes as the others do
// (flavors_without_candidates_compete).
bool IsPreferred(GranularMode a, GranularMode b, const FlavorFungibility& fungibility,
                 bool without_candidates_compete = false);

// Whether the scan goes on to the next flavor after one that does as well as `mode`.
bool ShouldTryNextFlavor(GranularMode mode, const FlavorFungibility& fungibility);

}  // namespace kueue

#endif  // KUEUE_FLAVOR_MODE_H_
