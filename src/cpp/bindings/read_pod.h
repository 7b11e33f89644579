// Converts a PodTemplateSpec, parsed from JSON, to the core's PodTemplate.
#ifndef KUEUE_BINDINGS_READ_POD_H_
#define KUEUE_BINDINGS_READ_POD_H_

#include <string>
#include <utility>
#include <vector>

#include "bindings/pybind.h"
#include "model/pod.h"

namespace kueue::python {

// Reads the fields that affect decisions and ignores all other fields. Raises InvalidSpecError with the path
// of an invalid value, relative to `base`.
PodTemplate ReadPodTemplate(const py::handle& pod_template, const std::string& base);

// Returns the template of a pod with one container that requests these amounts, by resource. Each amount must
// be a quantity in its string form.
using Requested = std::vector<std::pair<std::string, std::string>>;
PodTemplate PodRequesting(const Requested& requests);

// Reads one toleration of a pod spec.
Toleration ReadToleration(const py::handle& item, const std::string& where);

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_READ_POD_H_
