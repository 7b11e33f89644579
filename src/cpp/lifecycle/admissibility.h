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

Inadmissibility ValidateAdmissibility(const State& state, const Workload& workload, NodeId queue);

}  // namespace kueue

#endif  // KUEUE_LIFECYCLE_ADMISSIBILITY_H_
