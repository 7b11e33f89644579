#include "flavor/topology_usage.h"

#include <algorithm>
#include <string>

#include "flavor/demands.h"

namespace kueue {
namespace {

int32_t PodsIn(const TopologyAssignment& assignment, DomainId domain) {
  int32_t pods = 0;
  for (const DomainCount& entry : assignment.domains) {
    if (entry.domain == domain) pods += entry.count;
  }
  return pods;
}

// Usage charged within a cycle in releases with the rule topology_usage_by_quota: the quota usage of a pod,
// once for each of its resources in a flavor with a topology.
TopologyUsages UsageByQuota(State& state, const Assignment& assignment, WorkloadId id) {
  TopologyUsages usage;
  const Workload& workload = state.At(id);
  const EquivalenceClass& cls = state.Class(workload.cls);
  for (const PodSetAssignment& pod_set : assignment.pod_sets) {
    const PodSetAdmission* admitted =
        AdmittedAs(workload, cls.pod_sets[static_cast<size_t>(pod_set.pod_set)].name);
    if (!pod_set.topology || (admitted != nullptr && admitted->topology)) continue;
    PodAmounts requests;
    for (const auto& [resource, amount] : pod_set.requests) {
      const FlavorChoice* choice = pod_set.Find(resource);
      if (choice == nullptr || !HasTree(state, choice->flavor)) continue;
      requests.emplace_back(resource, amount / std::max<int64_t>(pod_set.count, 1));
    }
    for (const FlavorChoice& choice : pod_set.flavors) {
      if (!HasTree(state, choice.flavor)) continue;
      for (const DomainCount& entry : pod_set.topology->domains) {
        usage.push_back({choice.flavor, entry.domain, entry.count, requests});
      }
    }
  }
  return usage;
}

}  // namespace

void SetNetUsage(State& state, Assignment& assignment, WorkloadId id) {
  TopologyUsages& usage = assignment.topology_usage;
  usage.clear();
  if (state.config.rules.topology_usage_by_quota) {
    usage = UsageByQuota(state, assignment, id);
    return;
  }
  const Workload& workload = state.At(id);
  const EquivalenceClass& cls = state.Class(workload.cls);
  for (const PodSetAssignment& pod_set : assignment.pod_sets) {
    if (!pod_set.topology) continue;
    FlavorId flavor = kNoId;
    std::string names;
    if (FindTopologyFlavor(state, pod_set, flavor, names)) continue;  // it returns an error, if any
    const PodSetAdmission* admitted =
        AdmittedAs(workload, cls.pod_sets[static_cast<size_t>(pod_set.pod_set)].name);
    const bool was_placed = admitted != nullptr && admitted->topology;
    if (was_placed && state.config.rules.moved_pods_are_uncounted) continue;
    const PodAmounts& requests =
        kueue::DemandsOf(state, workload.cls)[static_cast<size_t>(pod_set.pod_set)].requests;
    usage.reserve(usage.size() + pod_set.topology->domains.size());
    for (const DomainCount& entry : pod_set.topology->domains) {
      const int32_t count = entry.count - (was_placed ? PodsIn(*admitted->topology, entry.domain) : 0);
      if (count > 0) usage.push_back({flavor, entry.domain, count, requests});
    }
  }
}

bool HasRoom(const State& state, const TopologyUsages& usage) {
  return std::all_of(usage.begin(), usage.end(), [&state](const TopologyUsage& entry) {
    const FlavorCapacity& capacity = *state.topology.made.capacity.Find(entry.flavor);
    const int32_t leaf = capacity.tree->LeafOf(entry.domain);
    // Pods without requests do not fit.
    if (leaf == kNoId || entry.requests.empty()) return false;
    return std::all_of(entry.requests.begin(), entry.requests.end(), [&](const auto& request) {
      const int slot = capacity.tree->SlotOf(request.first);
      const size_t at = static_cast<size_t>(leaf * capacity.tree->slots() + slot);
      const int64_t unused = slot == kNoId ? 0 : SaturatingSub(capacity.free[at], capacity.used[at]);
      return request.second == 0 || (unused > 0 && unused / request.second >= entry.count);
    });
  });
}

}  // namespace kueue
