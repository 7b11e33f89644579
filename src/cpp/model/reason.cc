#include "model/reason.h"

namespace kueue {

Interner<Reason> KnownReasons() {
  Interner<Reason> reasons;
  reasons.Intern("");
#define KUEUE_REASON_NAME(name) reasons.Intern(#name);
  KUEUE_REASONS(KUEUE_REASON_NAME)
#undef KUEUE_REASON_NAME
  return reasons;
}

Reason ReasonOf(PreemptionReason reason) {
  switch (reason) {
    case PreemptionReason::kInClusterQueue:
      return Reason::kInClusterQueue;
    case PreemptionReason::kInCohortReclamation:
      return Reason::kInCohortReclamation;
    case PreemptionReason::kInCohortFairSharing:
      return Reason::kInCohortFairSharing;
    case PreemptionReason::kInCohortReclaimWhileBorrowing:
      return Reason::kInCohortReclaimWhileBorrowing;
  }
  return Reason::kEmpty;
}

}  // namespace kueue
