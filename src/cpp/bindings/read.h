// Converts the public objects (kueuepy.objects, frozen records) to values of the core.
#ifndef KUEUE_BINDINGS_READ_H_
#define KUEUE_BINDINGS_READ_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/pybind.h"
#include "engine/engine.h"
#include "model/config.h"
#include "model/devices.h"
#include "model/pod.h"
#include "model/queue.h"

namespace kueue::python {

// Objects of the API

ResourceFlavor ReadFlavor(const py::handle& object);
ClusterQueueSpec ReadClusterQueue(const py::handle& object);
CohortSpec ReadCohort(const py::handle& object);
LocalQueueSpec ReadLocalQueue(const py::handle& object);
AdmissionCheckSpec ReadCheck(const py::handle& object);
LimitRange ReadLimitRange(const py::handle& object);
// Parses pod set updates from a JSON text. An empty text means that there are no updates.
PodSetUpdates ReadPodSetUpdates(const std::string& json);
Node ReadNode(const py::handle& object);

std::vector<DeviceClassMapping> ReadDeviceClassMappings(const py::handle& resources);
DeviceClass ReadDeviceClass(const py::handle& object);
ResourceClaimTemplate ReadResourceClaimTemplate(const py::handle& object);
ResourceSlice ReadResourceSlice(const py::handle& object);

// A Pod of the cluster: its name, its state and its pod template.
struct PodObject {
  std::string ns, name;
  ClusterPod pod;
  PodTemplate spec;
};
PodObject ReadPod(const py::handle& object);
RuntimeClass ReadRuntimeClass(const py::handle& object);

// Functions for pod templates.

// Reads the fields that affect decisions and ignores all other fields. Raises InvalidSpecError with the path
// of an invalid value, relative to `base`.
PodTemplate ReadPodTemplate(const py::handle& pod_template, const std::string& base);

// Returns the template of a pod with one container that requests these amounts, by resource. Each amount must
// be a quantity in its string form.
using Requested = std::vector<std::pair<std::string, std::string>>;
PodTemplate PodRequesting(const Requested& requests);

// Reads one toleration of a pod spec.
Toleration ReadToleration(const py::handle& item, const std::string& where);

// Workloads and the configuration

WorkloadObject ReadWorkload(const py::handle& object);
// Reads a row of a job table as a workload without a status. Returns nullopt unless the row is known to be
// valid.
std::optional<WorkloadObject> ReadPlainRow(const py::handle& row);
WorkloadStatus ReadStatus(const py::handle& status);

// A workload that was converted once; Python's class Question.
struct Question {
  WorkloadObject object;
};
Config ReadConfig(const py::handle& configuration);
RequestsConfig ReadRequestsConfig(const py::handle& configuration);

// Returns a function that applies the object to an engine. The name of the object's class determines its
// kind. DeleteObject() supports the same kinds of objects as ReadObject().
std::function<void(Engine&)> ReadObject(const py::handle& object, bool changed);
// Appends the object's name to `queues` if the object is a ClusterQueue.
void AddIfQueue(const py::handle& object, std::vector<std::string>& queues);
void DeleteObject(Engine& engine, const std::string& kind, const std::string& ns, const std::string& name);

// Helpers shared by the readers.

// Returns the results of `read` for the items of a sequence.
template <typename Read>
auto ReadAll(const py::handle& sequence, Read read) {
  std::vector<decltype(read(sequence))> all;
  for (const py::handle& item : sequence) all.push_back(read(item));
  return all;
}
std::string Text(const py::handle& value);     // Empty for None.
std::string Briefly(const py::handle& value);  // The repr of a value, or its type if repr() fails.
py::object Field(const py::handle& object, const char* name);  // An attribute.
std::string TextOf(const py::handle& object, const char* attribute);
std::map<std::string, std::string> Labels(const py::handle& dict);
std::vector<std::string> Texts(const py::handle& sequence);
Quantity ReadQuantity(const py::handle& value, const std::string& where);
ResourceList ReadResources(const py::handle& dict, const std::string& where);
std::optional<int64_t> OptionalInt(const py::handle& value);
Time TimeOf(const py::handle& value);  // `value` is a Timestamp or Seconds (kueuepy.objects.times).
std::optional<Time> OptionalTime(const py::handle& value);

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_READ_H_
