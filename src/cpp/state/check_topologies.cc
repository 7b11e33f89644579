// Recomputes the trees and their free and used capacity from nodes, pods and admissions, by name
// (pkg/cache/scheduler/tas_flavor.go, tas_topology_tree.go).
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "state/check.h"

namespace kueue {
namespace {

// Amounts by domain and resource. Sums are exact; amounts that would saturate are not compared.
using Room = std::map<std::string, std::map<std::string, absl::int128>>;

class TopologiesCheck {
 public:
  TopologiesCheck(const State& state, std::vector<std::string>& problems)
      : state_(state), all_(state.topology), problems_(problems) {}

  void Run() {
    for (FlavorId flavor : state_.flavors.Ids()) {
      const ResourceFlavor* spec = state_.Flavor(flavor);
      const FlavorCapacity* capacity = all_.made.capacity.Find(flavor);
      const auto levels = spec == nullptr ? all_.levels.end() : all_.levels.find(spec->topology_name);
      const bool has_tree = state_.config.gates.topology_aware_scheduling && levels != all_.levels.end();
      if (has_tree != (capacity != nullptr)) {
        Say(flavor, "has a tree without a topology, or the reverse");
      } else if (has_tree) {
        CheckFlavor(flavor, *spec, levels->second, *capacity);
      }
    }
    for (WorkloadId id : state_.workloads.InOrder()) CheckCharge(id);
  }

 private:
  void Say(FlavorId flavor, const std::string& text) {
    problems_.push_back(absl::StrCat("flavor ", state_.flavor_names.Name(flavor), " ", text));
  }

  static bool IsByNode(const std::vector<std::string>& levels) { return levels.back() == kHostname; }

  // Returns the name of the leaf that contains the node.
  static std::string LeafOf(const Node& node, const std::vector<std::string>& levels) {
    if (IsByNode(levels)) return node.labels.at(kHostname);
    std::vector<std::string> values;
    for (const std::string& level : levels) values.push_back(node.labels.at(level));
    return JoinValues(values);
  }

  void CheckFlavor(FlavorId flavor, const ResourceFlavor& spec, const std::vector<std::string>& levels,
                   const FlavorCapacity& capacity) {
    Room free, used;
    std::map<std::string, std::string> leaf_of_node;
    for (const auto& [name, node] : all_.nodes) {
      if (!node->IsUsable() || !NodeMatchesFlavor(*node, spec.node_labels, levels)) continue;
      const std::string& leaf = leaf_of_node[name] = LeafOf(*node, levels);
      used[leaf];
      for (const auto& [resource, amount] : node->allocatable) free[leaf][resource] += amount;
    }
    for (const auto& [name, pod] : all_.pods) {
      const auto leaf = leaf_of_node.find(pod.node);
      if (!pod.IsForeign() || leaf == leaf_of_node.end()) continue;
      for (const auto& [resource, amount] : pod.requests) {
        free[leaf->second][state_.resource_names.Name(resource)] -= amount;
      }
      free[leaf->second]["pods"] -= 1;
    }
    for (WorkloadId id : state_.workloads.InOrder()) AddUsage(id, flavor, IsByNode(levels), used);
    Compare(flavor, capacity, "free", capacity.free, free);
    Compare(flavor, capacity, "used", capacity.used, used);
    for (int64_t amount : capacity.assumed) {
      if (amount != 0) return Say(flavor, "has pods assumed between two decisions");
    }
  }

  void AddUsage(WorkloadId id, FlavorId flavor, bool by_node, Room& used) const {
    const Workload& workload = state_.At(id);
    if (workload.charged == kNoId || !workload.topology_usage) return;
    for (const TopologyUsage& entry : workload.topology_usage->entries) {
      const FlavorCapacity* own = all_.made.capacity.Find(entry.flavor);
      if (own == nullptr) continue;
      const bool shares =
          state_.config.gates.tas_handle_overlapping_flavors && by_node && own->tree->is_by_node();
      const auto leaf = used.find(all_.domains.Name(entry.domain));
      if ((flavor != entry.flavor && !shares) || leaf == used.end()) continue;
      for (const auto& [resource, amount] : entry.requests) {
        leaf->second[state_.resource_names.Name(resource)] +=
            absl::int128(amount) * static_cast<int64_t>(entry.count);
      }
      leaf->second["pods"] += entry.count;
    }
  }

  void Compare(FlavorId flavor, const FlavorCapacity& capacity, const char* what,
               const std::vector<int64_t>& kept, const Room& room) {
    const TopologyTree& tree = *capacity.tree;
    if (static_cast<size_t>(tree.leaves()) != room.size()) return Say(flavor, "has other leaves than nodes");
    for (int32_t leaf = 0; leaf < tree.leaves(); ++leaf) {
      const std::string& name = all_.domains.Name(tree.IdOfLeaf(leaf));
      const auto found = room.find(name);
      if (found == room.end()) return Say(flavor, absl::StrCat("has no nodes in ", name));
      for (ResourceId resource : state_.resource_names.Ids()) {
        if (tree.SlotOf(resource) == kNoId) continue;  // No node of the tree has the resource.
        const auto amount = found->second.find(state_.resource_names.Name(resource));
        const absl::int128 computed = amount == found->second.end() ? 0 : amount->second;
        const size_t at = static_cast<size_t>(leaf * tree.slots() + tree.SlotOf(resource));
        constexpr int64_t kSaturated = int64_t{1} << 61;
        if (kept[at] == computed || computed > kSaturated || computed < -kSaturated) continue;
        Say(flavor, absl::StrCat("keeps ", kept[at], " ", state_.resource_names.Name(resource), " as ", what,
                                 " in ", name, ", where it is ", static_cast<int64_t>(computed)));
      }
    }
  }

  // Checks that the charge of a workload equals the pods of its topology assignment.
  void CheckCharge(WorkloadId id) {
    const Workload& workload = state_.At(id);
    if (workload.charged == kNoId || !workload.admission) return;
    std::map<std::string, int64_t> placed, charged;
    for (const PodSetAdmission& admitted : workload.admission->pod_sets) {
      std::map<FlavorId, int> flavors;
      for (const PodSetAdmission::Resource& entry : admitted.resources) flavors[entry.flavor];
      if (!admitted.topology || !state_.config.gates.topology_aware_scheduling) continue;
      for (const DomainCount& entry : admitted.topology->domains) {
        if (entry.count <= 0) Complain(id, "has a place without pods");
        if (!flavors.empty()) {
          placed[all_.domains.Name(entry.domain)] += entry.count * static_cast<int64_t>(flavors.size());
        }
      }
    }
    if (workload.topology_usage) {
      for (const TopologyUsage& entry : workload.topology_usage->entries) {
        charged[all_.domains.Name(entry.domain)] += entry.count;
      }
    }
    if (placed != charged) Complain(id, "charges other pods than it has placed");
  }

  void Complain(WorkloadId id, const char* text) {
    problems_.push_back(absl::StrCat("workload ", state_.At(id).Key(), " ", text));
  }

  const State& state_;
  const Topologies& all_;
  std::vector<std::string>& problems_;
};

}  // namespace

void CheckTopologies(const State& state, std::vector<std::string>& problems) {
  if (!state.topology.made.stale) TopologiesCheck(state, problems).Run();
}

}  // namespace kueue
