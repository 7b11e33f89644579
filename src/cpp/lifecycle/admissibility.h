// The checks of a workload that come before its flavors.
// Mirrors pkg/workload/resources.go:ValidateAdmissibility (kueue ff69552e79).
#ifndef KUEUE_LIFECYCLE_ADMISSIBILITY_H_
#define KUEUE_LIFECYCLE_ADMISSIBILITY_H_

#include <string>

#include "state/state.h"

namespace kueue {

struct Inadmissibility {
  enum class Kind : uint8_t {
    kNone,
    kFailedChecks,  // the scheduler's own: some check is in Retry or Rejected
    kNamespaceMissing,
    kNamespaceMismatch,
    kResources,
    kLimitRange,
  };
  Kind kind = Kind::kNone;
  std::string what;       // the namespace, or the errors of the pod templates
  bool of_v0_17 = false;  // told in that release's words

  bool IsNone() const { return kind == Kind::kNone; }
  // What QuotaReserved says while it lasts.
  Message ConditionMessage() const;
};

inline constexpr size_t kInadmissibilityKinds = CountOf<Inadmissibility::Kind>();

// The scheduler looks at pod templates as the queue holds them, with defaults filled in; the workload
// controller at those of the API. What only a LimitRange's defaults make wrong, it does not see.
enum class PodTemplates : uint8_t { kAdjusted, kAsWritten };

Inadmissibility ValidateAdmissibility(const State& state, const Workload& workload, NodeId queue,
                                      PodTemplates templates = PodTemplates::kAdjusted);

}  // namespace kueue

#endif  // KUEUE_LIFECYCLE_ADMISSIBILITY_H_
