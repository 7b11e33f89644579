// Reads the objects of dynamic resource allocation (DRA).
#ifndef KUEUE_OBJECTS_DEVICES_H_
#define KUEUE_OBJECTS_DEVICES_H_

#include <vector>

#include "model/devices.h"
#include "objects/value.h"

namespace kueue {

// Reads `deviceClassMappings` from the field `resources` of a Configuration.
std::vector<DeviceClassMapping> ReadDeviceClassMappings(const Value& resources);
DeviceClass ReadDeviceClass(const Value& object);
ResourceClaimTemplate ReadResourceClaimTemplate(const Value& object);
ResourceSlice ReadResourceSlice(const Value& object);

}  // namespace kueue

#endif  // KUEUE_OBJECTS_DEVICES_H_
