// Reads Workloads.
#ifndef KUEUE_OBJECTS_WORKLOAD_H_
#define KUEUE_OBJECTS_WORKLOAD_H_

#include <string>

#include "engine/engine.h"
#include "objects/value.h"

namespace kueue {

// Reads the metadata and the spec of a Workload.
WorkloadObject ReadWorkload(const Value& object);
WorkloadStatus ReadStatus(const Value& status);
// Reads a list of pod set updates, whose JSON text is `json`; the text is empty if the list is empty.
PodSetUpdates ReadPodSetUpdates(const Value& list, std::string json);

}  // namespace kueue

#endif  // KUEUE_OBJECTS_WORKLOAD_H_
