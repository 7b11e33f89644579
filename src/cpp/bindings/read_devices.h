// Converts device objects and device class mappings to values of the core.
#ifndef KUEUE_BINDINGS_READ_DEVICES_H_
#define KUEUE_BINDINGS_READ_DEVICES_H_

#include <vector>

#include "bindings/pybind.h"
#include "model/devices.h"

namespace kueue::python {

std::vector<DeviceClassMapping> ReadDeviceClassMappings(const py::handle& resources);
DeviceClass ReadDeviceClass(const py::handle& object);
ResourceClaimTemplate ReadResourceClaimTemplate(const py::handle& object);
ResourceSlice ReadResourceSlice(const py::handle& object);

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_READ_DEVICES_H_
