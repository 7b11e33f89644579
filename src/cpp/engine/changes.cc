// Mirrors pkg/cache/scheduler/clusterqueue.go, and resourceflavor_controller.go and workload_controller.go of
// pkg/controller/core (kueue ff69552e79).
#include "engine/changes.h"

#include <algorithm>
#include <tuple>

namespace kueue {
namespace {

auto Fields(const ResourceQuota& quota) {
  return std::tie(quota.name, quota.nominal, quota.borrowing_limit, quota.lending_limit);
}
auto Fields(const LabelSelectorRequirement& one) { return std::tie(one.key, one.op, one.values); }
auto Fields(const CheckRule& rule) { return std::tie(rule.name, rule.on_flavors); }
auto Fields(const Taint& taint) { return std::tie(taint.key, taint.value, taint.effect); }
auto Fields(const Toleration& one) { return std::tie(one.key, one.op, one.value, one.effect); }

template <typename T>
bool IsEqual(const T& a, const T& b) {
  return Fields(a) == Fields(b);
}

template <typename T, typename Same>
bool AreEqual(const std::vector<T>& a, const std::vector<T>& b, Same same) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

bool SelectAlike(const std::optional<LabelSelector>& a, const std::optional<LabelSelector>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->match_labels == b->match_labels &&
         AreEqual(a->match_expressions, b->match_expressions, IsEqual<LabelSelectorRequirement>);
}

bool AllocatesAlike(const FlavorQuotas& a, const FlavorQuotas& b) {
  return a.name == b.name && std::is_permutation(a.resources.begin(), a.resources.end(), b.resources.begin(),
                                                 b.resources.end(), IsEqual<ResourceQuota>);
}

}  // namespace

bool AllocateAlike(const std::vector<ResourceGroup>& a, const std::vector<ResourceGroup>& b) {
  return AreEqual(a, b, [](const ResourceGroup& x, const ResourceGroup& y) {
    return std::is_permutation(x.covered_resources.begin(), x.covered_resources.end(),
                               y.covered_resources.begin(), y.covered_resources.end()) &&
           AreEqual(x.flavors, y.flavors, AllocatesAlike);
  });
}

bool ControlAlike(const ClusterQueueSpec& a, const ClusterQueueSpec& b) {
  return a.cohort == b.cohort && a.stop_policy == b.stop_policy &&
         SelectAlike(a.namespace_selector, b.namespace_selector) &&
         AreEqual(a.admission_checks, b.admission_checks, IsEqual<CheckRule>);
}

bool MatchAlike(const ResourceFlavor& a, const ResourceFlavor& b) {
  return a.node_labels == b.node_labels && AreEqual(a.node_taints, b.node_taints, IsEqual<Taint>) &&
         AreEqual(a.tolerations, b.tolerations, IsEqual<Toleration>);
}

}  // namespace kueue
