#include <utility>

#include "absl/strings/str_cat.h"
#include "bindings/json.h"
#include "bindings/read.h"
#include "engine/topologies.h"

namespace kueue::python {
namespace {

// Returns the text of a quantity given as a string or an integer.
std::string QuantityText(const py::handle& value, const std::string& where) {
  const bool holds = PyUnicode_Check(value.ptr()) || PyLong_Check(value.ptr());
  Require(holds, where, "it must be a quantity: a string or an integer");
  return py::str(value);
}

// Kueue compares quantities in pods by their text, and some non-canonical spellings are preserved by its
// parser.
void AppendSpelling(std::string* shape, const std::string& name, const std::string& text,
                    const Quantity& quantity) {
  if (quantity.ToText() == text) return;
  const std::string printed = PrintedText(text);
  if (printed != quantity.ToText())
    absl::StrAppend(shape, name.size(), ":", name, printed.size(), ":", printed);
}

// Reads the quantities under the key. Spellings of resources in `hidden_by` are ignored.
ResourceList ReadResourceList(const py::handle& dict, const char* key, const std::string& where,
                              std::string* shape, const ResourceList& hidden_by = {}) {
  ResourceList list;
  const py::handle resources = GetDict(dict, key, where);
  if (!resources) return list;
  const std::string path = absl::StrCat(where, ".", key);
  for (const auto& [key_handle, value] : py::reinterpret_borrow<py::dict>(resources)) {
    const std::string name = py::str(key_handle);
    const std::string text = QuantityText(value, absl::StrCat(path, ".", name));
    absl::StatusOr<Quantity> quantity = Quantity::Parse(text);
    if (!quantity.ok()) {
      const std::string message = absl::StrCat(path, ".", name, ": ", quantity.status().message());
      ThrowIfError(absl::InvalidArgumentError(message));
    }
    if (hidden_by.count(name) == 0) AppendSpelling(shape, name, text, *quantity);
    list.emplace(name, *std::move(quantity));
  }
  return list;
}

// Reads the field `resources` of a container or of the pod.
Container ReadContainerResources(const py::handle& owner, const std::string& where, std::string* shape) {
  Container container;
  const py::handle resources = GetDict(owner, "resources", where);
  if (!resources) return container;
  const std::string path = where + ".resources";
  container.requests = ReadResourceList(resources, "requests", path, shape);
  container.limits = ReadResourceList(resources, "limits", path, shape, container.requests);
  return container;
}

// Fills in the default protocol of a port, as the schema of the API does.
void AppendPorts(std::string* shape, const py::handle& object, const std::string& where) {
  if (!GetList(object, "ports", where)) return;
  ForEachObject(object, "ports", where, [shape](const py::handle& item, const std::string&) {
    py::dict port = py::reinterpret_steal<py::dict>(PyDict_Copy(item.ptr()));
    if (!port.contains("protocol")) port["protocol"] = "TCP";
    AppendCanonical(shape, port);
  });
}

std::vector<Container> ReadContainers(const py::handle& spec, const char* key, const std::string& where,
                                      std::string* shape) {
  std::vector<Container> containers;
  ForEachObject(spec, key, where, [&](const py::handle& object, const std::string& at) {
    Container container = ReadContainerResources(object, at, shape);
    container.restarts_always = GetText(object, "restartPolicy", at) == "Always";
    AppendPorts(shape, object, at);
    *shape += ';';
    containers.push_back(std::move(container));
  });
  *shape += '|';
  return containers;
}

std::vector<std::string> ReadStrings(const py::handle& dict, const char* key, const std::string& where) {
  std::vector<std::string> texts;
  const py::handle list = GetList(dict, key, where);
  if (!list) return texts;
  for (const py::handle item : list) {
    Require(py::isinstance<py::str>(item), absl::StrCat(where, ".", key), "it must be a list of strings");
    texts.push_back(item.cast<std::string>());
  }
  return texts;
}

NodeSelectorTerm ReadTerm(const py::handle& object, const std::string& where) {
  NodeSelectorTerm term;
  const auto read = [&](const char* key, std::vector<NodeSelectorRequirement>& requirements) {
    ForEachObject(object, key, where, [&](const py::handle& item, const std::string& at) {
      requirements.push_back(
          {GetText(item, "key", at), GetText(item, "operator", at), ReadStrings(item, "values", at)});
    });
  };
  read("matchExpressions", term.match_expressions);
  read("matchFields", term.match_fields);
  return term;
}

void ReadAffinity(const py::handle& spec, const std::string& where, PodTemplate* pod) {
  const py::handle affinity = GetDict(spec, "affinity", where);
  const std::string of_node = where + ".affinity.nodeAffinity";
  const py::handle node = affinity ? GetDict(affinity, "nodeAffinity", where + ".affinity") : py::handle();
  constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  const py::handle required = node ? GetDict(node, kRequired, of_node) : py::handle();
  if (node) {
    constexpr const char* kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
    ForEachObject(node, kPreferred, of_node, [pod](const py::handle& item, const std::string& at) {
      const py::handle weight = Get(item, "weight"), preference = GetDict(item, "preference", at);
      if (!weight || !preference) return;
      pod->preferred_terms.push_back({weight.cast<int32_t>(), ReadTerm(preference, at + ".preference")});
    });
  }
  if (!required) return;
  pod->has_affinity = true;
  const std::string path = absl::StrCat(of_node, ".", kRequired);
  ForEachObject(required, "nodeSelectorTerms", path, [pod](const py::handle& item, const std::string& at) {
    pod->affinity_terms.push_back(ReadTerm(item, at));
  });
}

void ReadPlacement(const py::handle& spec, const std::string& where, PodTemplate* pod) {
  if (const py::handle selector = GetDict(spec, "nodeSelector", where)) {
    for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(selector)) {
      const bool texts = py::isinstance<py::str>(key) && py::isinstance<py::str>(value);
      Require(texts, where + ".nodeSelector", "its keys and values must be strings");
      pod->node_selector.emplace(key.cast<std::string>(), value.cast<std::string>());
    }
  }
  ForEachObject(spec, "tolerations", where, [pod](const py::handle& item, const std::string& at) {
    pod->tolerations.push_back(ReadToleration(item, at));
  });
  ReadAffinity(spec, where, pod);
}

// Appends the pod fields that are compared unchanged (pkg/util/pod/pod.go:SpecShape).
void AppendFields(std::string* shape, const py::handle& spec) {
  for (const char* key : {"nodeSelector", "affinity", "tolerations", "runtimeClassName", "priority",
                          "topologySpreadConstraints", "resourceClaims"}) {
    const py::handle value = Get(spec, key);
    if (!value) continue;
    absl::StrAppend(shape, key, "=");
    AppendCanonical(shape, value);
  }
}

// Error messages identify a claim by its index.
void ReadClaims(const py::handle& spec, const std::string& where, PodTemplate* pod) {
  ForEachObject(spec, "resourceClaims", where, [pod](const py::handle& item, const std::string& at) {
    PodResourceClaim claim;
    const auto read = [&](const char* key) -> std::optional<std::string> {
      return Get(item, key) ? std::optional<std::string>(GetText(item, key, at)) : std::nullopt;
    };
    claim.template_name = read("resourceClaimTemplateName");
    claim.claim_name = read("resourceClaimName");
    pod->resource_claims.push_back(std::move(claim));
  });
}

}  // namespace

Toleration ReadToleration(const py::handle& item, const std::string& where) {
  return {GetText(item, "key", where), GetText(item, "operator", where), GetText(item, "value", where),
          GetText(item, "effect", where), static_cast<bool>(Get(item, "tolerationSeconds"))};
}

PodTemplate ReadPodTemplate(const py::handle& pod_template, const std::string& base) {
  PodTemplate pod;
  Require(py::isinstance<py::dict>(pod_template), base, "it must be an object");
  const std::string where = base + ".spec";
  const py::handle spec = GetDict(pod_template, "spec", base);
  if (!spec) return pod;
  pod.init_containers = ReadContainers(spec, "initContainers", where, &pod.shape);
  pod.containers = ReadContainers(spec, "containers", where, &pod.shape);
  pod.has_resources = static_cast<bool>(Get(spec, "resources"));
  pod.resources = ReadContainerResources(spec, where, &pod.shape);
  pod.shape += '|';
  pod.overhead = ReadResourceList(spec, "overhead", where, &pod.shape);
  pod.shape += '|';
  pod.runtime_class_name = GetText(spec, "runtimeClassName", where);
  pod.priority_class_name = GetText(spec, "priorityClassName", where);
  ReadPlacement(spec, where, &pod);
  ReadClaims(spec, where, &pod);
  AppendFields(&pod.shape, spec);
  return pod;
}

PodTemplate PodRequesting(const Requested& requests) {
  PodTemplate pod;
  pod.shape = "|";
  Container& container = pod.containers.emplace_back();
  for (const auto& [resource, text] : requests) {
    absl::StatusOr<Quantity> quantity = Quantity::Parse(text);
    ThrowIfError(quantity.status());
    AppendSpelling(&pod.shape, resource, text, *quantity);
    container.requests.emplace(resource, *std::move(quantity));
  }
  pod.shape += ";|||";
  return pod;
}

namespace {

// Reads the node of the pod, or the node named by its node selector.
void ReadPlace(const py::handle& spec, ClusterPod& pod) {
  pod.node = GetText(spec, "nodeName", "spec");
  if (const py::handle selector = GetDict(spec, "nodeSelector", "spec")) {
    pod.wanted = GetText(selector, kHostname, "spec.nodeSelector");
  }
}

// Sets two fields of `pod` from its annotations: the key of its workload, and whether a topology assignment
// placed the pod.
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

}  // namespace

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

}  // namespace kueue::python
