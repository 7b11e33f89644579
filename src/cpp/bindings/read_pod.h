// Reads a PodTemplateSpec, as JSON has it, into the core's PodTemplate.
#ifndef KUEUE_BINDINGS_READ_POD_H_
#define KUEUE_BINDINGS_READ_POD_H_

#include <string>

#include "bindings/pybind.h"
#include "model/pod.h"

namespace kueue::python {

// What decides about admission; all other fields are passed over. InvalidSpecError names the path of what is
// wrong, below `base`.
PodTemplate ReadPodTemplate(const py::handle& pod_template, const std::string& base);

// One toleration of a pod's spec.
Toleration ReadToleration(const py::handle& item, const std::string& where);

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_READ_POD_H_
