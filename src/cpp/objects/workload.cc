#include "objects/workload.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "model/names.h"
#include "objects/fields.h"
#include "objects/pod_template.h"

namespace kueue {
namespace {

// Parses a decimal integer with an optional sign; like Kueue, treats anything else as 0.
int64_t ReadBoost(const std::string& text) {
  int32_t boost = 0;
  const bool bare = !text.empty() && !absl::ascii_isspace(static_cast<unsigned char>(text.front())) &&
                    !absl::ascii_isspace(static_cast<unsigned char>(text.back()));
  return bare && absl::SimpleAtoi(text, &boost) ? boost : 0;
}

TopologyRequest ReadTopologyRequest(const Value& object) {
  TopologyRequest request;
  const auto text = [&object](const char* key) -> std::optional<std::string> {
    if (!object.Get(key)) return std::nullopt;
    return GetText(object, key, "topologyRequest");
  };
  request.required = text("required");
  request.preferred = text("preferred");
  if (const Value value = object.Get("unconstrained")) request.unconstrained = value.Bool();
  const char* const constraints = "podsetSliceRequiredTopologyConstraints";
  ForEachObject(object, constraints, "topologyRequest", [&](const Value& item, const std::string& at) {
    const Value size = item.Get("size");
    request.layers.push_back({GetText(item, "topology", at), size ? size.Integer() : 0});
  });
  const std::optional<std::string> slices = text("podSetSliceRequiredTopology");
  const Value size = object.Get("podSetSliceSize");
  if (request.layers.empty() && slices) request.layers.push_back({*slices, size ? size.Integer() : 0});
  request.is_explicit = request.required || request.preferred || request.unconstrained ||
                        !request.layers.empty() || slices || size;
  return request;
}

PodSetSpec ReadPodSet(const Value& object, size_t index) {
  PodSetSpec pod_set;
  pod_set.name = TextOf(object, "name");
  pod_set.count = object.Field("count").Integer();
  pod_set.min_count = OptionalInteger(object.Field("min_count"));
  const std::string base = absl::StrCat("spec.podSets[", index, "].template");
  pod_set.pod_template = std::make_shared<const PodTemplate>(ReadPodTemplate(object.Field("template"), base));
  const Value topology = object.Field("topology_request");
  if (!topology) return pod_set;
  pod_set.topology_request = CanonicalForm(topology);
  pod_set.group = GetText(topology, "podSetGroupName", "topologyRequest");
  pod_set.topology = std::make_shared<const TopologyRequest>(ReadTopologyRequest(topology));
  return pod_set;
}

// Sets what distinguishes a variant. As in Kueue (pkg/util/csv), names may have spaces around them. Only
// variants have this annotation (pkg/controller/concurrentadmission/controller.go:generateVariant).
void SetAllowedFlavors(const Value& object, const std::string& names, WorkloadSpec& spec) {
  for (absl::string_view name : absl::StrSplit(names, ','))
    spec.allowed_flavors.emplace_back(absl::StripAsciiWhitespace(name));
  for (const Value& owner : object.Field("owner_references").Items()) {
    if (owner.Get("kind").Text() == "Workload" && owner.Get("apiVersion").Text() == "kueue.x-k8s.io/v1beta2")
      spec.parent_uid = owner.Get("uid").Text();
  }
}

WorkloadSpec ReadWorkloadSpec(const Value& object) {
  WorkloadSpec spec;
  spec.ns = TextOf(object, "namespace");
  spec.queue_name = TextOf(object, "queue_name");
  const Value labels = object.Field("labels"), annotations = object.Field("annotations");
  spec.job_uid = labels.Get("kueue.x-k8s.io/job-uid").Text();
  spec.elastic = annotations.Get("kueue.x-k8s.io/elastic-job").Text() == "true";
  spec.admission_gate = annotations.Get("kueue.x-k8s.io/admission-gated-by").Text();
  spec.replaces = annotations.Get("kueue.x-k8s.io/workload-slice-replacement-for").Text();
  spec.priority_boost = ReadBoost(annotations.Get("kueue.x-k8s.io/priority-boost").Text());
  spec.priority = OptionalInteger(object.Field("priority")).value_or(0);
  if (const Value ref = object.Field("priority_class_ref")) {
    spec.priority_class =
        absl::StrCat(TextOf(ref, "group"), "/", TextOf(ref, "kind"), "/", TextOf(ref, "name"));
  }
  spec.preemption_gates = Texts(object.Field("preemption_gates"));
  spec.is_labelled_parent = labels.Get("kueue.x-k8s.io/concurrent-admission-parent").Text() == "true";
  if (const Value allowed = annotations.Get("kueue.x-k8s.io/workload-allowed-resource-flavors"))
    SetAllowedFlavors(object, allowed.Text(), spec);
  spec.active = object.Field("active").Bool();
  spec.maximum_execution_time_seconds = OptionalInteger(object.Field("maximum_execution_time_seconds"));
  return spec;
}

std::map<std::string, std::string> UpdatedLabels(const Value& update, const char* key) {
  const Value found = GetMap(update, key, "podSetUpdates");
  return found ? Labels(found) : std::map<std::string, std::string>();
}

PodSetUpdate ReadPodSetUpdate(const Value& object) {
  PodSetUpdate update;
  update.name = GetText(object, "name", "podSetUpdates");
  update.labels = UpdatedLabels(object, "labels");
  update.annotations = UpdatedLabels(object, "annotations");
  update.node_selector = UpdatedLabels(object, "nodeSelector");
  ForEachObject(object, "tolerations", "podSetUpdates", [&](const Value& one, const std::string& at) {
    update.tolerations.push_back(ReadToleration(one, at));
  });
  return update;
}

WorkloadStatus::PodSetRecord ReadAssignment(const Value& object) {
  WorkloadStatus::PodSetRecord record;
  record.name = TextOf(object, "name");
  record.count = OptionalInteger(object.Field("count"));
  record.flavors = Labels(object.Field("flavors"));
  for (const auto& [name, quantity] : ReadResources(object.Field("resource_usage"), "resourceUsage")) {
    record.usage[name] = ResourceValue(name, quantity);
  }
  if (const Value topology = object.Field("topology_assignment")) {
    record.levels = Texts(topology.Field("levels"));
    for (const Value& domain : topology.Field("domains").Items()) {
      record.domains.emplace_back(Texts(domain.Field("values")), Integer32(domain.Field("count"), "count"));
    }
  }
  if (const Value delayed = object.Field("delayed_topology_request")) {
    record.delayed = delayed.Text() == "Pending" ? DelayedTopology::kPending : DelayedTopology::kReady;
  }
  return record;
}

WorkloadStatus::ConditionRecord ReadCondition(const Value& object) {
  return {TextOf(object, "type"), TextOf(object, "reason"), TextOf(object, "message"),
          TextOf(object, "status") == "True", TimeOf(object.Field("last_transition_time"))};
}

WorkloadStatus::CheckRecord ReadWorkloadCheck(const Value& object) {
  const Value updates = object.Field("pod_set_updates");
  return {TextOf(object, "name"),
          TextOf(object, "message"),
          Named(TextOf(object, "state"), CheckState::kPending),
          TimeOf(object.Field("last_transition_time")),
          OptionalInteger(object.Field("requeue_after_seconds")),
          OptionalInteger(object.Field("retry_count")),
          ReadPodSetUpdates(updates, updates.Items().empty() ? std::string() : updates.Json())};
}

// Reads the status fields that describe earlier admissions.
void ReadPast(const Value& object, WorkloadStatus& status) {
  if (const Value requeue = object.Field("requeue_state")) {
    status.requeue_count = requeue.Field("count").Integer();
    status.requeue_at = OptionalTime(requeue.Field("requeue_at"));
  }
  status.past_execution_seconds = OptionalInteger(object.Field("accumulated_past_execution_time_seconds"));
  for (const Value& item : object.Field("reclaimable_pods").Items()) {
    status.reclaimable[TextOf(item, "name")] = item.Field("count").Integer();
  }
  status.unhealthy_nodes = Texts(object.Field("unhealthy_nodes"));
}

}  // namespace

PodSetUpdates ReadPodSetUpdates(const Value& list, std::string json) {
  return {std::move(json), ReadAll(list, &ReadPodSetUpdate)};
}

WorkloadObject ReadWorkload(const Value& object) {
  WorkloadSpec spec = ReadWorkloadSpec(object);
  for (const Value& pod_set : object.Field("pod_sets").Items()) {
    spec.pod_sets.push_back(ReadPodSet(pod_set, spec.pod_sets.size()));
  }
  WorkloadObject read;
  read.name = TextOf(object, "name");
  read.uid = TextOf(object, "uid");
  if (read.uid.empty()) read.uid = spec.ns + "." + read.name;
  read.created = OptionalTime(object.Field("creation_timestamp"));
  read.spec = std::make_shared<const WorkloadSpec>(std::move(spec));
  return read;
}

WorkloadStatus ReadStatus(const Value& object) {
  WorkloadStatus status;
  status.conditions = ReadAll(object.Field("conditions"), &ReadCondition);
  if (const Value admission = object.Field("admission")) {
    status.cluster_queue = TextOf(admission, "cluster_queue");
    status.pod_sets = ReadAll(admission.Field("pod_set_assignments"), &ReadAssignment);
  }
  status.checks = ReadAll(object.Field("admission_checks"), &ReadWorkloadCheck);
  ReadPast(object, status);
  return status;
}

}  // namespace kueue
