#include "bindings/read.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "bindings/json.h"
#include "bindings/names.h"
#include "quantity/nano.h"

namespace kueue::python {

std::string Text(const py::handle& value) {
  return value.is_none() ? std::string() : value.cast<std::string>();
}

std::string Briefly(const py::handle& value) {
  try {
    return py::cast<std::string>(py::repr(value));
    // The value is nested too deeply, or its class has a faulty repr().
  } catch (const py::error_already_set&) {
    return absl::StrCat("a ", Py_TYPE(value.ptr())->tp_name);
  }
}

py::object Field(const py::handle& object, const char* name) { return object.attr(Interned(name)); }

std::string TextOf(const py::handle& object, const char* attribute) { return Text(Field(object, attribute)); }

std::map<std::string, std::string> Labels(const py::handle& dict) {
  std::map<std::string, std::string> labels;
  for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(dict)) labels[Text(key)] = Text(value);
  return labels;
}

std::vector<std::string> Texts(const py::handle& sequence) {
  return ReadAll(sequence, [](const py::handle& item) { return Text(item); });
}

std::optional<int64_t> OptionalInt(const py::handle& value) {
  return value.is_none() ? std::nullopt : std::optional<int64_t>(value.cast<int64_t>());
}

Time TimeOf(const py::handle& value) { return Field(value, "value").cast<Time>(); }

std::optional<Time> OptionalTime(const py::handle& value) {
  return value.is_none() ? std::nullopt : std::optional<Time>(TimeOf(value));
}

Quantity ReadQuantity(const py::handle& value, const std::string& where) {
  if (py::isinstance<Quantity>(value)) return value.cast<Quantity>();
  const absl::StatusOr<Quantity> quantity = Quantity::Parse(std::string(py::str(value)));
  if (!quantity.ok()) {
    ThrowIfError(absl::InvalidArgumentError(absl::StrCat(where, ": ", quantity.status().message())));
  }
  return *quantity;
}

ResourceList ReadResources(const py::handle& dict, const std::string& where) {
  ResourceList resources;
  if (dict.is_none()) return resources;
  for (const auto& [name, value] : py::reinterpret_borrow<py::dict>(dict)) {
    const std::string resource = Text(name);
    resources[resource] = ReadQuantity(value, absl::StrCat(where, "[", resource, "]"));
  }
  return resources;
}

namespace {

double Weight(const py::handle& object) {
  const py::object sharing = object.attr("fair_sharing");
  if (sharing.is_none()) return 1.0;
  return ReadQuantity(sharing.attr("weight"), "spec.fairSharing.weight").AsDouble();
}

Toleration ReadFlavorToleration(const py::handle& object) {
  return {TextOf(object, "key"), TextOf(object, "operator"), TextOf(object, "value"),
          TextOf(object, "effect"), !object.attr("toleration_seconds").is_none()};
}

Taint ReadTaint(const py::handle& object) {
  return {TextOf(object, "key"), TextOf(object, "value"), TextOf(object, "effect")};
}

Amount ReadQuota(const py::handle& value, const std::string& resource, const std::string& where) {
  return value.is_none() ? Amount::Unlimited() : AmountFromQuantity(resource, ReadQuantity(value, where));
}

FlavorQuotas ReadFlavorQuotas(const py::handle& object) {
  FlavorQuotas quotas;
  quotas.name = TextOf(object, "name");
  for (const py::handle& resource : object.attr("resources")) {
    ResourceQuota quota;
    quota.name = TextOf(resource, "name");
    const std::string where = absl::StrCat("quota of ", quota.name, " in flavor ", quotas.name);
    quota.nominal = ReadQuota(resource.attr("nominal_quota"), quota.name, where);
    quota.borrowing_limit = ReadQuota(resource.attr("borrowing_limit"), quota.name, where);
    quota.lending_limit = ReadQuota(resource.attr("lending_limit"), quota.name, where);
    quotas.resources.push_back(std::move(quota));
  }
  return quotas;
}

ResourceGroup ReadGroup(const py::handle& object) {
  return {Texts(object.attr("covered_resources")), ReadAll(object.attr("flavors"), &ReadFlavorQuotas)};
}

CheckRule ReadCheckRule(const py::handle& object) {
  return {TextOf(object, "name"), Texts(object.attr("on_flavors"))};
}

StopPolicy ReadStopPolicy(const py::handle& object) {
  return Named(TextOf(object, "stop_policy"), StopPolicy::kNone);
}

void SetFungibility(const py::handle& object, ClusterQueueSpec& spec) {
  spec.flavor_fungibility.when_can_borrow =
      Named(TextOf(object, "when_can_borrow"), FungibilityPolicy::kMayStopSearch);
  spec.flavor_fungibility.when_can_preempt =
      Named(TextOf(object, "when_can_preempt"), FungibilityPolicy::kMayStopSearch);
  spec.flavor_fungibility.preference =
      Named(TextOf(object, "preference"), FungibilityPreference::kBorrowingOverPreemption);
}

void SetPreemption(const py::handle& object, ClusterQueueSpec& spec) {
  spec.preemption.within_cluster_queue =
      Named(TextOf(object, "within_cluster_queue"), PreemptionPolicy::kNever);
  spec.preemption.reclaim_within_cohort =
      Named(TextOf(object, "reclaim_within_cohort"), PreemptionPolicy::kNever);
  const py::object borrow = object.attr("borrow_within_cohort");
  spec.preemption.borrow_within_cohort = TextOf(borrow, "policy") == "LowerPriority";
  spec.preemption.max_priority_threshold = OptionalInt(borrow.attr("max_priority_threshold"));
}

LabelSelectorRequirement ReadExpression(const py::handle& object) {
  return {TextOf(object, "key"), TextOf(object, "operator"), Texts(object.attr("values"))};
}

std::optional<LabelSelector> ReadSelector(const py::handle& object) {
  if (object.is_none()) return std::nullopt;
  return LabelSelector{Labels(object.attr("match_labels")),
                       ReadAll(object.attr("match_expressions"), &ReadExpression)};
}

}  // namespace

ResourceFlavor ReadFlavor(const py::handle& object) {
  return {TextOf(object, "name"), Labels(object.attr("node_labels")),
          ReadAll(object.attr("node_taints"), &ReadTaint),
          ReadAll(object.attr("tolerations"), &ReadFlavorToleration), TextOf(object, "topology_name")};
}

ClusterQueueSpec ReadClusterQueue(const py::handle& object) {
  ClusterQueueSpec spec;
  spec.name = TextOf(object, "name");
  spec.cohort = TextOf(object, "cohort_name");
  spec.resource_groups = ReadAll(object.attr("resource_groups"), &ReadGroup);
  spec.queueing_strategy = Named(TextOf(object, "queueing_strategy"), QueueingStrategy::kBestEffortFIFO);
  spec.namespace_selector = ReadSelector(object.attr("namespace_selector"));
  SetFungibility(object.attr("flavor_fungibility"), spec);
  SetPreemption(object.attr("preemption"), spec);
  spec.admission_checks = ReadAll(object.attr("admission_checks_strategy"), &ReadCheckRule);
  spec.stop_policy = ReadStopPolicy(object);
  spec.fair_weight = Weight(object);
  spec.usage_based_admission_fair_sharing =
      TextOf(object, "admission_scope") == "UsageBasedAdmissionFairSharing";
  return spec;
}

CohortSpec ReadCohort(const py::handle& object) {
  return {TextOf(object, "name"), TextOf(object, "parent_name"),
          ReadAll(object.attr("resource_groups"), &ReadGroup), Weight(object)};
}

namespace {

// status.fairSharing.admissionFairSharingStatus.consumedResources
std::map<std::string, Int128> ReadConsumed(const py::handle& status) {
  std::map<std::string, Int128> consumed;
  if (status.is_none()) return consumed;
  for (const auto& [name, quantity] :
       ReadResources(status.attr("consumed_resources"), "status.fairSharing.consumedResources")) {
    consumed[name] = NanoOf(quantity);
  }
  return consumed;
}

}  // namespace

LocalQueueSpec ReadLocalQueue(const py::handle& object) {
  return {TextOf(object, "namespace"), TextOf(object, "name"), TextOf(object, "cluster_queue"),
          ReadStopPolicy(object),      Weight(object),         ReadConsumed(object.attr("status"))};
}

AdmissionCheckSpec ReadCheck(const py::handle& object) {
  return {TextOf(object, "name"), TextOf(object, "controller_name"), object.attr("active").cast<bool>()};
}

LimitRange ReadLimitRange(const py::handle& object) {
  return {ReadAll(object.attr("limits"), [](const py::handle& item) -> LimitRange::Item {
    return {TextOf(item, "type"), ReadResources(item.attr("max"), "max"),
            ReadResources(item.attr("min"), "min"), ReadResources(item.attr("default"), "default"),
            ReadResources(item.attr("default_request"), "defaultRequest")};
  })};
}

Node ReadNode(const py::handle& object) {
  Node node;
  node.name = TextOf(object, "name");
  node.labels = Labels(object.attr("labels"));
  node.annotations = Labels(object.attr("annotations"));
  node.taints = ReadAll(object.attr("taints"), &ReadTaint);
  for (const py::handle& taint : object.attr("taints")) {
    const py::object added = taint.attr("time_added");
    absl::StrAppend(&node.other_conditions, added.is_none() ? "" : added.cast<std::string>(), ";");
  }
  node.unschedulable = object.attr("unschedulable").cast<bool>();
  for (const auto& [name, quantity] : ReadResources(object.attr("allocatable"), "status.allocatable")) {
    node.allocatable[name] = ResourceValue(name, quantity);
  }
  for (const auto& [type, status] : Labels(object.attr("other_conditions"))) {
    absl::StrAppend(&node.other_conditions, type, "=", status, ";");
  }
  const py::object ready = object.attr("ready");
  if (ready.is_none()) return node;
  node.ready = ready.cast<bool>()                          ? NodeReadiness::kReady
               : object.attr("ready_unknown").cast<bool>() ? NodeReadiness::kUnknown
                                                           : NodeReadiness::kNotReady;
  return node;
}

namespace {

std::map<std::string, std::string> UpdatedLabels(const py::handle& update, const char* key) {
  const py::handle found = GetDict(update, key, "podSetUpdates");
  return found ? Labels(found) : std::map<std::string, std::string>();
}

PodSetUpdate ReadPodSetUpdate(const py::handle& object) {
  PodSetUpdate update;
  update.name = GetText(object, "name", "podSetUpdates");
  update.labels = UpdatedLabels(object, "labels");
  update.annotations = UpdatedLabels(object, "annotations");
  update.node_selector = UpdatedLabels(object, "nodeSelector");
  ForEachObject(object, "tolerations", "podSetUpdates", [&](const py::handle& one, const std::string& at) {
    update.tolerations.push_back(ReadToleration(one, at));
  });
  return update;
}

}  // namespace

PodSetUpdates ReadPodSetUpdates(const std::string& json) {
  PodSetUpdates updates;
  updates.json = json;
  if (json.empty()) return updates;
  const py::object parsed = py::module_::import("json").attr("loads")(json);
  updates.list = ReadAll(parsed, &ReadPodSetUpdate);
  return updates;
}

RuntimeClass ReadRuntimeClass(const py::handle& object) {
  return {ReadResources(object.attr("overhead"), "overhead.podFixed")};
}

namespace {

ResourceTransformation ReadTransformation(const py::handle& object) {
  return {TextOf(object, "input"), TextOf(object, "strategy") == "Replace", TextOf(object, "multiply_by"),
          ReadResources(object.attr("outputs"), "outputs")};
}

}  // namespace

RequestsConfig ReadRequestsConfig(const py::handle& configuration) {
  RequestsConfig config;
  if (configuration.is_none()) return config;
  const py::object resources = configuration.attr("resources");
  config.excluded_prefixes = Texts(resources.attr("exclude_resource_prefixes"));
  config.transformations = ReadAll(resources.attr("transformations"), &ReadTransformation);
  return config;
}

namespace {

std::vector<FairSharingStrategy> ReadStrategies(const py::handle& sharing) {
  std::vector<FairSharingStrategy> strategies;
  for (const std::string& name : Texts(sharing.attr("preemption_strategies"))) {
    strategies.push_back(Named(name, FairSharingStrategy::kLessThanOrEqualToFinalShare));
  }
  if (!strategies.empty()) return strategies;
  return {FairSharingStrategy::kLessThanOrEqualToFinalShare, FairSharingStrategy::kLessThanInitialShare};
}

WaitForPodsReady ReadWaitForPodsReady(const py::handle& wait) {
  const py::object strategy = wait.attr("requeuing_strategy");
  return {TimeOf(wait.attr("timeout")),
          OptionalTime(wait.attr("recovery_timeout")),
          wait.attr("block_admission").cast<bool>(),
          TextOf(strategy, "timestamp") != "Creation",
          strategy.attr("backoff_base_seconds").cast<int64_t>(),
          strategy.attr("backoff_max_seconds").cast<int64_t>(),
          OptionalInt(strategy.attr("backoff_limit_count"))};
}

AdmissionFairSharing ReadAdmissionFairSharing(const py::handle& usage) {
  return {TimeOf(usage.attr("usage_half_life_time")), TimeOf(usage.attr("usage_sampling_interval")),
          usage.attr("resource_weights").cast<std::map<std::string, double>>()};
}

// Reads the feature gates, and the rules of an earlier release.
void ReadGates(const py::handle& configuration, Config& config) {
  for (const auto& [name, value] : configuration.attr("gates").cast<std::map<std::string, bool>>()) {
    config.gates.Set(name, value);
  }
  for (const std::string& name : Texts(configuration.attr("rules"))) {
    if (config.rules.Set(name, true)) continue;
    ThrowIfError(absl::InternalError(absl::StrCat("the core has no rule of the name ", name)));
  }
  config.gates.Resolve();
}

}  // namespace

Config ReadConfig(const py::handle& configuration) {
  Config config;
  if (configuration.is_none()) return config;
  if (const py::object sharing = configuration.attr("fair_sharing"); !sharing.is_none()) {
    config.fair_sharing = ReadStrategies(sharing);
  }
  if (const py::object usage = configuration.attr("admission_fair_sharing"); !usage.is_none()) {
    config.admission_fair_sharing = ReadAdmissionFairSharing(usage);
  }
  if (const py::object wait = configuration.attr("wait_for_pods_ready"); !wait.is_none()) {
    config.wait_for_pods_ready = ReadWaitForPodsReady(wait);
  }
  config.ignore_undeclared_resources =
      TextOf(configuration.attr("resources"), "quota_check_strategy") == "IgnoreUndeclared";
  config.device_class_mappings = ReadDeviceClassMappings(configuration.attr("resources"));
  ReadGates(configuration, config);
  if (!config.gates.admission_fair_sharing) config.admission_fair_sharing.reset();
  return config;
}

}  // namespace kueue::python
