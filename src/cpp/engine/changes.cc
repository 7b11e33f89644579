// Mirrors pkg/cache/scheduler/clusterqueue.go and pkg/controller/core/resourceflavor_controller.go
// (kueue ff69552e79).
#include "engine/changes.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace kueue {
namespace {

// Returns the values to compare: covered resources and flavors of each group, and the three amounts of each
// flavor and resource.
auto AllocationOf(const std::vector<ResourceGroup>& groups) {
  std::vector<std::pair<std::set<std::string>, std::vector<std::string>>> covered;
  std::map<std::pair<std::string, std::string>, std::tuple<Amount, Amount, Amount>> quotas;
  for (const ResourceGroup& group : groups) {
    covered.emplace_back().first.insert(group.covered_resources.begin(), group.covered_resources.end());
    for (const FlavorQuotas& flavor : group.flavors) {
      covered.back().second.push_back(flavor.name);
      for (const ResourceQuota& quota : flavor.resources) {
        quotas[{flavor.name, quota.name}] = {quota.nominal, quota.borrowing_limit, quota.lending_limit};
      }
    }
  }
  return std::make_pair(std::move(covered), std::move(quotas));
}

auto Fields(const Taint& taint) { return std::tie(taint.key, taint.value, taint.effect); }
auto Fields(const Toleration& one) { return std::tie(one.key, one.op, one.value, one.effect); }

template <typename T>
bool AreEqual(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return Fields(x) == Fields(y); });
}

}  // namespace

bool AllocateAlike(const std::vector<ResourceGroup>& a, const std::vector<ResourceGroup>& b) {
  return AllocationOf(a) == AllocationOf(b);
}

bool MatchAlike(const ResourceFlavor& a, const ResourceFlavor& b) {
  return a.node_labels == b.node_labels && AreEqual(a.node_taints, b.node_taints) &&
         AreEqual(a.tolerations, b.tolerations);
}

}  // namespace kueue
