// Kueue's assignment modes of a flavor, and the preference between them. Mirrors
// pkg/scheduler/flavorassigner/flavorassigner.go (kueue ff69552e79).
#ifndef KUEUE_FLAVOR_MODE_H_
#define KUEUE_FLAVOR_MODE_H_

#include <climits>

#include "model/queue.h"

namespace kueue {

enum class Mode : uint8_t { kNoFit, kPreempt, kDeferredFit, kFit };

// Detailed assignment modes used during the flavor scan, from worst to best.
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

// Returns whether `a` is preferred over `b`. Returns false for equal modes, so that the earlier flavor is
// kept. Unless `without_candidates_compete` is set (rule flavors_without_candidates_compete), a flavor
// without preemption candidates is preferred only to flavors that do not fit at all.
bool IsPreferred(GranularMode a, GranularMode b, const FlavorFungibility& fungibility,
                 bool without_candidates_compete = false);

// Returns whether the scan also tries the next flavor, given the mode of the current one.
bool ShouldTryNextFlavor(GranularMode mode, const FlavorFungibility& fungibility);

}  // namespace kueue

#endif  // KUEUE_FLAVOR_MODE_H_
