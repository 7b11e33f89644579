#include "objects/pod_template.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "objects/fields.h"

namespace kueue {
namespace {

// Returns the text of a quantity given as a string or an integer.
std::string QuantityText(const Value& value, const std::string& where) {
  const bool holds = value.kind() == ValueKind::kText || value.kind() == ValueKind::kInteger;
  Require(holds, where, "it must be a quantity: a string or an integer");
  return value.Printed();
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
ResourceList ReadResourceList(const Value& map, const char* key, const std::string& where, std::string* shape,
                              const ResourceList& hidden_by = {}) {
  ResourceList list;
  const Value resources = GetMap(map, key, where);
  if (!resources) return list;
  const std::string path = absl::StrCat(where, ".", key);
  for (const auto& [resource, value] : resources.Entries()) {
    const std::string name = resource.Printed();
    const std::string at = absl::StrCat(path, ".", name);
    const std::string text = QuantityText(value, at);
    Quantity quantity = ParseQuantity(text, at);
    if (hidden_by.count(name) == 0) AppendSpelling(shape, name, text, quantity);
    list.emplace(name, std::move(quantity));
  }
  return list;
}

// Reads the field `resources` of a container or of the pod.
Container ReadContainerResources(const Value& owner, const std::string& where, std::string* shape) {
  Container container;
  const Value resources = GetMap(owner, "resources", where);
  if (!resources) return container;
  const std::string path = where + ".resources";
  container.requests = ReadResourceList(resources, "requests", path, shape);
  container.limits = ReadResourceList(resources, "limits", path, shape, container.requests);
  return container;
}

// Fills in the default protocol of a port, as the schema of the API does.
void AppendPorts(std::string* shape, const Value& object, const std::string& where) {
  ForEachObject(object, "ports", where, [shape](const Value& port, const std::string&) {
    *shape += CanonicalForm(port, {{"protocol", "\"3:TCP"}});
  });
}

std::vector<Container> ReadContainers(const Value& spec, const char* key, const std::string& where,
                                      std::string* shape) {
  std::vector<Container> containers;
  ForEachObject(spec, key, where, [&](const Value& object, const std::string& at) {
    Container container = ReadContainerResources(object, at, shape);
    container.restarts_always = GetText(object, "restartPolicy", at) == "Always";
    AppendPorts(shape, object, at);
    *shape += ';';
    containers.push_back(std::move(container));
  });
  *shape += '|';
  return containers;
}

std::vector<std::string> ReadStrings(const Value& map, const char* key, const std::string& where) {
  std::vector<std::string> texts;
  const Value list = GetList(map, key, where);
  if (!list) return texts;
  for (const Value& item : list.Items()) {
    Require(item.kind() == ValueKind::kText, absl::StrCat(where, ".", key), "it must be a list of strings");
    texts.push_back(item.Text());
  }
  return texts;
}

NodeSelectorTerm ReadTerm(const Value& object, const std::string& where) {
  NodeSelectorTerm term;
  const auto read = [&](const char* key, std::vector<NodeSelectorRequirement>& requirements) {
    ForEachObject(object, key, where, [&](const Value& item, const std::string& at) {
      requirements.push_back(
          {GetText(item, "key", at), GetText(item, "operator", at), ReadStrings(item, "values", at)});
    });
  };
  read("matchExpressions", term.match_expressions);
  read("matchFields", term.match_fields);
  return term;
}

void ReadAffinity(const Value& spec, const std::string& where, PodTemplate* pod) {
  const Value affinity = GetMap(spec, "affinity", where);
  const std::string of_node = where + ".affinity.nodeAffinity";
  const Value node = affinity ? GetMap(affinity, "nodeAffinity", where + ".affinity") : Value();
  constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  const Value required = node ? GetMap(node, kRequired, of_node) : Value();
  if (node) {
    constexpr const char* kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
    ForEachObject(node, kPreferred, of_node, [pod](const Value& item, const std::string& at) {
      const Value weight = item.Get("weight"), preference = GetMap(item, "preference", at);
      if (!weight || !preference) return;
      pod->preferred_terms.push_back(
          {Integer32(weight, at + ".weight"), ReadTerm(preference, at + ".preference")});
    });
  }
  if (!required) return;
  pod->has_affinity = true;
  const std::string path = absl::StrCat(of_node, ".", kRequired);
  ForEachObject(required, "nodeSelectorTerms", path, [pod](const Value& item, const std::string& at) {
    pod->affinity_terms.push_back(ReadTerm(item, at));
  });
}

void ReadPlacement(const Value& spec, const std::string& where, PodTemplate* pod) {
  if (const Value selector = GetMap(spec, "nodeSelector", where)) {
    for (const auto& [key, value] : selector.Entries()) {
      const bool texts = key.kind() == ValueKind::kText && value.kind() == ValueKind::kText;
      Require(texts, where + ".nodeSelector", "its keys and values must be strings");
      pod->node_selector.emplace(key.Text(), value.Text());
    }
  }
  ForEachObject(spec, "tolerations", where, [pod](const Value& item, const std::string& at) {
    pod->tolerations.push_back(ReadToleration(item, at));
  });
  ReadAffinity(spec, where, pod);
}

// Appends the pod fields that are compared unchanged (pkg/util/pod/pod.go:SpecShape).
void AppendFields(std::string* shape, const Value& spec) {
  for (const char* key : {"nodeSelector", "affinity", "tolerations", "runtimeClassName", "priority",
                          "topologySpreadConstraints", "resourceClaims"}) {
    const Value value = spec.Get(key);
    if (!value) continue;
    absl::StrAppend(shape, key, "=", CanonicalForm(value));
  }
}

// Error messages identify a claim by its index.
void ReadClaims(const Value& spec, const std::string& where, PodTemplate* pod) {
  ForEachObject(spec, "resourceClaims", where, [pod](const Value& item, const std::string& at) {
    PodResourceClaim claim;
    const auto read = [&](const char* key) -> std::optional<std::string> {
      return item.Get(key) ? std::optional<std::string>(GetText(item, key, at)) : std::nullopt;
    };
    claim.template_name = read("resourceClaimTemplateName");
    claim.claim_name = read("resourceClaimName");
    pod->resource_claims.push_back(std::move(claim));
  });
}

}  // namespace

Toleration ReadToleration(const Value& item, const std::string& where) {
  return {GetText(item, "key", where), GetText(item, "operator", where), GetText(item, "value", where),
          GetText(item, "effect", where), static_cast<bool>(item.Get("tolerationSeconds"))};
}

PodTemplate ReadPodSpec(const Value& spec, const std::string& where) {
  PodTemplate pod;
  if (!spec) return pod;
  Require(spec.kind() == ValueKind::kMap, where, "it must be an object");
  pod.init_containers = ReadContainers(spec, "initContainers", where, &pod.shape);
  pod.containers = ReadContainers(spec, "containers", where, &pod.shape);
  pod.has_resources = static_cast<bool>(spec.Get("resources"));
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

PodTemplate ReadPodTemplate(const Value& pod_template, const std::string& where) {
  Require(pod_template.kind() == ValueKind::kMap, where, "it must be an object");
  return ReadPodSpec(pod_template.Get("spec"), where + ".spec");
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

}  // namespace kueue
