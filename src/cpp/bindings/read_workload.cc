#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "bindings/json.h"
#include "bindings/names.h"
#include "bindings/read.h"

namespace kueue::python {
namespace {

std::string Annotation(const py::handle& annotations, const char* key) {
  const py::handle value = Get(annotations, key);
  return value ? Text(value) : std::string();
}

// Parses a decimal integer with an optional sign; like Kueue, treats anything else as 0.
int64_t ReadBoost(const std::string& text) {
  int32_t boost = 0;
  const bool bare = !text.empty() && !absl::ascii_isspace(static_cast<unsigned char>(text.front())) &&
                    !absl::ascii_isspace(static_cast<unsigned char>(text.back()));
  return bare && absl::SimpleAtoi(text, &boost) ? boost : 0;
}

TopologyRequest ReadTopologyRequest(const py::handle& object) {
  TopologyRequest request;
  const auto text = [&object](const char* key) -> std::optional<std::string> {
    if (!Get(object, key)) return std::nullopt;
    return GetText(object, key, "topologyRequest");
  };
  request.required = text("required");
  request.preferred = text("preferred");
  if (const py::handle value = Get(object, "unconstrained")) request.unconstrained = value.cast<bool>();
  const char* const constraints = "podsetSliceRequiredTopologyConstraints";
  ForEachObject(object, constraints, "topologyRequest", [&](const py::handle& item, const std::string& at) {
    const py::handle size = Get(item, "size");
    request.layers.push_back({GetText(item, "topology", at), size ? size.cast<int64_t>() : 0});
  });
  const std::optional<std::string> slices = text("podSetSliceRequiredTopology");
  const py::handle size = Get(object, "podSetSliceSize");
  if (request.layers.empty() && slices) request.layers.push_back({*slices, size ? size.cast<int64_t>() : 0});
  request.is_explicit = request.required || request.preferred || request.unconstrained ||
                        !request.layers.empty() || slices || size;
  return request;
}

PodSetSpec ReadPodSet(const py::handle& object, size_t index) {
  PodSetSpec pod_set;
  pod_set.name = TextOf(object, "name");
  pod_set.count = Field(object, "count").cast<int64_t>();
  pod_set.min_count = OptionalInt(Field(object, "min_count"));
  const std::string base = absl::StrCat("spec.podSets[", index, "].template");
  pod_set.pod_template =
      std::make_shared<const PodTemplate>(ReadPodTemplate(Field(object, "template"), base));
  const py::object topology = Field(object, "topology_request");
  if (topology.is_none()) return pod_set;
  AppendCanonical(&pod_set.topology_request, topology);
  pod_set.group = GetText(topology, "podSetGroupName", "topologyRequest");
  pod_set.topology = std::make_shared<const TopologyRequest>(ReadTopologyRequest(topology));
  return pod_set;
}

// Returns the JSON of a sequence of objects; empty for an empty sequence.
std::string JsonOf(const py::handle& sequence) {
  if (py::len(sequence) == 0) return std::string();
  return Text(py::module_::import("json").attr("dumps")(sequence));
}

}  // namespace

namespace {

WorkloadSpec ReadWorkloadSpec(const py::handle& object) {
  WorkloadSpec spec;
  spec.ns = TextOf(object, "namespace");
  spec.queue_name = TextOf(object, "queue_name");
  const py::object labels = Field(object, "labels"), annotations = Field(object, "annotations");
  spec.job_uid = Annotation(labels, "kueue.x-k8s.io/job-uid");
  spec.elastic = Annotation(annotations, "kueue.x-k8s.io/elastic-job") == "true";
  spec.admission_gate = Annotation(annotations, "kueue.x-k8s.io/admission-gated-by");
  spec.replaces = Annotation(annotations, "kueue.x-k8s.io/workload-slice-replacement-for");
  spec.priority_boost = ReadBoost(Annotation(annotations, "kueue.x-k8s.io/priority-boost"));
  spec.priority = OptionalInt(Field(object, "priority")).value_or(0);
  if (const py::object ref = Field(object, "priority_class_ref"); !ref.is_none()) {
    spec.priority_class =
        absl::StrCat(TextOf(ref, "group"), "/", TextOf(ref, "kind"), "/", TextOf(ref, "name"));
  }
  spec.preemption_gates = Texts(Field(object, "preemption_gates"));
  spec.active = Field(object, "active").cast<bool>();
  spec.maximum_execution_time_seconds = OptionalInt(Field(object, "maximum_execution_time_seconds"));
  return spec;
}

}  // namespace

WorkloadObject ReadWorkload(const py::handle& object) {
  WorkloadSpec spec = ReadWorkloadSpec(object);
  for (const py::handle& pod_set : Field(object, "pod_sets")) {
    spec.pod_sets.push_back(ReadPodSet(pod_set, spec.pod_sets.size()));
  }
  WorkloadObject read;
  read.name = TextOf(object, "name");
  read.uid = TextOf(object, "uid");
  if (read.uid.empty()) read.uid = spec.ns + "." + read.name;
  read.created = OptionalTime(Field(object, "creation_timestamp"));
  read.spec = std::make_shared<const WorkloadSpec>(std::move(spec));
  return read;
}

namespace {

WorkloadStatus::PodSetRecord ReadAssignment(const py::handle& object) {
  WorkloadStatus::PodSetRecord record;
  record.name = TextOf(object, "name");
  record.count = OptionalInt(object.attr("count"));
  record.flavors = Labels(object.attr("flavors"));
  for (const auto& [name, quantity] : ReadResources(object.attr("resource_usage"), "resourceUsage")) {
    record.usage[name] = ResourceValue(name, quantity);
  }
  if (const py::object topology = object.attr("topology_assignment"); !topology.is_none()) {
    record.levels = Texts(topology.attr("levels"));
    for (const py::handle& domain : topology.attr("domains")) {
      record.domains.emplace_back(Texts(domain.attr("values")), domain.attr("count").cast<int32_t>());
    }
  }
  if (const py::object delayed = object.attr("delayed_topology_request"); !delayed.is_none()) {
    record.delayed = Text(delayed) == "Pending" ? DelayedTopology::kPending : DelayedTopology::kReady;
  }
  return record;
}

WorkloadStatus::ConditionRecord ReadCondition(const py::handle& object) {
  return {TextOf(object, "type"), TextOf(object, "reason"), TextOf(object, "message"),
          TextOf(object, "status") == "True", TimeOf(Field(object, "last_transition_time"))};
}

WorkloadStatus::CheckRecord ReadWorkloadCheck(const py::handle& object) {
  return {TextOf(object, "name"),
          TextOf(object, "message"),
          Named(TextOf(object, "state"), CheckState::kPending),
          TimeOf(Field(object, "last_transition_time")),
          OptionalInt(object.attr("requeue_after_seconds")),
          OptionalInt(object.attr("retry_count")),
          ReadPodSetUpdates(JsonOf(object.attr("pod_set_updates")))};
}

// Reads the status fields that describe earlier admissions.
void ReadPast(const py::handle& object, WorkloadStatus& status) {
  if (const py::object requeue = Field(object, "requeue_state"); !requeue.is_none()) {
    status.requeue_count = requeue.attr("count").cast<int64_t>();
    status.requeue_at = OptionalTime(requeue.attr("requeue_at"));
  }
  status.past_execution_seconds = OptionalInt(Field(object, "accumulated_past_execution_time_seconds"));
  for (const py::handle& item : Field(object, "reclaimable_pods")) {
    status.reclaimable[TextOf(item, "name")] = item.attr("count").cast<int64_t>();
  }
  status.unhealthy_nodes = Texts(Field(object, "unhealthy_nodes"));
}

}  // namespace

WorkloadStatus ReadStatus(const py::handle& object) {
  WorkloadStatus status;
  status.conditions = ReadAll(Field(object, "conditions"), &ReadCondition);
  if (const py::object admission = Field(object, "admission"); !admission.is_none()) {
    status.cluster_queue = TextOf(admission, "cluster_queue");
    status.pod_sets = ReadAll(admission.attr("pod_set_assignments"), &ReadAssignment);
  }
  status.checks = ReadAll(Field(object, "admission_checks"), &ReadWorkloadCheck);
  ReadPast(object, status);
  return status;
}

}  // namespace kueue::python
