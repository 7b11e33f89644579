#include "flavor/placer.h"

#include <algorithm>
#include <utility>

#include "flavor/topology_usage.h"

namespace kueue {

bool Placer::Concerns(NodeId queue, const EquivalenceClass& cls) const {
  if (!state_.config.gates.topology_aware_scheduling) return false;
  return std::as_const(state_).Queue(queue).only_topology ||
         std::any_of(cls.pod_sets.begin(), cls.pod_sets.end(), RequestsTopology);
}

TopologyMatch Placer::MatchOf(NodeId queue, int resource_group, FlavorId flavor, ClassId cls, int pod_set) {
  TopologyMatch match;
  match.enabled = state_.config.gates.topology_aware_scheduling;
  if (!match.enabled) return match;
  const PodSetSpec& spec = state_.Class(cls).pod_sets[static_cast<size_t>(pod_set)];
  if (!RequestsTopology(spec)) {
    match.implied = std::as_const(state_).Queue(queue).only_topology;
    return match;
  }
  const FlavorCapacity* capacity = state_.topology.made.capacity.Find(flavor);
  if (capacity != nullptr) match.levels = &capacity->tree->levels();
  const ResourceFlavor* known = state_.Flavor(flavor);
  if (known != nullptr && known->topology_name.empty()) {
    const PodDemand& demand = DemandsOf(state_, cls)[static_cast<size_t>(pod_set)];
    const std::vector<ResourceId>& covered =
        std::as_const(state_).Queue(queue).groups[static_cast<size_t>(resource_group)].covered;
    match.asks_of_group =
        std::any_of(demand.requests.begin(), demand.requests.end(), [&](const auto& request) {
          return std::find(covered.begin(), covered.end(), request.first) != covered.end();
        });
  }
  return match;
}

bool Placer::Fits(const TopologyDemands& demands, WorkloadId workload, WorkloadId replaced) {
  const TopologyAnswers found = Find(demands, workload, false, replaced);
  return std::none_of(found.begin(), found.end(),
                      [](const TopologyAnswer& answer) { return answer.failure != nullptr; });
}

const TopologyAnswer* Placer::FailureIn(const TopologyAnswers& found, ClassId cls) const {
  const TopologyAnswer* first = nullptr;
  const auto name = [&](const TopologyAnswer& answer) -> const std::string& {
    return state_.Class(cls).pod_sets[static_cast<size_t>(answer.pod_set)].name;
  };
  for (const TopologyAnswer& answer : found) {
    if (answer.failure && (first == nullptr || name(answer) < name(*first))) first = &answer;
  }
  return first;
}

void Placer::Apply(const TopologyAnswers& found, Assignment& assignment, WorkloadId id) const {
  for (const TopologyAnswer& answer : found) {
    PodSetAssignment* const pod_set = assignment.Find(answer.pod_set);
    pod_set->topology = answer.assignment;
    if (answer.assignment && pod_set->delayed != DelayedTopology::kNone) {
      pod_set->delayed = DelayedTopology::kReady;
    }
  }
  SetNetUsage(state_, assignment, id);
}

}  // namespace kueue
