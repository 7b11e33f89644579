#include "objects/queues.h"

#include "absl/strings/str_cat.h"
#include "model/names.h"
#include "objects/fields.h"
#include "quantity/nano.h"

namespace kueue {
namespace {

double Weight(const Value& object) {
  const Value sharing = object.Field("fair_sharing");
  if (!sharing) return 1.0;
  return ReadQuantity(sharing.Field("weight"), "spec.fairSharing.weight").AsDouble();
}

Toleration ReadFlavorToleration(const Value& object) {
  return {TextOf(object, "key"), TextOf(object, "operator"), TextOf(object, "value"),
          TextOf(object, "effect"), static_cast<bool>(object.Field("toleration_seconds"))};
}

Amount ReadQuota(const Value& value, const std::string& resource, const std::string& where) {
  return value ? AmountFromQuantity(resource, ReadQuantity(value, where)) : Amount::Unlimited();
}

FlavorQuotas ReadFlavorQuotas(const Value& object) {
  FlavorQuotas quotas;
  quotas.name = TextOf(object, "name");
  for (const Value& resource : object.Field("resources").Items()) {
    ResourceQuota quota;
    quota.name = TextOf(resource, "name");
    const std::string where = absl::StrCat("quota of ", quota.name, " in flavor ", quotas.name);
    quota.nominal = ReadQuota(resource.Field("nominal_quota"), quota.name, where);
    quota.borrowing_limit = ReadQuota(resource.Field("borrowing_limit"), quota.name, where);
    quota.lending_limit = ReadQuota(resource.Field("lending_limit"), quota.name, where);
    quotas.resources.push_back(std::move(quota));
  }
  return quotas;
}

ResourceGroup ReadGroup(const Value& object) {
  return {Texts(object.Field("covered_resources")), ReadAll(object.Field("flavors"), &ReadFlavorQuotas)};
}

CheckRule ReadCheckRule(const Value& object) {
  return {TextOf(object, "name"), Texts(object.Field("on_flavors"))};
}

StopPolicy ReadStopPolicy(const Value& object) {
  return Named(TextOf(object, "stop_policy"), StopPolicy::kNone);
}

void SetFungibility(const Value& object, ClusterQueueSpec& spec) {
  spec.flavor_fungibility.when_can_borrow =
      Named(TextOf(object, "when_can_borrow"), FungibilityPolicy::kMayStopSearch);
  spec.flavor_fungibility.when_can_preempt =
      Named(TextOf(object, "when_can_preempt"), FungibilityPolicy::kMayStopSearch);
  spec.flavor_fungibility.preference =
      Named(TextOf(object, "preference"), FungibilityPreference::kBorrowingOverPreemption);
}

void SetPreemption(const Value& object, ClusterQueueSpec& spec) {
  spec.preemption.within_cluster_queue =
      Named(TextOf(object, "within_cluster_queue"), PreemptionPolicy::kNever);
  spec.preemption.reclaim_within_cohort =
      Named(TextOf(object, "reclaim_within_cohort"), PreemptionPolicy::kNever);
  const Value borrow = object.Field("borrow_within_cohort");
  spec.preemption.borrow_within_cohort = TextOf(borrow, "policy") == "LowerPriority";
  spec.preemption.max_priority_threshold = OptionalInteger(borrow.Field("max_priority_threshold"));
}

LabelSelectorRequirement ReadExpression(const Value& object) {
  return {TextOf(object, "key"), TextOf(object, "operator"), Texts(object.Field("values"))};
}

std::optional<LabelSelector> ReadSelector(const Value& object) {
  if (!object) return std::nullopt;
  return LabelSelector{Labels(object.Field("match_labels")),
                       ReadAll(object.Field("match_expressions"), &ReadExpression)};
}

// status.fairSharing.admissionFairSharingStatus.consumedResources
std::map<std::string, Int128> ReadConsumed(const Value& status) {
  std::map<std::string, Int128> consumed;
  if (!status) return consumed;
  for (const auto& [name, quantity] :
       ReadResources(status.Field("consumed_resources"), "status.fairSharing.consumedResources")) {
    consumed[name] = NanoOf(quantity);
  }
  return consumed;
}

}  // namespace

Taint ReadTaint(const Value& object) {
  return {TextOf(object, "key"), TextOf(object, "value"), TextOf(object, "effect")};
}

ResourceFlavor ReadFlavor(const Value& object) {
  return {TextOf(object, "name"), Labels(object.Field("node_labels")),
          ReadAll(object.Field("node_taints"), &ReadTaint),
          ReadAll(object.Field("tolerations"), &ReadFlavorToleration), TextOf(object, "topology_name")};
}

ClusterQueueSpec ReadClusterQueue(const Value& object) {
  ClusterQueueSpec spec;
  spec.name = TextOf(object, "name");
  spec.cohort = TextOf(object, "cohort_name");
  spec.resource_groups = ReadAll(object.Field("resource_groups"), &ReadGroup);
  spec.queueing_strategy = Named(TextOf(object, "queueing_strategy"), QueueingStrategy::kBestEffortFIFO);
  spec.namespace_selector = ReadSelector(object.Field("namespace_selector"));
  SetFungibility(object.Field("flavor_fungibility"), spec);
  SetPreemption(object.Field("preemption"), spec);
  spec.admission_checks = ReadAll(object.Field("admission_checks_strategy"), &ReadCheckRule);
  spec.stop_policy = ReadStopPolicy(object);
  spec.fair_weight = Weight(object);
  spec.usage_based_admission_fair_sharing =
      TextOf(object, "admission_scope") == "UsageBasedAdmissionFairSharing";
  if (const Value policy = object.Field("concurrent_admission_policy")) {
    const Value migration = policy.Get("migration"), constraints = migration.Get("constraints");
    spec.concurrent_admission = {migration.Get("mode").Text() == "RetainFirstAdmission",
                                 constraints.Get("lastAcceptableFlavorName").Text()};
  }
  return spec;
}

CohortSpec ReadCohort(const Value& object) {
  return {TextOf(object, "name"), TextOf(object, "parent_name"),
          ReadAll(object.Field("resource_groups"), &ReadGroup), Weight(object)};
}

LocalQueueSpec ReadLocalQueue(const Value& object) {
  return {TextOf(object, "namespace"), TextOf(object, "name"), TextOf(object, "cluster_queue"),
          ReadStopPolicy(object),      Weight(object),         ReadConsumed(object.Field("status"))};
}

AdmissionCheckSpec ReadCheck(const Value& object) {
  return {TextOf(object, "name"), TextOf(object, "controller_name"), object.Field("active").Bool()};
}

}  // namespace kueue
