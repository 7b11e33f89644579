// Arithmetic on resource lists, by resource name over the union of the names. Mirrors
// pkg/util/resource/resource.go (kueue ff69552e79).
#ifndef KUEUE_WORKLOAD_RESOURCE_LIST_H_
#define KUEUE_WORKLOAD_RESOURCE_LIST_H_

#include "model/pod.h"

namespace kueue {

// Adds `more` to `sum`.
void AddTo(ResourceList* sum, const ResourceList& more);
// Raises each value to that of `other` if that is higher.
void RaiseTo(ResourceList* highest, const ResourceList& other);
// Lowers each value to that of `other` if that is lower.
void LowerTo(ResourceList* lowest, const ResourceList& other);
// Adds the defaults of resources that are not in the list.
void FillIn(ResourceList* list, const ResourceList& defaults);

}  // namespace kueue

#endif  // KUEUE_WORKLOAD_RESOURCE_LIST_H_
