// Determines whether the scheduler treats two pods as equal. Mirrors pkg/util/pod/pod.go:SpecShape (kueue
// ff69552e79).
#ifndef KUEUE_WORKLOAD_SHAPE_H_
#define KUEUE_WORKLOAD_SHAPE_H_

#include <string>

#include "model/pod.h"

namespace kueue {

// Returns the relevant fields as a string. Two pods have the same string only if their relevant fields are
// equal. The relevant fields are the adjusted requests of each container and of the pod, the overhead, and
// the template's `shape`. Limits, images, names and labels are ignored.
std::string SpecShape(const PodTemplate& adjusted);

}  // namespace kueue

#endif  // KUEUE_WORKLOAD_SHAPE_H_
