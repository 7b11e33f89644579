// Reads a Configuration of Kueue.
#ifndef KUEUE_OBJECTS_CONFIGURATION_H_
#define KUEUE_OBJECTS_CONFIGURATION_H_

#include "model/config.h"
#include "objects/value.h"
#include "workload/transformation.h"

namespace kueue {

Config ReadConfig(const Value& configuration);
// Returns the fields of a Configuration that affect the requests of pods.
RequestsConfig ReadRequestsConfig(const Value& configuration);

}  // namespace kueue

#endif  // KUEUE_OBJECTS_CONFIGURATION_H_
