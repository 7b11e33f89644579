#include "objects/configuration.h"

#include "absl/strings/str_cat.h"
#include "model/names.h"
#include "objects/devices.h"
#include "objects/fields.h"

namespace kueue {
namespace {

ResourceTransformation ReadTransformation(const Value& object) {
  return {TextOf(object, "input"), TextOf(object, "strategy") == "Replace", TextOf(object, "multiply_by"),
          ReadResources(object.Field("outputs"), "outputs")};
}

std::vector<FairSharingStrategy> ReadStrategies(const Value& sharing) {
  std::vector<FairSharingStrategy> strategies;
  for (const std::string& name : Texts(sharing.Field("preemption_strategies"))) {
    strategies.push_back(Named(name, FairSharingStrategy::kLessThanOrEqualToFinalShare));
  }
  if (!strategies.empty()) return strategies;
  return {FairSharingStrategy::kLessThanOrEqualToFinalShare, FairSharingStrategy::kLessThanInitialShare};
}

WaitForPodsReady ReadWaitForPodsReady(const Value& wait) {
  const Value strategy = wait.Field("requeuing_strategy");
  return {TimeOf(wait.Field("timeout")),
          OptionalTime(wait.Field("recovery_timeout")),
          wait.Field("block_admission").Bool(),
          TextOf(strategy, "timestamp") != "Creation",
          strategy.Field("backoff_base_seconds").Integer(),
          strategy.Field("backoff_max_seconds").Integer(),
          OptionalInteger(strategy.Field("backoff_limit_count"))};
}

AdmissionFairSharing ReadAdmissionFairSharing(const Value& usage) {
  AdmissionFairSharing read{
      TimeOf(usage.Field("usage_half_life_time")), TimeOf(usage.Field("usage_sampling_interval")), {}};
  for (const auto& [resource, weight] : usage.Field("resource_weights").Entries()) {
    read.resource_weights[resource.Text()] = weight.Number();
  }
  return read;
}

// Reads the feature gates, and the rules of an earlier release.
void ReadGates(const Value& configuration, Config& config) {
  for (const auto& [name, value] : configuration.Field("gates").Entries()) {
    config.gates.Set(name.Text(), value.Bool());
  }
  for (const std::string& name : Texts(configuration.Field("rules"))) {
    if (config.rules.Set(name, true)) continue;
    ThrowIfError(absl::InternalError(absl::StrCat("the core has no rule of the name ", name)));
  }
  config.gates.Resolve();
}

}  // namespace

RequestsConfig ReadRequestsConfig(const Value& configuration) {
  RequestsConfig config;
  if (!configuration) return config;
  const Value resources = configuration.Field("resources");
  config.excluded_prefixes = Texts(resources.Field("exclude_resource_prefixes"));
  config.transformations = ReadAll(resources.Field("transformations"), &ReadTransformation);
  return config;
}

Config ReadConfig(const Value& configuration) {
  Config config;
  if (!configuration) return config;
  if (const Value sharing = configuration.Field("fair_sharing")) {
    config.fair_sharing = ReadStrategies(sharing);
  }
  if (const Value usage = configuration.Field("admission_fair_sharing")) {
    config.admission_fair_sharing = ReadAdmissionFairSharing(usage);
  }
  if (const Value wait = configuration.Field("wait_for_pods_ready")) {
    config.wait_for_pods_ready = ReadWaitForPodsReady(wait);
  }
  config.ignore_undeclared_resources =
      TextOf(configuration.Field("resources"), "quota_check_strategy") == "IgnoreUndeclared";
  if (const Value retention = configuration.Field("object_retention_policies")) {
    config.retention = {OptionalTime(retention.Field("after_finished")),
                        OptionalTime(retention.Field("after_deactivated_by_kueue"))};
  }
  config.device_class_mappings = ReadDeviceClassMappings(configuration.Field("resources"));
  ReadGates(configuration, config);
  if (!config.gates.admission_fair_sharing) config.admission_fair_sharing.reset();
  return config;
}

}  // namespace kueue
