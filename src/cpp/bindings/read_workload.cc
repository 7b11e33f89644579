#include "absl/strings/str_cat.h"
#include "bindings/read.h"

namespace kueue::python {
namespace {

// The value of a key of a dict; a null handle where it is absent or null.
py::handle Get(const py::handle& dict, const char* key) {
  const py::handle value = PyDict_GetItemString(dict.ptr(), key);
  return value && !value.is_none() ? value : py::handle();
}

void Require(bool holds, const std::string& where, const char* what) {
  if (!holds) ThrowIfError(absl::InvalidArgumentError(absl::StrCat(where, ": ", what)));
}

py::handle GetDict(const py::handle& dict, const char* key, const std::string& where) {
  const py::handle value = Get(dict, key);
  Require(!value || py::isinstance<py::dict>(value), absl::StrCat(where, ".", key), "it must be an object");
  return value;
}

py::handle GetList(const py::handle& dict, const char* key, const std::string& where) {
  const py::handle value = Get(dict, key);
  const bool is_list = !value || py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value);
  Require(is_list, absl::StrCat(where, ".", key), "it must be a list");
  return value;
}

std::string GetText(const py::handle& dict, const char* key, const std::string& where) {
  const py::handle value = Get(dict, key);
  Require(!value || py::isinstance<py::str>(value), absl::StrCat(where, ".", key), "it must be a string");
  return value ? Text(value) : std::string();
}

// Canonical text of a JSON-like value: keys sorted, strings behind their length.
void AppendShape(std::string& shape, const py::handle& value) {
  if (!value || value.is_none()) {
    shape += '~';
  } else if (py::isinstance<py::dict>(value)) {
    std::map<std::string, py::handle> sorted;
    for (const auto& [key, item] : py::reinterpret_borrow<py::dict>(value)) sorted[py::str(key)] = item;
    shape += '{';
    for (const auto& [key, item] : sorted) {
      absl::StrAppend(&shape, key.size(), ":", key, "=");
      AppendShape(shape, item);
    }
    shape += '}';
  } else if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value)) {
    shape += '[';
    for (const py::handle& item : value) AppendShape(shape, item);
    shape += ']';
  } else {
    const std::string text = py::str(value);
    absl::StrAppend(&shape, text.size(), ":", text);
  }
}

void AppendShape(std::string& shape, const ResourceList& resources) {
  shape += '(';
  for (const auto& [name, quantity] : resources) absl::StrAppend(&shape, name.size(), ":", name, "=", quantity.ToText());
  shape += ')';
}

Container ReadContainer(const py::handle& object, const std::string& where, std::string& shape) {
  Require(py::isinstance<py::dict>(object), where, "it must be an object");
  Container container;
  if (const py::handle resources = GetDict(object, "resources", where)) {
    if (const py::handle requests = GetDict(resources, "requests", where + ".resources")) {
      container.requests = ReadResources(requests, where + ".resources.requests");
    }
    if (const py::handle limits = GetDict(resources, "limits", where + ".resources")) {
      container.limits = ReadResources(limits, where + ".resources.limits");
    }
  }
  container.restarts_always = GetText(object, "restartPolicy", where) == "Always";
  AppendShape(shape, container.requests);
  if (const py::handle ports = Get(object, "ports")) AppendShape(shape, ports);
  return container;
}

std::vector<Container> ReadContainers(const py::handle& spec, const char* key, const std::string& where,
                                      std::string& shape) {
  std::vector<Container> containers;
  absl::StrAppend(&shape, key[0] == 'i' ? "I" : "C");
  const py::handle list = GetList(spec, key, where);
  if (!list) return containers;
  for (const py::handle& item : list) {
    containers.push_back(ReadContainer(item, absl::StrCat(where, ".", key, "[", containers.size(), "]"), shape));
  }
  return containers;
}

void ReadAffinity(const py::handle& spec, const std::string& where, PodTemplate& pod) {
  const py::handle affinity = GetDict(spec, "affinity", where);
  const py::handle node = affinity ? GetDict(affinity, "nodeAffinity", where + ".affinity") : py::handle();
  const char* const kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  const py::handle required = node ? GetDict(node, kRequired, where + ".affinity.nodeAffinity") : py::handle();
  if (!required) return;
  pod.has_affinity = true;
  const std::string at = absl::StrCat(where, ".affinity.nodeAffinity.", kRequired);
  const py::handle terms = GetList(required, "nodeSelectorTerms", at);
  if (!terms) return;
  for (const py::handle& item : terms) {
    NodeSelectorTerm term;
    const std::string term_at = absl::StrCat(at, ".nodeSelectorTerms[", pod.affinity_terms.size(), "]");
    Require(py::isinstance<py::dict>(item), term_at, "it must be an object");
    if (const py::handle expressions = GetList(item, "matchExpressions", term_at)) {
      for (const py::handle& expression : expressions) {
        Require(py::isinstance<py::dict>(expression), term_at, "matchExpressions must hold objects");
        const py::handle values = GetList(expression, "values", term_at);
        term.match_expressions.push_back({GetText(expression, "key", term_at), GetText(expression, "operator", term_at),
                                          values ? Texts(values) : std::vector<std::string>()});
      }
    }
    pod.affinity_terms.push_back(std::move(term));
  }
}

void ReadTolerations(const py::handle& spec, const std::string& where, PodTemplate& pod) {
  const py::handle list = GetList(spec, "tolerations", where);
  if (!list) return;
  for (const py::handle& item : list) {
    const std::string at = absl::StrCat(where, ".tolerations[", pod.tolerations.size(), "]");
    Require(py::isinstance<py::dict>(item), at, "it must be an object");
    pod.tolerations.push_back({GetText(item, "key", at), GetText(item, "operator", at), GetText(item, "value", at),
                               GetText(item, "effect", at)});
  }
}

}  // namespace

PodTemplate ReadPodTemplate(const py::handle& pod_template, const std::string& base) {
  PodTemplate pod;
  const std::string where = base + ".spec";
  const py::handle spec = GetDict(pod_template, "spec", base);
  if (!spec) return pod;
  pod.init_containers = ReadContainers(spec, "initContainers", where, pod.shape);
  pod.containers = ReadContainers(spec, "containers", where, pod.shape);
  if (const py::handle resources = GetDict(spec, "resources", where)) {
    pod.has_resources = true;
    const py::dict wrapped(py::arg("resources") = resources);
    pod.resources = ReadContainer(wrapped, where, pod.shape);
  }
  if (const py::handle overhead = GetDict(spec, "overhead", where)) {
    pod.overhead = ReadResources(overhead, where + ".overhead");
    AppendShape(pod.shape, pod.overhead);
  }
  pod.runtime_class_name = GetText(spec, "runtimeClassName", where);
  if (const py::handle selector = GetDict(spec, "nodeSelector", where)) pod.node_selector = Labels(selector);
  ReadTolerations(spec, where, pod);
  ReadAffinity(spec, where, pod);
  for (const char* key : {"nodeSelector", "affinity", "tolerations", "runtimeClassName", "priority",
                          "topologySpreadConstraints", "resourceClaims"}) {
    if (const py::handle value = Get(spec, key)) {
      absl::StrAppend(&pod.shape, "|", key, "=");
      AppendShape(pod.shape, value);
    }
  }
  return pod;
}

namespace {

std::string Annotation(const py::handle& annotations, const char* key) {
  const py::handle value = Get(annotations, key);
  return value ? Text(value) : std::string();
}

// Base 10 with an optional sign; anything else counts as 0, as Kueue has it.
int64_t ReadBoost(const std::string& text) {
  try {
    size_t end = 0;
    const long long boost = std::stoll(text, &end);
    return end == text.size() && boost >= INT32_MIN && boost <= INT32_MAX ? boost : 0;
  } catch (const std::exception&) {
    return 0;
  }
}

PodSetSpec ReadPodSet(const py::handle& object, size_t index) {
  PodSetSpec pod_set;
  pod_set.name = TextOf(object, "name");
  pod_set.count = object.attr("count").cast<int64_t>();
  pod_set.min_count = OptionalInt(object.attr("min_count"));
  const std::string base = absl::StrCat("spec.podSets[", index, "].template");
  pod_set.pod_template = std::make_shared<const PodTemplate>(ReadPodTemplate(object.attr("template"), base));
  const py::object topology = object.attr("topology_request");
  if (topology.is_none()) return pod_set;
  AppendShape(pod_set.topology_request, topology);
  pod_set.group = GetText(topology, "podSetGroupName", "topologyRequest");
  for (const char* key : {"required", "preferred", "unconstrained", "podSetSliceRequiredTopology",
                          "podsetSliceRequiredTopologyConstraints"}) {
    pod_set.requests_topology = pod_set.requests_topology || Get(topology, key);
  }
  return pod_set;
}

CheckState ReadCheckState(const std::string& name) {
  if (name == "Ready") return CheckState::kReady;
  if (name == "Retry") return CheckState::kRetry;
  return name == "Rejected" ? CheckState::kRejected : CheckState::kPending;
}

}  // namespace

WorkloadSpec ReadWorkload(const py::handle& object) {
  WorkloadSpec spec;
  spec.ns = TextOf(object, "namespace");
  spec.name = TextOf(object, "name");
  spec.uid = TextOf(object, "uid");
  if (spec.uid.empty()) spec.uid = spec.ns + "." + spec.name;
  spec.queue_name = TextOf(object, "queue_name");
  const py::object labels = object.attr("labels"), annotations = object.attr("annotations");
  spec.job_uid = Annotation(labels, "kueue.x-k8s.io/job-uid");
  spec.admission_gate = Annotation(annotations, "kueue.x-k8s.io/admission-gated-by");
  spec.replaces = Annotation(annotations, "kueue.x-k8s.io/workload-slice-replacement-for");
  spec.priority_boost = ReadBoost(Annotation(annotations, "kueue.x-k8s.io/priority-boost"));
  spec.priority = OptionalInt(object.attr("priority")).value_or(0);
  if (const py::object ref = object.attr("priority_class_ref"); !ref.is_none()) {
    spec.priority_class = absl::StrCat(TextOf(ref, "group"), "/", TextOf(ref, "kind"), "/", TextOf(ref, "name"));
  }
  spec.active = object.attr("active").cast<bool>();
  spec.maximum_execution_time_seconds = OptionalInt(object.attr("maximum_execution_time_seconds"));
  spec.created = OptionalInt(object.attr("creation_timestamp"));
  for (const py::handle& pod_set : object.attr("pod_sets")) {
    spec.pod_sets.push_back(ReadPodSet(pod_set, spec.pod_sets.size()));
  }
  return spec;
}

WorkloadStatus ReadStatus(const py::handle& object) {
  WorkloadStatus status;
  for (const py::handle& item : object.attr("conditions")) {
    status.conditions.push_back({TextOf(item, "type"), TextOf(item, "reason"), TextOf(item, "message"),
                                 TextOf(item, "status") == "True", item.attr("last_transition_time").cast<Time>()});
  }
  if (const py::object admission = object.attr("admission"); !admission.is_none()) {
    status.cluster_queue = TextOf(admission, "cluster_queue");
    for (const py::handle& item : admission.attr("pod_set_assignments")) {
      WorkloadStatus::PodSetRecord record{TextOf(item, "name"), OptionalInt(item.attr("count")),
                                          Labels(item.attr("flavors")), {}};
      for (const auto& [name, quantity] : ReadResources(item.attr("resource_usage"), "resourceUsage")) {
        record.usage[name] = ResourceValue(name, quantity);
      }
      status.pod_sets.push_back(std::move(record));
    }
  }
  for (const py::handle& item : object.attr("admission_checks")) {
    status.checks.push_back({TextOf(item, "name"), TextOf(item, "message"), ReadCheckState(TextOf(item, "state")),
                             item.attr("last_transition_time").cast<Time>(),
                             OptionalInt(item.attr("requeue_after_seconds")), OptionalInt(item.attr("retry_count"))});
  }
  if (const py::object requeue = object.attr("requeue_state"); !requeue.is_none()) {
    status.requeue_count = requeue.attr("count").cast<int64_t>();
    status.requeue_at = OptionalInt(requeue.attr("requeue_at"));
  }
  status.past_execution_seconds = OptionalInt(object.attr("accumulated_past_execution_time_seconds"));
  for (const py::handle& item : object.attr("reclaimable_pods")) {
    status.reclaimable[TextOf(item, "name")] = item.attr("count").cast<int64_t>();
  }
  return status;
}

}  // namespace kueue::python
