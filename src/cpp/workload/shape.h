// What makes two pods alike for the scheduler. Mirrors pkg/util/pod/pod.go:SpecShape (kueue ff69552e79).
#ifndef KUEUE_WORKLOAD_SHAPE_H_
#define KUEUE_WORKLOAD_SHAPE_H_

#include <string>

#include "model/pod.h"

namespace kueue {

// An injective text of what counts: the adjusted requests of each container and of the pod, the overhead, and
// the template's own `shape`. Limits, images, names and labels never count.
std::string SpecShape(const PodTemplate& adjusted);

}  // namespace kueue

#endif  // KUEUE_WORKLOAD_SHAPE_H_
