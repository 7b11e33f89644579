// The controller of concurrent admission, which keeps a parent and its variants consistent: at most one
// variant runs, and the parent has its admission. Mirrors pkg/controller/concurrentadmission/controller.go
// (kueue ff69552e79).
#ifndef KUEUE_LIFECYCLE_FAMILIES_H_
#define KUEUE_LIFECYCLE_FAMILIES_H_

#include <string>
#include <utility>
#include <vector>

#include "state/state.h"

namespace kueue {

inline constexpr char kVariantGate[] = "kueue.x-k8s.io/concurrent-admission";

// Reconciles each parent with its variants, in the order of `namespace/name`. Returns whether anything
// changed.
bool ReconcileFamilies(State& state);

// The objects that Kueue would create and delete now; the caller owns the objects. First the variants to
// create, each by its parent and its flavor; then the variants whose parent or flavor is gone.
using FamilyChanges = std::pair<std::vector<std::pair<Serial, std::string>>, std::vector<Serial>>;
FamilyChanges FamilyChangesOf(const State& state);

}  // namespace kueue

#endif  // KUEUE_LIFECYCLE_FAMILIES_H_
