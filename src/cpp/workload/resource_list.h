// Arithmetic on lists of resources, name by name over the union of the names.
// Mirrors pkg/util/resource/resource.go (kueue ff69552e79).
#ifndef KUEUE_WORKLOAD_RESOURCE_LIST_H_
#define KUEUE_WORKLOAD_RESOURCE_LIST_H_

#include "model/pod.h"

namespace kueue {

// sum += more.
void AddTo(ResourceList* sum, const ResourceList& more);
// Keeps the higher of two values.
void RaiseTo(ResourceList* highest, const ResourceList& other);
// Keeps the lower of two values.
void LowerTo(ResourceList* lowest, const ResourceList& other);
// Keeps what is there already.
void FillIn(ResourceList* list, const ResourceList& defaults);

}  // namespace kueue

#endif  // KUEUE_WORKLOAD_RESOURCE_LIST_H_
