// Reads pod templates. The functions read the fields that affect decisions and ignore all other fields. They
// throw an InvalidArgument error with the path of an invalid value, which starts with `where`.
#ifndef KUEUE_OBJECTS_POD_TEMPLATE_H_
#define KUEUE_OBJECTS_POD_TEMPLATE_H_

#include <string>
#include <utility>
#include <vector>

#include "model/pod.h"
#include "objects/value.h"

namespace kueue {

PodTemplate ReadPodTemplate(const Value& pod_template, const std::string& where);
// Reads the field `spec` of a pod or of a pod template.
PodTemplate ReadPodSpec(const Value& spec, const std::string& where);
Toleration ReadToleration(const Value& item, const std::string& where);

// Returns the template of a pod with one container that requests these amounts, by resource. Each amount must
// be a quantity in its string form.
using Requested = std::vector<std::pair<std::string, std::string>>;
PodTemplate PodRequesting(const Requested& requests);

}  // namespace kueue

#endif  // KUEUE_OBJECTS_POD_TEMPLATE_H_
