// What of a changed object counts, where Kueue looks closer than at whether it was written.
#ifndef KUEUE_ENGINE_CHANGES_H_
#define KUEUE_ENGINE_CHANGES_H_

#include <vector>

#include "model/queue.h"

namespace kueue {

// Whether resource groups are the same to a tree: covered resources are a set, flavors stand in their order.
// Mirrors pkg/cache/scheduler/clusterqueue.go:updateQuotasAndResourceGroups (kueue ff69552e79).
bool AllocateAlike(const std::vector<ResourceGroup>& a, const std::vector<ResourceGroup>& b);

// Whether workloads are matched with both flavors alike. Mirrors
// pkg/controller/core/resourceflavor_controller.go:flavorSchedulingFieldsChanged (kueue ff69552e79).
bool MatchAlike(const ResourceFlavor& a, const ResourceFlavor& b);

}  // namespace kueue

#endif  // KUEUE_ENGINE_CHANGES_H_
