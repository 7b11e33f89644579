// Mirrors pkg/scheduler/flavorassigner/{tas_flavorassigner,flavorassigner}.go,
// pkg/cache/scheduler/{clusterqueue_snapshot,tas_flavor_snapshot}.go (kueue ff69552e79).
#include "flavor/placer.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "topology/replacement.h"

namespace kueue {
namespace {

const PodSetAdmission* AdmittedAs(const Workload& workload, const std::string& pod_set) {
  if (!workload.admission) return nullptr;
  for (const PodSetAdmission& admitted : workload.admission->pod_sets) {
    if (admitted.name == pod_set) return &admitted;
  }
  return nullptr;
}

bool HasUnhealthyNode(const State& state, const Workload& workload, const TopologyAssignment& assignment) {
  const std::vector<std::string>& nodes = workload.Status().unhealthy_nodes;
  if (nodes.empty()) return false;
  return std::any_of(assignment.domains.begin(), assignment.domains.end(), [&](const DomainCount& entry) {
    const std::string lowest = LowestValue(state.topology.domains.Name(entry.domain));
    return std::find(nodes.begin(), nodes.end(), lowest) != nodes.end();
  });
}

// Adds to `into` what is new; what is there with another value is a conflict, which is told.
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

}  // namespace

bool Placer::Concerns(NodeId queue, const EquivalenceClass& cls) const {
  if (!state_.config.gates.topology_aware_scheduling) return false;
  return state_.Queue(queue).only_topology ||
         std::any_of(cls.pod_sets.begin(), cls.pod_sets.end(), RequestsTopology);
}

TopologyMatch Placer::MatchOf(NodeId queue, int resource_group, FlavorId flavor, ClassId cls, int pod_set) {
  TopologyMatch match;
  match.enabled = state_.config.gates.topology_aware_scheduling;
  if (!match.enabled) return match;
  const PodSetSpec& spec = state_.Class(cls).pod_sets[static_cast<size_t>(pod_set)];
  if (!RequestsTopology(spec)) {
    match.implied = state_.Queue(queue).only_topology;
    return match;
  }
  const FlavorCapacity* capacity = state_.topology.made.capacity.Find(flavor);
  if (capacity != nullptr) match.levels = &capacity->tree->levels();
  const ResourceFlavor* known = state_.Flavor(flavor);
  if (known != nullptr && known->topology_name.empty()) {
    const PodDemand& demand = kueue::DemandsOf(state_, cls)[static_cast<size_t>(pod_set)];
    const std::vector<ResourceId>& covered =
        state_.Queue(queue).groups[static_cast<size_t>(resource_group)].covered;
    match.asks_of_group =
        std::any_of(demand.requests.begin(), demand.requests.end(), [&](const auto& request) {
          return std::find(covered.begin(), covered.end(), request.first) != covered.end();
        });
  }
  return match;
}

// The one flavor with a topology among those of the pod set.
std::optional<RefusalKind> Placer::FlavorError(const PodSetAssignment& pod_set, FlavorId& flavor,
                                               std::string& names) const {
  std::set<std::string> found;
  for (const FlavorChoice& choice : pod_set.flavors) {
    if (!HasTree(choice.flavor)) continue;
    flavor = choice.flavor;
    found.insert(state_.flavor_names.Name(choice.flavor));
  }
  if (found.size() == 1) return std::nullopt;
  names = absl::StrJoin(found, ", ");
  return found.empty() ? RefusalKind::kNoTopologyFlavor : RefusalKind::kManyTopologyFlavors;
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
    const auto fail = [&](RefusalKind kind, std::string text = "") {
      assigned->refusals.push_back({kind, kNoId, kNoId, {}, {}, {}, std::move(text)});
    };
    if (elastic && spec.topology && spec.topology->required) {
      fail(RefusalKind::kElasticRequiredTopology);
      continue;
    }
    if (elastic && spec.topology && spec.topology->preferred) {
      fail(RefusalKind::kElasticPreferredTopology);
      continue;
    }
    FlavorId flavor = kNoId;
    std::string names;
    if (!known) {
      fail(RefusalKind::kNoTopologyInformation);
    } else if (const auto error = FlavorError(*assigned, flavor, names)) {
      fail(*error, std::move(names));
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

// The pod sets of one flavor that are placed together.
std::vector<Placer::Group> Placer::GroupsOf(const TopologyDemands& demands, size_t begin, size_t end,
                                            ClassId cls) const {
  std::vector<Group> groups;
  std::map<std::string, size_t> by_name;
  for (size_t i = begin; i < end; ++i) {
    const std::string& name = state_.Class(cls).pod_sets[static_cast<size_t>(demands[i].pod_set)].group;
    // A group may have the name that stands for a pod set that is none's, its place.
    const std::string key = name.empty() ? absl::StrCat(i - begin) : name;
    const auto [entry, inserted] = by_name.try_emplace(key, groups.size());
    if (inserted) groups.emplace_back();
    groups[entry->second].push_back(&demands[i]);
  }
  return groups;
}

// The pod's demands as written, with the flavor's tolerations, and with what checks that are ready add.
int32_t Placer::DemandIdFor(const TopologyDemand& demand, WorkloadId id,
                            std::shared_ptr<const PlacementFailure>& failure) {
  const Workload& workload = state_.At(id);
  PodDemand& pod = kueue::DemandsOf(state_, workload.cls)[static_cast<size_t>(demand.pod_set)];
  const std::string& name = state_.Class(workload.cls).pod_sets[static_cast<size_t>(demand.pod_set)].name;
  std::vector<const PodSetUpdate*> updates;
  for (const WorkloadCheck& check : workload.Status().checks) {
    if (check.state != CheckState::kReady) continue;
    for (const PodSetUpdate& update : check.updates) {
      if (update.name == name) updates.push_back(&update);
    }
  }
  if (updates.empty()) {
    const auto known = pod.ids.find(demand.flavor);
    if (known != pod.ids.end()) return known->second;
  }
  NodeDemand node = pod.node;
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
  if (updates.empty()) pod.ids[demand.flavor] = number;
  return number;
}

PlacementQuery Placer::QueryFor(const TopologyDemand& demand, WorkloadId id, bool as_if_empty,
                                std::shared_ptr<const PlacementFailure>& failure) {
  PlacementQuery query;
  query.demand = DemandIdFor(demand, id, failure);
  if (failure) return query;
  const Workload& workload = state_.At(id);
  const EquivalenceClass& cls = state_.Class(workload.cls);
  query.request = cls.pod_sets[static_cast<size_t>(demand.pod_set)].topology.get();
  query.implied = demand.implied;
  query.count = demand.count;
  query.requests = kueue::DemandsOf(state_, workload.cls)[static_cast<size_t>(demand.pod_set)].with_pods;
  query.eligible = EligibleFor(state_, *state_.topology.made.capacity.Find(demand.flavor), query.demand);
  query.as_if_empty = as_if_empty;
  const FeatureGates& gates = state_.config.gates;
  if (gates.tas_respect_node_affinity_preferred && gates.tas_cache_node_match_results) {
    query.forgets_affinity = !matched_.insert({id, demand.pod_set, demand.flavor}).second;
  }
  return query;
}

std::shared_ptr<const TopologyAssignment> Placer::AssignmentOf(FlavorId flavor,
                                                               std::vector<DomainCount> domains) const {
  const TopologyTree& tree = *state_.topology.made.capacity.Find(flavor)->tree;
  auto assignment = std::make_shared<TopologyAssignment>();
  if (tree.is_by_node()) {
    assignment->levels = {tree.levels().back()};
  } else {
    assignment->levels = tree.levels();
  }
  assignment->domains = std::move(domains);
  return assignment;
}

void Placer::Assume(const TopologyDemand& demand, const std::vector<DomainCount>& domains, WorkloadId id) {
  TopologyCapacity& capacity = state_.topology.made.capacity;
  const PodAmounts& requests =
      kueue::DemandsOf(state_, state_.At(id).cls)[static_cast<size_t>(demand.pod_set)].requests;
  for (const DomainCount& entry : domains) {
    assumed_.push_back({demand.flavor, entry.domain, requests, entry.count});
    capacity.Assume(demand.flavor, entry.domain, requests, state_.pods, entry.count);
  }
}

// Flavors whose leaves are nodes see what the workload has taken of them in another.
void Placer::AssumeFromOthers(FlavorId flavor) {
  TopologyCapacity& capacity = state_.topology.made.capacity;
  if (!state_.config.gates.tas_handle_overlapping_flavors || !capacity.Find(flavor)->tree->is_by_node())
    return;
  for (const Assumed& taken : assumed_) {
    if (taken.flavor == flavor || !capacity.Find(taken.flavor)->tree->is_by_node()) continue;
    capacity.Assume(flavor, taken.domain, taken.requests, state_.pods, taken.count);
  }
}

bool Placer::ReplaceNode(const Group& group, WorkloadId id, std::vector<TopologyAnswer>& answers) {
  const Workload& workload = state_.At(id);
  const EquivalenceClass& cls = state_.Class(workload.cls);
  for (const TopologyDemand* demand : group) {
    const PodSetAdmission* admitted =
        AdmittedAs(workload, cls.pod_sets[static_cast<size_t>(demand->pod_set)].name);
    if (admitted == nullptr || !admitted->topology) continue;
    if (state_.config.gates.skip_reassignment_for_pod_owned_workloads && workload.owned_by_single_pod) {
      answers.push_back({demand->pod_set, demand->flavor, admitted->topology, nullptr});
      continue;
    }
    std::shared_ptr<const PlacementFailure> failure;
    PlacementQuery query = QueryFor(*demand, id, false, failure);
    Replacement replacement;
    replacement.failure = failure;
    if (!failure) {
      replacement = Replace(*state_.topology.made.capacity.Find(demand->flavor), std::move(query),
                            admitted->topology->domains, workload.Status().unhealthy_nodes.front(),
                            PlacementGatesOf(state_), state_.resource_names, state_.topology.domains);
    }
    if (replacement.failure) {
      answers.push_back({demand->pod_set, demand->flavor, nullptr, replacement.failure});
      return false;
    }
    answers.push_back(
        {demand->pod_set, demand->flavor, AssignmentOf(demand->flavor, std::move(replacement.all)), nullptr});
    Assume(*demand, replacement.moved, id);
  }
  return true;
}

// An elastic job's new slice keeps the places of the old one, as far as they do. Mirrors
// pkg/cache/scheduler/tas_elastic_workloads.go. Returns whether that is how it was placed.
bool Placer::PlaceElastic(const TopologyDemand& workers, const TopologyDemand* leader, WorkloadId id,
                          WorkloadId replaced, bool as_if_empty, std::vector<TopologyAnswer>& answers,
                          bool& placed) {
  const FeatureGates& gates = state_.config.gates;
  if (replaced == kNoId || !state_.At(id).spec->elastic || !gates.elastic_jobs_via_workload_slices ||
      !gates.elastic_jobs_via_workload_slices_with_tas) {
    return false;
  }
  const EquivalenceClass& cls = state_.Class(state_.At(id).cls);
  const auto previous = [&](const TopologyDemand& demand) -> const TopologyAssignment* {
    const PodSetAdmission* admitted =
        AdmittedAs(state_.At(replaced), cls.pod_sets[static_cast<size_t>(demand.pod_set)].name);
    return admitted == nullptr ? nullptr : admitted->topology.get();
  };
  FlavorCapacity& capacity = *state_.topology.made.capacity.Find(workers.flavor);
  const TopologyAssignment* const old = previous(workers);
  const TopologyAssignment* const old_leader = leader == nullptr ? nullptr : previous(*leader);
  if (old == nullptr || StaleDomain(*capacity.tree, old->domains) != kNoId) return false;
  if (old_leader != nullptr && StaleDomain(*capacity.tree, old_leader->domains) != kNoId) return false;
  int32_t pods = 0;
  for (const DomainCount& entry : old->domains) pods += entry.count;
  std::vector<DomainCount> domains;
  const TopologyDemand* place_leader = nullptr;
  std::vector<DomainCount> leader_domains;
  if (old_leader != nullptr) leader_domains = old_leader->domains;
  if (workers.count > pods) {
    Assume(workers, old->domains, id);
    if (old_leader != nullptr) {
      Assume(*leader, old_leader->domains, id);
    } else {
      place_leader = leader;
    }
    std::shared_ptr<const PlacementFailure> failure;
    PlacementQuery query = QueryFor(workers, id, as_if_empty, failure);
    query.count = workers.count - pods;
    if (place_leader != nullptr) {
      query.leader =
          kueue::DemandsOf(state_, state_.At(id).cls)[static_cast<size_t>(leader->pod_set)].with_pods;
    }
    Placement placement;
    placement.failure = failure;
    if (!failure) placement = Place(capacity, query, PlacementGatesOf(state_), state_.resource_names);
    if (placement.failure) {
      answers.push_back({workers.pod_set, workers.flavor, nullptr, placement.failure});
      placed = false;
      return true;
    }
    domains = Merge(*capacity.tree, placement.workers, old->domains);
    if (place_leader != nullptr) {
      leader_domains = placement.leader;
      Assume(*leader, leader_domains, id);
    }
    Assume(workers, placement.workers, id);
  } else {
    int32_t left = workers.count;
    for (const DomainCount& entry : old->domains) {
      if (left <= 0) break;
      domains.push_back({entry.domain, std::min(left, entry.count)});
      left -= entry.count;
    }
    Assume(workers, domains, id);
    if (leader != nullptr) Assume(*leader, leader_domains, id);
  }
  answers.push_back(
      {workers.pod_set, workers.flavor, AssignmentOf(workers.flavor, std::move(domains)), nullptr});
  if (leader != nullptr) {
    answers.push_back(
        {leader->pod_set, leader->flavor, AssignmentOf(leader->flavor, std::move(leader_domains)), nullptr});
  }
  placed = true;
  return true;
}

// Of two pod sets the smaller one is the leader, of equal ones the second.
bool Placer::PlaceGroup(const Group& group, WorkloadId id, bool as_if_empty, WorkloadId replaced,
                        bool is_last, std::vector<TopologyAnswer>& answers) {
  if (!state_.At(id).Status().unhealthy_nodes.empty()) return ReplaceNode(group, id, answers);
  const TopologyDemand* workers = group[0];
  const TopologyDemand* leader = group.size() > 1 ? group[1] : nullptr;
  if (leader != nullptr && leader->count > workers->count) std::swap(leader, workers);
  bool placed = false;
  if (PlaceElastic(*workers, leader, id, replaced, as_if_empty, answers, placed)) return placed;
  std::shared_ptr<const PlacementFailure> failure;
  PlacementQuery query = QueryFor(*workers, id, as_if_empty, failure);
  Placement placement;
  placement.failure = failure;
  if (!failure) {
    if (leader != nullptr) {
      query.leader =
          kueue::DemandsOf(state_, state_.At(id).cls)[static_cast<size_t>(leader->pod_set)].with_pods;
    }
    placement = Place(*state_.topology.made.capacity.Find(workers->flavor), query, PlacementGatesOf(state_),
                      state_.resource_names);
  }
  for (const TopologyDemand* demand : group) {
    TopologyAnswer answer{demand->pod_set, demand->flavor, nullptr, placement.failure};
    if (!placement.failure && (demand == workers || demand == leader)) {
      answer.assignment =
          AssignmentOf(demand->flavor, demand == leader ? placement.leader : placement.workers);
      if (!is_last) Assume(*demand, answer.assignment->domains, id);
    }
    answers.push_back(std::move(answer));
  }
  return placement.failure == nullptr;
}

std::vector<TopologyAnswer> Placer::Find(const TopologyDemands& demands, WorkloadId id, bool as_if_empty,
                                         WorkloadId replaced) {
  std::vector<TopologyAnswer> answers;
  for (size_t begin = 0, end = 0; begin < demands.size(); begin = end) {
    while (end < demands.size() && demands[end].flavor == demands[begin].flavor) ++end;
    AssumeFromOthers(demands[begin].flavor);
    size_t placed = begin;
    for (const Group& group : GroupsOf(demands, begin, end, state_.At(id).cls)) {
      placed += group.size();
      if (!PlaceGroup(group, id, as_if_empty, replaced, placed == demands.size(), answers)) break;
    }
  }
  if (!assumed_.empty()) {
    assumed_.clear();
    state_.topology.made.capacity.ClearAssumed();
  }
  return answers;
}

bool Placer::Fits(const TopologyDemands& demands, WorkloadId workload, WorkloadId replaced) {
  const std::vector<TopologyAnswer> answers = Find(demands, workload, false, replaced);
  return std::none_of(answers.begin(), answers.end(),
                      [](const TopologyAnswer& answer) { return answer.failure != nullptr; });
}

const TopologyAnswer* Placer::FailureIn(const std::vector<TopologyAnswer>& answers, ClassId cls) const {
  const TopologyAnswer* first = nullptr;
  const auto name = [&](const TopologyAnswer& answer) -> const std::string& {
    return state_.Class(cls).pod_sets[static_cast<size_t>(answer.pod_set)].name;
  };
  for (const TopologyAnswer& answer : answers) {
    if (answer.failure && (first == nullptr || name(answer) < name(*first))) first = &answer;
  }
  return first;
}

void Placer::Apply(const std::vector<TopologyAnswer>& answers, Assignment& assignment, WorkloadId id) const {
  for (const TopologyAnswer& answer : answers) {
    PodSetAssignment* const pod_set = assignment.Find(answer.pod_set);
    pod_set->topology = answer.assignment;
    if (answer.assignment && pod_set->delayed != DelayedTopology::kNone) {
      pod_set->delayed = DelayedTopology::kReady;
    }
  }
  assignment.topology_usage = NetUsage(assignment, id);
}

std::vector<TopologyUsage> Placer::NetUsage(const Assignment& assignment, WorkloadId id) const {
  std::vector<TopologyUsage> usage;
  const Workload& workload = state_.At(id);
  const EquivalenceClass& cls = state_.Class(workload.cls);
  for (const PodSetAssignment& pod_set : assignment.pod_sets) {
    if (!pod_set.topology) continue;
    FlavorId flavor = kNoId;
    std::string names;
    if (FlavorError(pod_set, flavor, names)) continue;
    const PodSetAdmission* admitted =
        AdmittedAs(workload, cls.pod_sets[static_cast<size_t>(pod_set.pod_set)].name);
    const PodAmounts& requests =
        kueue::DemandsOf(state_, workload.cls)[static_cast<size_t>(pod_set.pod_set)].requests;
    for (const DomainCount& entry : pod_set.topology->domains) {
      int32_t count = entry.count;
      if (admitted != nullptr && admitted->topology) {
        for (const DomainCount& held : admitted->topology->domains) {
          if (held.domain == entry.domain) count -= held.count;
        }
      }
      if (count > 0) usage.push_back({flavor, entry.domain, count, requests});
    }
  }
  return usage;
}

bool Placer::HasRoom(const std::vector<TopologyUsage>& usage) const {
  return std::all_of(usage.begin(), usage.end(), [this](const TopologyUsage& entry) {
    const FlavorCapacity& capacity = *state_.topology.made.capacity.Find(entry.flavor);
    const int32_t leaf = capacity.tree->LeafOf(entry.domain);
    // Pods that request nothing fit nowhere.
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
