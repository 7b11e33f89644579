// Reads the public objects (kueuepy.objects, frozen records) into the core's values, attribute by attribute.
#ifndef KUEUE_BINDINGS_READ_H_
#define KUEUE_BINDINGS_READ_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bindings/pybind.h"
#include "engine/engine.h"
#include "model/config.h"
#include "model/queue.h"

namespace kueue::python {

ResourceFlavor ReadFlavor(const py::handle& object);
ClusterQueueSpec ReadClusterQueue(const py::handle& object);
CohortSpec ReadCohort(const py::handle& object);
LocalQueueSpec ReadLocalQueue(const py::handle& object);
AdmissionCheckSpec ReadCheck(const py::handle& object);
LimitRange ReadLimitRange(const py::handle& object);
// From JSON; empty: none.
PodSetUpdates ReadPodSetUpdates(const std::string& json);
Node ReadNode(const py::handle& object);
// Type and status of each condition but Ready.
void NoteConditions(const std::map<std::string, std::string>& statuses, Node& node);

// A Pod that the cluster has, and what its containers ask for.
struct PodObject {
  std::string ns, name;
  ClusterPod pod;
  PodTemplate spec;
};
PodObject ReadPod(const py::handle& object);
// What a pod's annotations say of who placed it, and whose it is.
void ReadPodAnnotations(const std::map<std::string, std::string>& annotations, const std::string& ns,
                        ClusterPod& pod);
RuntimeClass ReadRuntimeClass(const py::handle& object);
WorkloadObject ReadWorkload(const py::handle& object);
WorkloadStatus ReadStatus(const py::handle& status);
Config ReadConfig(const py::handle& configuration);
RequestsConfig ReadRequestsConfig(const py::handle& configuration);

// An object of any kind, by the name of its class, as what applies it; and what deletes one (engine.cc).
std::function<void(Engine&)> ReadObject(const py::handle& object, bool changed);
// Adds the name of a ClusterQueue.
void AddIfQueue(const py::handle& object, std::vector<std::string>& queues);
void DeleteObject(Engine& engine, const std::string& kind, const std::string& ns, const std::string& name);

// Small readers that the above share.
std::string Text(const py::handle& value);                     // empty for None
std::string Briefly(const py::handle& value);                  // its repr, or its type where that fails
py::object Field(const py::handle& object, const char* name);  // an attribute
std::string TextOf(const py::handle& object, const char* attribute);
std::map<std::string, std::string> Labels(const py::handle& dict);
std::vector<std::string> Texts(const py::handle& sequence);
Quantity ReadQuantity(const py::handle& value, const std::string& where);
ResourceList ReadResources(const py::handle& dict, const std::string& where);
std::optional<int64_t> OptionalInt(const py::handle& value);
Time TimeOf(const py::handle& value);  // of a Timestamp, or of Seconds (kueuepy.objects.times)
std::optional<Time> OptionalTime(const py::handle& value);

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_READ_H_
