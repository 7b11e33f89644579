// Requests that count as other resources. Mirrors pkg/workload/workload.go:applyResourceTransformations
// (kueue ff69552e79).
#ifndef KUEUE_WORKLOAD_TRANSFORMATION_H_
#define KUEUE_WORKLOAD_TRANSFORMATION_H_

#include <vector>

#include "model/pod.h"
#include "workload/totals.h"

namespace kueue {

// What is retained, plus what the inputs generate. Outputs are never inputs again; a multiplier is the
// untransformed request, and 1 where there is none; a negative sum of outputs counts as 0 before it is added
// to what is retained.
ResourceList Transform(const ResourceList& requests,
                       const std::vector<ResourceTransformation>& transformations);

}  // namespace kueue

#endif  // KUEUE_WORKLOAD_TRANSFORMATION_H_
