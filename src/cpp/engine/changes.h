// Comparisons of an object before and after a change. Kueue ignores an update of some objects unless specific
// fields differ.
#ifndef KUEUE_ENGINE_CHANGES_H_
#define KUEUE_ENGINE_CHANGES_H_

#include <vector>

#include "model/queue.h"

namespace kueue {

// Returns true if both lists of resource groups define the same quotas. Covered resources are compared as
// sets; flavors are compared in order. Mirrors
// pkg/cache/scheduler/clusterqueue.go:updateQuotasAndResourceGroups (kueue ff69552e79).
bool AllocateAlike(const std::vector<ResourceGroup>& a, const std::vector<ResourceGroup>& b);

// Returns true if both specs have the same cohort, stop policy, namespace selector and admission checks. If
// the flavors are the same too, a reconciliation of the queue's workloads has the same result. Kueue compares
// fewer fields
// (pkg/controller/core/workload_controller.go:workloadQueueHandler.Update, kueue ff69552e79).
bool ControlAlike(const ClusterQueueSpec& a, const ClusterQueueSpec& b);

// Returns true if all fields that affect scheduling are equal in both flavors. Mirrors
// pkg/controller/core/resourceflavor_controller.go:flavorSchedulingFieldsChanged (kueue ff69552e79).
bool MatchAlike(const ResourceFlavor& a, const ResourceFlavor& b);

}  // namespace kueue

#endif  // KUEUE_ENGINE_CHANGES_H_
