// Placement of workloads that keep part of their topology assignment, because a node failed or an elastic
// slice is replaced. Mirrors pkg/cache/scheduler/{tas_flavor_snapshot,tas_elastic_workloads}.go (kueue
// ff69552e79).
#include <algorithm>

#include "flavor/placer.h"
#include "topology/replacement.h"

namespace kueue {
namespace {

int32_t PodsIn(const std::vector<DomainCount>& domains) {
  int32_t pods = 0;
  for (const DomainCount& entry : domains) pods += entry.count;
  return pods;
}

// Returns the first `pods` pods of an assignment.
std::vector<DomainCount> FirstOf(const std::vector<DomainCount>& domains, int32_t pods) {
  std::vector<DomainCount> first;
  for (const DomainCount& entry : domains) {
    if (pods <= 0) break;
    first.push_back({entry.domain, std::min(pods, entry.count)});
    pods -= entry.count;
  }
  return first;
}

}  // namespace

bool Placer::ReplaceNode(const Group& group, Search& search) {
  const Workload& workload = state_.At(search.workload);
  const EquivalenceClass& cls = state_.Class(workload.cls);
  for (const TopologyDemand* demand : group) {
    const PodSetAdmission* admitted =
        AdmittedAs(workload, cls.pod_sets[static_cast<size_t>(demand->pod_set)].name);
    if (admitted == nullptr || !admitted->topology) continue;
    if (state_.config.gates.skip_reassignment_for_pod_owned_workloads && workload.owned_by_single_pod) {
      search.answers.push_back({demand->pod_set, demand->flavor, admitted->topology, nullptr});
      continue;
    }
    Replacement replacement;
    PlacementQuery query = QueryFor(*demand, nullptr, search, replacement.failure);
    query.as_if_empty = false;
    if (!replacement.failure) {
      replacement = Replace(*state_.topology.made.capacity.Find(demand->flavor), std::move(query),
                            {admitted->topology->domains, workload.Status().unhealthy_nodes.front()},
                            PlacementGatesOf(state_), state_.resource_names, state_.topology.domains);
    }
    if (replacement.failure) {
      search.answers.push_back({demand->pod_set, demand->flavor, nullptr, replacement.failure});
      return false;
    }
    Answer(*demand, std::move(replacement.all), search);
    Assume(*demand, replacement.moved, search.workload);
  }
  return true;
}

// The new slice of an elastic job keeps the placement of the old slice as far as possible.
std::optional<bool> Placer::PlaceElastic(const TopologyDemand& workers, const TopologyDemand* leader,
                                         Search& search) {
  const WorkloadId id = search.workload;
  const FeatureGates& gates = state_.config.gates;
  if (search.replaced == kNoId || !state_.At(id).spec->elastic || !gates.elastic_jobs_via_workload_slices ||
      !gates.elastic_jobs_via_workload_slices_with_tas) {
    return std::nullopt;
  }
  const EquivalenceClass& cls = state_.Class(state_.At(id).cls);
  const auto previous = [&](const TopologyDemand& demand) -> const TopologyAssignment* {
    const PodSetAdmission* admitted =
        AdmittedAs(state_.At(search.replaced), cls.pod_sets[static_cast<size_t>(demand.pod_set)].name);
    return admitted == nullptr ? nullptr : admitted->topology.get();
  };
  const TopologyTree& tree = *state_.topology.made.capacity.Find(workers.flavor)->tree;
  const TopologyAssignment* const old = previous(workers);
  const TopologyAssignment* const old_leader = leader == nullptr ? nullptr : previous(*leader);
  if (old == nullptr || StaleDomain(tree, old->domains) != kNoId) return std::nullopt;
  if (old_leader != nullptr && StaleDomain(tree, old_leader->domains) != kNoId) return std::nullopt;
  std::vector<DomainCount> leader_domains;
  if (old_leader != nullptr) leader_domains = old_leader->domains;
  std::vector<DomainCount> domains = FirstOf(old->domains, workers.count);
  Assume(workers, domains, id);
  if (leader != nullptr) Assume(*leader, leader_domains, id);
  if (const int32_t more = workers.count - PodsIn(old->domains); more > 0) {
    Placement placement;
    PlacementQuery query =
        QueryFor(workers, old_leader == nullptr ? leader : nullptr, search, placement.failure);
    query.count = more;
    if (!placement.failure) {
      placement = Place(*state_.topology.made.capacity.Find(workers.flavor), query, PlacementGatesOf(state_),
                        state_.resource_names);
    }
    if (placement.failure) {
      search.answers.push_back({workers.pod_set, workers.flavor, nullptr, placement.failure});
      return false;
    }
    Assume(workers, placement.workers, id);
    domains = Merge(tree, placement.workers, domains);
    if (leader != nullptr && old_leader == nullptr) {
      Assume(*leader, placement.leader, id);
      leader_domains = std::move(placement.leader);
    }
  }
  Answer(workers, std::move(domains), search);
  if (leader != nullptr) Answer(*leader, std::move(leader_domains), search);
  return true;
}

}  // namespace kueue
