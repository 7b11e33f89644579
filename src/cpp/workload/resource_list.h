// Arithmetic on resource lists. The result of each function contains the resource names of both lists.
// Mirrors pkg/util/resource/resource.go (kueue ff69552e79).
#ifndef KUEUE_WORKLOAD_RESOURCE_LIST_H_
#define KUEUE_WORKLOAD_RESOURCE_LIST_H_

#include "model/pod.h"

namespace kueue {

// Adds `more` to `sum`.
void AddTo(ResourceList* sum, const ResourceList& more);
// Sets each value to the maximum of its values in both lists.
void RaiseTo(ResourceList* highest, const ResourceList& other);
// Sets each value to the minimum of its values in both lists.
void LowerTo(ResourceList* lowest, const ResourceList& other);
// Adds the defaults of resources that are not in the list.
void FillIn(ResourceList* list, const ResourceList& defaults);

}  // namespace kueue

#endif  // KUEUE_WORKLOAD_RESOURCE_LIST_H_
