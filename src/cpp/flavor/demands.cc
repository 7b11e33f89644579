#include "flavor/demands.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_join.h"
#include "flavor/eligibility.h"
#include "topology/replacement.h"

namespace kueue {
namespace {

bool HasUnhealthyNode(const State& state, const Workload& workload, const TopologyAssignment& assignment) {
  const std::vector<std::string>& nodes = workload.Status().unhealthy_nodes;
  if (nodes.empty()) return false;
  return std::any_of(assignment.domains.begin(), assignment.domains.end(), [&](const DomainCount& entry) {
    const std::string lowest = LowestValue(state.topology.domains.Name(entry.domain));
    return std::find(nodes.begin(), nodes.end(), lowest) != nodes.end();
  });
}

// Elastic jobs cannot request a level of the topology.
std::optional<RefusalKind> ElasticError(const PodSetSpec& spec) {
  if (!spec.topology) return std::nullopt;
  if (spec.topology->required) return RefusalKind::kElasticRequiredTopology;
  if (spec.topology->preferred) return RefusalKind::kElasticPreferredTopology;
  return std::nullopt;
}

}  // namespace

const PodSetAdmission* AdmittedAs(const Workload& workload, const std::string& pod_set) {
  if (!workload.admission) return nullptr;
  for (const PodSetAdmission& admitted : workload.admission->pod_sets) {
    if (admitted.name == pod_set) return &admitted;
  }
  return nullptr;
}

std::optional<RefusalKind> FindTopologyFlavor(const State& state, const PodSetAssignment& pod_set,
                                              FlavorId& flavor, std::string& names) {
  flavor = kNoId;
  bool several = false;
  for (const FlavorChoice& choice : pod_set.flavors) {
    if (choice.flavor == flavor || !HasTree(state, choice.flavor)) continue;
    several = several || flavor != kNoId;
    flavor = choice.flavor;
  }
  if (flavor == kNoId) return RefusalKind::kNoTopologyFlavor;
  if (!several) return std::nullopt;
  std::set<std::string> found;
  for (const FlavorChoice& choice : pod_set.flavors) {
    if (HasTree(state, choice.flavor)) found.insert(state.flavor_names.Name(choice.flavor));
  }
  names = absl::StrJoin(found, ", ");
  return RefusalKind::kManyTopologyFlavors;
}

TopologyDemands TopologyDemandsOf(const State& state, Assignment& assignment, NodeId queue_id,
                                  WorkloadId id) {
  TopologyDemands demands;
  const Workload& workload = state.At(id);
  const EquivalenceClass& cls = state.Class(workload.cls);
  const ClusterQueue& queue = state.Queue(queue_id);
  const bool known = std::any_of(queue.flavors.begin(), queue.flavors.end(),
                                 [&state](FlavorId flavor) { return HasTree(state, flavor); });
  const FeatureGates& gates = state.config.gates;
  const bool elastic = workload.spec->elastic && gates.elastic_jobs_via_workload_slices &&
                       gates.elastic_jobs_via_workload_slices_with_tas;
  for (size_t i = 0; i < cls.pod_sets.size(); ++i) {
    const PodSetSpec& spec = cls.pod_sets[i];
    const bool asked = RequestsTopology(spec);
    PodSetAssignment* const assigned = assignment.Find(static_cast<int>(i));
    if ((!asked && !queue.only_topology) || assigned == nullptr) continue;
    if (assigned->HasError() || assigned->count == 0) continue;
    if (assigned->topology && !HasUnhealthyNode(state, workload, *assigned->topology)) continue;
    const auto fail = [assigned](RefusalKind kind, RefusalDetail detail = {}) {
      assigned->refusals.push_back({kind, kNoId, kNoId, std::move(detail)});
    };
    FlavorId flavor = kNoId;
    std::string names;
    if (const auto kind = elastic ? ElasticError(spec) : std::nullopt) {
      fail(*kind);
    } else if (!known) {
      fail(RefusalKind::kNoTopologyInformation);
    } else if (const auto error = FindTopologyFlavor(state, *assigned, flavor, names)) {
      fail(*error, names.empty() ? RefusalDetail() : std::move(names));
    } else if (queue.multi_kueue || (!workload.HasQuotaReservation() &&
                                     std::find(queue.provisioned.begin(), queue.provisioned.end(), flavor) !=
                                         queue.provisioned.end())) {
      assigned->delayed = DelayedTopology::kPending;
    } else {
      demands.push_back({static_cast<int>(i), flavor, static_cast<int32_t>(assigned->count), !asked});
    }
  }
  if (demands.size() > 1) {
    std::stable_sort(demands.begin(), demands.end(), [&state](const auto& a, const auto& b) {
      return state.flavor_names.Name(a.flavor) < state.flavor_names.Name(b.flavor);
    });
  }
  return demands;
}

}  // namespace kueue
