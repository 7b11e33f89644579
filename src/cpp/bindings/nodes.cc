// Conversion of nodes, pods and topology placements from and to Python.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "bindings/engine.h"
#include "bindings/json.h"
#include "bindings/method.h"
#include "bindings/pybind.h"
#include "bindings/read.h"
#include "bindings/read_pod.h"
#include "bindings/view.h"
#include "engine/topologies.h"

namespace kueue::python {
namespace {

std::map<std::string, std::string> ReadStringMap(const py::handle& dict, const char* key,
                                                 const std::string& where) {
  std::map<std::string, std::string> texts;
  const py::handle found = GetDict(dict, key, where);
  return found ? Labels(found) : texts;
}

// Returns nullopt if the text is empty.
std::optional<Time> ReadTime(const py::handle& dict, const char* key, const std::string& where) {
  const std::string text = GetText(dict, key, where);
  if (text.empty()) return std::nullopt;
  absl::Time time;
  std::string error;
  Require(absl::ParseTime(absl::RFC3339_full, text, &time, &error), absl::StrCat(where, ".", key),
          "it must be a time such as 2000-01-01T00:00:00Z");
  return absl::ToUnixNanos(time);
}

void ReadReadiness(const py::handle& status, Node& node, std::optional<Time>& since) {
  std::map<std::string, std::string> others;
  ForEachObject(status, "conditions", "status", [&](const py::handle& item, const std::string& at) {
    const std::string type = GetText(item, "type", at), value = GetText(item, "status", at);
    if (type != "Ready") {
      others[type] = value;
      return;
    }
    if (node.ready != NodeReadiness::kMissing) return;  // The first condition Ready applies.
    node.ready = value == "True"    ? NodeReadiness::kReady
                 : value == "False" ? NodeReadiness::kNotReady
                                    : NodeReadiness::kUnknown;
    if (const std::optional<Time> time = ReadTime(item, "lastTransitionTime", at)) since = time;
  });
  NoteConditions(others, node);
}

void ReadNodeSpec(const py::handle& spec, Node& node) {
  const py::handle unschedulable = Get(spec, "unschedulable");
  node.unschedulable = unschedulable && unschedulable.cast<bool>();
  ForEachObject(spec, "taints", "spec", [&node](const py::handle& item, const std::string& at) {
    node.taints.push_back(
        {GetText(item, "key", at), GetText(item, "value", at), GetText(item, "effect", at)});
    absl::StrAppend(&node.other_conditions, GetText(item, "timeAdded", at), ";");
  });
}

void ReadAllocatable(const py::handle& status, Node& node) {
  const py::handle allocatable = GetDict(status, "allocatable", "status");
  if (!allocatable) return;
  for (const auto& [name, quantity] : ReadResources(allocatable, "status.allocatable")) {
    node.allocatable[name] = ResourceValue(name, quantity);
  }
}

// Applies a complete Node, as printed by kubectl.
void ApplyNode(SharedEngine& shared, const py::handle& doc) {
  Node node;
  std::optional<Time> since;
  const py::handle metadata = GetDict(doc, "metadata", "Node"), spec = GetDict(doc, "spec", "Node"),
                   status = GetDict(doc, "status", "Node");
  Require(static_cast<bool>(metadata), "Node.metadata", "it must be an object");
  node.name = GetText(metadata, "name", "metadata");
  node.labels = ReadStringMap(metadata, "labels", "metadata");
  node.annotations = ReadStringMap(metadata, "annotations", "metadata");
  if (spec) ReadNodeSpec(spec, node);
  if (status) {
    ReadAllocatable(status, node);
    ReadReadiness(status, node, since);
  }
  shared.Change([&](Engine& engine) { ApplyNode(engine.state(), std::move(node), since); });
}

// Reads the node of the pod, or the node named by its node selector.
void ReadPlace(const py::handle& spec, ClusterPod& pod) {
  pod.node = GetText(spec, "nodeName", "spec");
  if (const py::handle selector = GetDict(spec, "nodeSelector", "spec")) {
    pod.wanted = GetText(selector, kHostname, "spec.nodeSelector");
  }
}

// Applies a complete Pod, as printed by kubectl.
void ApplyPod(SharedEngine& shared, const py::handle& doc) {
  const py::handle metadata = GetDict(doc, "metadata", "Pod"), spec = GetDict(doc, "spec", "Pod"),
                   status = GetDict(doc, "status", "Pod");
  Require(metadata && spec, "Pod", "it must have metadata and a spec");
  ClusterPod pod;
  const std::string name = GetText(metadata, "name", "metadata");
  std::string ns = GetText(metadata, "namespace", "metadata");
  if (ns.empty()) ns = "default";
  ReadPodAnnotations(ReadStringMap(metadata, "annotations", "metadata"), ns, pod);
  ReadPlace(spec, pod);
  const std::string phase = status ? GetText(status, "phase", "status") : std::string();
  pod.is_over = phase == "Succeeded" || phase == "Failed";
  pod.is_leaving = static_cast<bool>(Get(metadata, "deletionTimestamp"));
  const PodTemplate read = ReadPodTemplate(doc, "Pod");
  shared.Change([&](Engine& engine) { ApplyPod(engine.state(), ns, name, std::move(pod), read); });
}

std::vector<std::string> UnhealthyNodesOf(SharedEngine& shared, Serial id) {
  return shared.Read(
      [id](const Engine& engine) { return WorkloadOf(engine.state(), id).Status().unhealthy_nodes; });
}

}  // namespace

void ReadPodAnnotations(const std::map<std::string, std::string>& annotations, const std::string& ns,
                        ClusterPod& pod) {
  constexpr const char* kPrefix = "kueue.x-k8s.io/";
  for (const char* key :
       {"podset-required-topology", "podset-preferred-topology", "podset-unconstrained-topology",
        "podset-slice-required-topology", "podset-slice-required-topology-constraints"}) {
    pod.by_topology = pod.by_topology || annotations.count(absl::StrCat(kPrefix, key)) > 0;
  }
  const auto workload = annotations.find(absl::StrCat(kPrefix, "workload"));
  if (workload != annotations.end()) pod.workload = ns + "/" + workload->second;
}

PodObject ReadPod(const py::handle& object) {
  PodObject read;
  read.ns = TextOf(object, "namespace");
  read.name = TextOf(object, "name");
  ReadPodAnnotations(Labels(object.attr("annotations")), read.ns, read.pod);
  const py::object spec = object.attr("spec");
  ReadPlace(spec, read.pod);
  const std::string phase = TextOf(object, "phase");
  read.pod.is_over = phase == "Succeeded" || phase == "Failed";
  read.pod.is_leaving = !object.attr("deletion_timestamp").is_none();
  read.spec = ReadPodTemplate(py::dict(py::arg("spec") = spec), "Pod");
  return read;
}

void BindNodes(py::module_& module) {
  AddMethod(module, "apply_node", &ApplyNode, py::arg("node"));
  AddMethod(module, "apply_pod", &ApplyPod, py::arg("pod"));
  AddMethod(module, "unhealthy_nodes", &UnhealthyNodesOf, py::arg("id"));
}

}  // namespace kueue::python
