// Topology requests of a workload, and the requirements of its pods on nodes. Mirrors
// pkg/scheduler/flavorassigner/tas_flavorassigner.go:WorkloadsTopologyRequests and pkg/podset/podset.go:Merge
// (kueue ff69552e79).
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "flavor/placer.h"
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

// Adds new entries to `into`. Returns an error if a key exists with another value.
std::string MergeLabels(const std::map<std::string, std::string>& from, const char* field,
                        std::map<std::string, std::string>& into) {
  for (const auto& [key, value] : from) {
    const auto known = into.find(key);
    if (known != into.end() && known->second != value) {
      return absl::StrCat("invalid admission check PodSetUpdate: conflict for ", field,
                          ": conflict for key=", key, ", value1=", known->second, ", value2=", value);
    }
  }
  into.insert(from.begin(), from.end());
  return "";
}

bool SameToleration(const Toleration& a, const Toleration& b) {
  return a.key == b.key && a.op == b.op && a.value == b.value && a.effect == b.effect &&
         a.is_temporary == b.is_temporary;
}

// Elastic jobs cannot request a level of the topology.
std::optional<RefusalKind> ElasticError(const PodSetSpec& spec) {
  if (!spec.topology) return std::nullopt;
  if (spec.topology->required) return RefusalKind::kElasticRequiredTopology;
  if (spec.topology->preferred) return RefusalKind::kElasticPreferredTopology;
  return std::nullopt;
}

}  // namespace

// Finds the single flavor with a topology among the flavors of the pod set, or returns an error.
std::optional<RefusalKind> Placer::FlavorError(const PodSetAssignment& pod_set, FlavorId& flavor,
                                               std::string& names) const {
  flavor = kNoId;
  bool several = false;
  for (const FlavorChoice& choice : pod_set.flavors) {
    if (choice.flavor == flavor || !HasTree(choice.flavor)) continue;
    several = several || flavor != kNoId;
    flavor = choice.flavor;
  }
  if (flavor == kNoId) return RefusalKind::kNoTopologyFlavor;
  if (!several) return std::nullopt;
  std::set<std::string> found;
  for (const FlavorChoice& choice : pod_set.flavors) {
    if (HasTree(choice.flavor)) found.insert(state_.flavor_names.Name(choice.flavor));
  }
  names = absl::StrJoin(found, ", ");
  return RefusalKind::kManyTopologyFlavors;
}

TopologyDemands Placer::DemandsOf(Assignment& assignment, NodeId queue_id, WorkloadId id) const {
  TopologyDemands demands;
  const Workload& workload = state_.At(id);
  const EquivalenceClass& cls = state_.Class(workload.cls);
  const ClusterQueue& queue = state_.Queue(queue_id);
  const bool known = std::any_of(queue.flavors.begin(), queue.flavors.end(),
                                 [this](FlavorId flavor) { return HasTree(flavor); });
  const FeatureGates& gates = state_.config.gates;
  const bool elastic = workload.spec->elastic && gates.elastic_jobs_via_workload_slices &&
                       gates.elastic_jobs_via_workload_slices_with_tas;
  for (size_t i = 0; i < cls.pod_sets.size(); ++i) {
    const PodSetSpec& spec = cls.pod_sets[i];
    const bool asked = RequestsTopology(spec);
    PodSetAssignment* const assigned = assignment.Find(static_cast<int>(i));
    if ((!asked && !queue.only_topology) || assigned == nullptr) continue;
    if (assigned->HasError() || assigned->count == 0) continue;
    if (assigned->topology && !HasUnhealthyNode(state_, workload, *assigned->topology)) continue;
    const auto fail = [assigned](RefusalKind kind, RefusalDetail detail = {}) {
      assigned->refusals.push_back({kind, kNoId, kNoId, std::move(detail)});
    };
    FlavorId flavor = kNoId;
    std::string names;
    if (const auto kind = elastic ? ElasticError(spec) : std::nullopt) {
      fail(*kind);
    } else if (!known) {
      fail(RefusalKind::kNoTopologyInformation);
    } else if (const auto error = FlavorError(*assigned, flavor, names)) {
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
    std::stable_sort(demands.begin(), demands.end(), [this](const auto& a, const auto& b) {
      return state_.flavor_names.Name(a.flavor) < state_.flavor_names.Name(b.flavor);
    });
  }
  return demands;
}

// Returns the id of the pod's node demand, including the flavor's tolerations and the updates of ready
// checks.
int32_t Placer::DemandIdFor(const TopologyDemand& demand, WorkloadId id, ClassDemands& demands,
                            std::shared_ptr<const PlacementFailure>& failure) {
  const Workload& workload = state_.At(id);
  const std::string& name = state_.Class(workload.cls).pod_sets[static_cast<size_t>(demand.pod_set)].name;
  std::vector<const PodSetUpdate*> updates;
  for (const WorkloadCheck& check : workload.Status().checks) {
    if (check.state != CheckState::kReady) continue;
    for (const PodSetUpdate& update : check.updates) {
      if (update.name == name) updates.push_back(&update);
    }
  }
  const ClassDemands::Number* const known = demands.Find(demand.pod_set, demand.flavor);
  if (updates.empty() && known != nullptr) return known->number;
  NodeDemand node = (*demands.pod_sets)[static_cast<size_t>(demand.pod_set)].node;
  std::map<std::string, std::string> labels, annotations;
  for (const PodSetUpdate* update : updates) {
    std::string error = MergeLabels(update->annotations, "annotations", annotations);
    if (error.empty()) error = MergeLabels(update->labels, "labels", labels);
    if (error.empty()) error = MergeLabels(update->node_selector, "nodeSelector", node.node_selector);
    if (!error.empty()) {
      PlacementFailure invalid;
      invalid.kind = PlacementFailure::Kind::kInvalidPodSetUpdate;
      invalid.first = name;
      invalid.second = error;
      failure = std::make_shared<const PlacementFailure>(std::move(invalid));
      return kNoId;
    }
    for (const Toleration& one : update->tolerations) {
      const auto same = [&one](const Toleration& other) { return SameToleration(one, other); };
      if (std::none_of(node.tolerations.begin(), node.tolerations.end(), same))
        node.tolerations.push_back(one);
    }
  }
  const std::vector<Toleration>& of_flavor = state_.Flavor(demand.flavor)->tolerations;
  node.tolerations.insert(node.tolerations.end(), of_flavor.begin(), of_flavor.end());
  const int32_t number = DemandId(state_, node);
  if (updates.empty()) demands.numbers.push_back({demand.pod_set, demand.flavor, number});
  return number;
}

const PodDemand& Placer::PodOf(const TopologyDemand& demand, WorkloadId id) const {
  return kueue::DemandsOf(state_, state_.At(id).cls)[static_cast<size_t>(demand.pod_set)];
}

PlacementQuery Placer::QueryFor(const TopologyDemand& demand, const TopologyDemand* leader,
                                const Search& search, std::shared_ptr<const PlacementFailure>& failure) {
  PlacementQuery query;
  const ClassId id = std::as_const(state_).At(search.workload).cls;
  ClassDemands& demands = NumberedDemandsOf(state_, id);
  query.demand = DemandIdFor(demand, search.workload, demands, failure);
  if (failure) return query;
  const EquivalenceClass& cls = std::as_const(state_).Class(id);
  query.request = cls.pod_sets[static_cast<size_t>(demand.pod_set)].topology.get();
  query.implied = demand.implied;
  query.count = demand.count;
  const PodDemand& pod = (*demands.pod_sets)[static_cast<size_t>(demand.pod_set)];
  query.requests = &pod.with_pods;
  query.request_number = pod.request_number;
  query.pod_number = pod.pod_number;
  if (leader != nullptr) {
    const PodDemand& of_leader = (*demands.pod_sets)[static_cast<size_t>(leader->pod_set)];
    query.leader = &of_leader.with_pods;
    query.leader_number = of_leader.pod_number;
  }
  query.eligible = EligibleFor(state_, *state_.topology.made.capacity.Find(demand.flavor), query.demand);
  query.as_if_empty = search.as_if_empty;
  if (ForgetsAffinity()) {
    query.forgets_affinity = !matched_.insert({search.workload, demand.pod_set, demand.flavor}).second;
  }
  return query;
}

}  // namespace kueue
