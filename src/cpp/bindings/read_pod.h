// Converts a PodTemplateSpec, parsed from JSON, to the core's PodTemplate.
#ifndef KUEUE_BINDINGS_READ_POD_H_
#define KUEUE_BINDINGS_READ_POD_H_

#include <string>

#include "bindings/pybind.h"
#include "model/pod.h"

namespace kueue::python {

// Reads the decision-relevant fields and ignores all others. Raises InvalidSpecError with the path of an
// invalid value, relative to `base`.
PodTemplate ReadPodTemplate(const py::handle& pod_template, const std::string& base);

// Reads one toleration of a pod spec.
Toleration ReadToleration(const py::handle& item, const std::string& where);

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_READ_POD_H_
