// Mirrors pkg/scheduler/flavorassigner/flavorassigner.go:isPreferred, shouldTryNextFlavor (kueue ff69552e79).
#include "flavor/mode.h"

namespace kueue {

bool IsPreferred(GranularMode a, GranularMode b, const FlavorFungibility& fungibility,
                 bool without_candidates_compete) {
  if (a.mode == PreemptionMode::kNoFit) return false;
  if (b.mode == PreemptionMode::kNoFit) return true;
  const bool a_has_none = a.mode == PreemptionMode::kNoCandidates;
  const bool b_has_none = b.mode == PreemptionMode::kNoCandidates;
  if (a_has_none != b_has_none && !without_candidates_compete) return !a_has_none;
  const bool lower_level = a.borrowing_level < b.borrowing_level;
  if (fungibility.preference == FungibilityPreference::kPreemptionOverBorrowing) {
    return a.borrowing_level != b.borrowing_level ? lower_level : a.mode > b.mode;
  }
  return a.mode != b.mode ? a.mode > b.mode : lower_level;
}

bool ShouldTryNextFlavor(GranularMode mode, const FlavorFungibility& fungibility) {
  if (mode.mode == PreemptionMode::kNoFit || mode.mode == PreemptionMode::kNoCandidates) return true;
  const bool preempts = mode.mode == PreemptionMode::kPreempt || mode.mode == PreemptionMode::kReclaim;
  if (preempts && fungibility.when_can_preempt == FungibilityPolicy::kTryNextFlavor) return true;
  return mode.borrowing_level != 0 && fungibility.when_can_borrow == FungibilityPolicy::kTryNextFlavor;
}

}  // namespace kueue
