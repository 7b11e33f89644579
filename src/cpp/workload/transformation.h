// Transformation of requests into other resources. Mirrors
// pkg/workload/workload.go:applyResourceTransformations (kueue ff69552e79).
#ifndef KUEUE_WORKLOAD_TRANSFORMATION_H_
#define KUEUE_WORKLOAD_TRANSFORMATION_H_

#include <vector>

#include "model/pod.h"
#include "workload/totals.h"

namespace kueue {

// Returns the retained requests plus the generated ones. Outputs are never transformed again. Outputs are
// multiplied by the untransformed request for the resource `multiply_by`, or by 1 if there is none. A
// negative sum of outputs counts as 0 before it is added to the retained requests.
ResourceList Transform(const ResourceList& requests,
                       const std::vector<ResourceTransformation>& transformations);

}  // namespace kueue

#endif  // KUEUE_WORKLOAD_TRANSFORMATION_H_
