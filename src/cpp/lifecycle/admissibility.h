// The checks of a workload that come before its flavors.
// Mirrors pkg/workload/resources.go:ValidateAdmissibility (kueue ff69552e79).
#ifndef KUEUE_LIFECYCLE_ADMISSIBILITY_H_
#define KUEUE_LIFECYCLE_ADMISSIBILITY_H_

#include <string>

#include "state/state.h"

namespace kueue {

struct Inadmissibility {
  std::string text;  // empty: admissible
  bool namespace_mismatch = false;
};

// The scheduler looks at pod templates as the queue holds them, with defaults filled in; the workload
// controller at those of the API. What only a LimitRange's defaults make wrong, it does not see.
enum class PodTemplates : uint8_t { kAdjusted, kAsWritten };

Inadmissibility ValidateAdmissibility(const State& state, const Workload& workload, NodeId queue,
                                      PodTemplates templates = PodTemplates::kAdjusted);

}  // namespace kueue

#endif  // KUEUE_LIFECYCLE_ADMISSIBILITY_H_
