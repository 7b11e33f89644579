// Mirrors pkg/scheduler/flavorassigner/{tas_flavorassigner,flavorassigner}.go,
// pkg/cache/scheduler/{clusterqueue_snapshot,tas_flavor_snapshot}.go (kueue ff69552e79).
#include "flavor/placer.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "topology/known.h"

namespace kueue {

const PodSetAdmission* AdmittedAs(const Workload& workload, const std::string& pod_set) {
  if (!workload.admission) return nullptr;
  for (const PodSetAdmission& admitted : workload.admission->pod_sets) {
    if (admitted.name == pod_set) return &admitted;
  }
  return nullptr;
}

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

// Groups the pod sets of one flavor that are placed together.
absl::InlinedVector<Placer::Group, 1> Placer::GroupsOf(const TopologyDemands& demands, size_t begin,
                                                       size_t end, ClassId cls) const {
  absl::InlinedVector<Group, 1> groups;
  if (end - begin == 1) {
    groups.push_back({&demands[begin]});
    return groups;
  }
  std::map<std::string, size_t> by_name;
  for (size_t i = begin; i < end; ++i) {
    const std::string& name = state_.Class(cls).pod_sets[static_cast<size_t>(demands[i].pod_set)].group;
    // Kueue uses the index as the group name of an ungrouped pod set, which may equal the name of a real
    // group.
    const std::string key = name.empty() ? absl::StrCat(i - begin) : name;
    const auto [entry, inserted] = by_name.try_emplace(key, groups.size());
    if (inserted) groups.emplace_back();
    groups[entry->second].push_back(&demands[i]);
  }
  return groups;
}

ResourceId Placer::SlotResource() const {
  return state_.config.rules.earlier_pod_sets_take_no_slot ? kNoId : state_.pods;
}

void Placer::Assume(const TopologyDemand& demand, const std::vector<DomainCount>& domains, WorkloadId id) {
  TopologyCapacity& capacity = state_.topology.made.capacity;
  const PodAmounts& requests = PodOf(demand, id).requests;
  for (const DomainCount& entry : domains) {
    assumed_.push_back({demand.flavor, entry.domain, requests, entry.count});
    capacity.Assume(demand.flavor, entry.domain, requests, SlotResource(), entry.count);
  }
}

// Makes flavors whose leaves are nodes account for pods of this workload placed in other flavors.
void Placer::AssumeFromOthers(FlavorId flavor) {
  TopologyCapacity& capacity = state_.topology.made.capacity;
  if (!state_.config.gates.tas_handle_overlapping_flavors || !capacity.Find(flavor)->tree->is_by_node())
    return;
  for (const Assumed& taken : assumed_) {
    if (taken.flavor == flavor || !capacity.Find(taken.flavor)->tree->is_by_node()) continue;
    capacity.Assume(flavor, taken.domain, taken.requests, SlotResource(), taken.count);
  }
}

void Placer::Answer(const TopologyDemand& demand, std::vector<DomainCount> domains, Search& search) const {
  const TopologyTree& tree = *state_.topology.made.capacity.Find(demand.flavor)->tree;
  search.answers.push_back({demand.pod_set, demand.flavor, AssignmentOn(tree, std::move(domains)), nullptr});
}

// Of two pod sets, the pod set with fewer pods is the leader. If both have the same number, the second is the
// leader.
bool Placer::PlaceGroup(const Group& group, bool is_last, Search& search) {
  if (!state_.At(search.workload).Status().unhealthy_nodes.empty()) return ReplaceNode(group, search);
  const TopologyDemand* workers = group[0];
  const TopologyDemand* leader = group.size() > 1 ? group[1] : nullptr;
  if (leader != nullptr && leader->count > workers->count) std::swap(leader, workers);
  if (const std::optional<bool> placed = PlaceElastic(*workers, leader, search)) return *placed;
  SharedPlacement invalid;
  const PlacementQuery query = QueryFor(*workers, leader, search, invalid.failure);
  const SharedPlacement& placement =
      invalid.failure ? invalid
                      : PlaceOrRemember(*state_.topology.made.capacity.Find(workers->flavor), query,
                                        PlacementGatesOf(state_), state_.resource_names);
  for (const TopologyDemand* demand : group) {
    TopologyAnswer& answer = search.answers.emplace_back(
        TopologyAnswer{demand->pod_set, demand->flavor, nullptr, placement.failure});
    if (placement.failure || (demand != workers && demand != leader)) continue;
    answer.assignment = demand == leader ? placement.leader : placement.workers;
    if (!is_last) Assume(*demand, answer.assignment->domains, search.workload);
  }
  return placement.failure == nullptr;
}

TopologyAnswers Placer::Find(const TopologyDemands& demands, WorkloadId id, bool as_if_empty,
                             WorkloadId replaced) {
  Search search{id, as_if_empty, replaced, {}};
  for (size_t begin = 0, end = 0; begin < demands.size(); begin = end) {
    while (end < demands.size() && demands[end].flavor == demands[begin].flavor) ++end;
    AssumeFromOthers(demands[begin].flavor);
    size_t placed = begin;
    for (const Group& group : GroupsOf(demands, begin, end, state_.At(id).cls)) {
      placed += group.size();
      if (!PlaceGroup(group, placed == demands.size(), search)) break;
    }
  }
  if (!assumed_.empty()) {
    assumed_.clear();
    state_.topology.made.capacity.ClearAssumed();
  }
  return std::move(search.answers);
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
  assignment.topology_usage = NetUsage(assignment, id);
}

namespace {

int32_t PodsIn(const TopologyAssignment& assignment, DomainId domain) {
  int32_t pods = 0;
  for (const DomainCount& entry : assignment.domains) {
    if (entry.domain == domain) pods += entry.count;
  }
  return pods;
}

}  // namespace

TopologyUsages Placer::NetUsage(const Assignment& assignment, WorkloadId id) const {
  if (state_.config.rules.topology_usage_by_quota) return UsageByQuota(assignment, id);
  TopologyUsages usage;
  const Workload& workload = state_.At(id);
  const EquivalenceClass& cls = state_.Class(workload.cls);
  for (const PodSetAssignment& pod_set : assignment.pod_sets) {
    if (!pod_set.topology) continue;
    FlavorId flavor = kNoId;
    std::string names;
    if (FlavorError(pod_set, flavor, names)) continue;
    const PodSetAdmission* admitted =
        AdmittedAs(workload, cls.pod_sets[static_cast<size_t>(pod_set.pod_set)].name);
    const bool was_placed = admitted != nullptr && admitted->topology;
    if (was_placed && state_.config.rules.moved_pods_are_uncounted) continue;
    const PodAmounts& requests =
        kueue::DemandsOf(state_, workload.cls)[static_cast<size_t>(pod_set.pod_set)].requests;
    usage.reserve(usage.size() + pod_set.topology->domains.size());
    for (const DomainCount& entry : pod_set.topology->domains) {
      const int32_t count = entry.count - (was_placed ? PodsIn(*admitted->topology, entry.domain) : 0);
      if (count > 0) usage.push_back({flavor, entry.domain, count, requests});
    }
  }
  return usage;
}

// Usage charged within a cycle in releases with the rule topology_usage_by_quota: the quota usage of a pod,
// once for each of its resources in a flavor with a topology.
TopologyUsages Placer::UsageByQuota(const Assignment& assignment, WorkloadId id) const {
  TopologyUsages usage;
  const Workload& workload = state_.At(id);
  const EquivalenceClass& cls = state_.Class(workload.cls);
  for (const PodSetAssignment& pod_set : assignment.pod_sets) {
    const PodSetAdmission* admitted =
        AdmittedAs(workload, cls.pod_sets[static_cast<size_t>(pod_set.pod_set)].name);
    if (!pod_set.topology || (admitted != nullptr && admitted->topology)) continue;
    PodAmounts requests;
    for (const auto& [resource, amount] : pod_set.requests) {
      const FlavorChoice* choice = pod_set.Find(resource);
      if (choice == nullptr || !HasTree(choice->flavor)) continue;
      requests.emplace_back(resource, amount / std::max<int64_t>(pod_set.count, 1));
    }
    for (const FlavorChoice& choice : pod_set.flavors) {
      if (!HasTree(choice.flavor)) continue;
      for (const DomainCount& entry : pod_set.topology->domains) {
        usage.push_back({choice.flavor, entry.domain, entry.count, requests});
      }
    }
  }
  return usage;
}

bool Placer::HasRoom(const TopologyUsages& usage) const {
  return std::all_of(usage.begin(), usage.end(), [this](const TopologyUsage& entry) {
    const FlavorCapacity& capacity = *state_.topology.made.capacity.Find(entry.flavor);
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
