// Checks of a workload that precede flavor assignment. Mirrors
// pkg/workload/resources.go:ValidateAdmissibility (kueue ff69552e79).
#ifndef KUEUE_LIFECYCLE_ADMISSIBILITY_H_
#define KUEUE_LIFECYCLE_ADMISSIBILITY_H_

#include <string>

#include "state/state.h"

namespace kueue {

struct Inadmissibility {
  enum class Kind : uint8_t {
    kNone,
    kFailedChecks,  // An admission check is Retry or Rejected. Only the scheduler checks this.
    kNamespaceMissing,
    kNamespaceMismatch,
    kResources,
    kLimitRange,
  };
  Kind kind = Kind::kNone;
  // Depends on `kind`: the name of the namespace, or the validation errors of the pod templates.
  std::string what;
  bool of_v0_17 = false;  // Whether to use the wording of Kueue v0.17.

  bool IsNone() const { return kind == Kind::kNone; }
  // Returns the message of the QuotaReserved condition.
  Message ConditionMessage() const;
};

// The pod templates to validate. The scheduler validates the templates stored in the queue, in which the
// defaults are filled in. The workload controller validates the templates of the API object, so it does not
// detect errors caused by the defaults of a LimitRange.
enum class PodTemplates : uint8_t { kAdjusted, kAsWritten };

Inadmissibility ValidateAdmissibility(const State& state, const Workload& workload, NodeId queue,
                                      PodTemplates templates = PodTemplates::kAdjusted);

}  // namespace kueue

#endif  // KUEUE_LIFECYCLE_ADMISSIBILITY_H_
