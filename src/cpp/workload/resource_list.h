// Arithmetic on resource lists, by resource name over the union of the names. Mirrors
// pkg/util/resource/resource.go (kueue ff69552e79).
#ifndef KUEUE_WORKLOAD_RESOURCE_LIST_H_
#define KUEUE_WORKLOAD_RESOURCE_LIST_H_

#include "model/pod.h"

namespace kueue {

// Adds `more` to `sum`.
void AddTo(ResourceList* sum, const ResourceList& more);
// Replaces each value by the maximum of both lists.
void RaiseTo(ResourceList* highest, const ResourceList& other);
// Replaces each value by the minimum of both lists.
void LowerTo(ResourceList* lowest, const ResourceList& other);
// Adds the defaults of resources that are not in the list.
void FillIn(ResourceList* list, const ResourceList& defaults);

}  // namespace kueue

#endif  // KUEUE_WORKLOAD_RESOURCE_LIST_H_
