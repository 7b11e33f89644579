// Reads ResourceFlavors, queues, cohorts and admission checks.
#ifndef KUEUE_OBJECTS_QUEUES_H_
#define KUEUE_OBJECTS_QUEUES_H_

#include "model/queue.h"
#include "objects/value.h"

namespace kueue {

ResourceFlavor ReadFlavor(const Value& object);
ClusterQueueSpec ReadClusterQueue(const Value& object);
CohortSpec ReadCohort(const Value& object);
LocalQueueSpec ReadLocalQueue(const Value& object);
AdmissionCheckSpec ReadCheck(const Value& object);

Taint ReadTaint(const Value& object);

}  // namespace kueue

#endif  // KUEUE_OBJECTS_QUEUES_H_
