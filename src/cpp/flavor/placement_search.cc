#include "flavor/placement_search.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "flavor/demands.h"
#include "topology/known.h"
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

// Groups the pod sets of one flavor that are placed together.
absl::InlinedVector<PlacementSearch::Group, 1> PlacementSearch::GroupsOf(const TopologyDemands& demands,
                                                                         size_t begin, size_t end) const {
  absl::InlinedVector<Group, 1> groups;
  const ClassId cls = state_.At(workload_).cls;
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

ResourceId PlacementSearch::SlotResource() const {
  return state_.config.rules.earlier_pod_sets_take_no_slot ? kNoId : state_.pods;
}

void PlacementSearch::Assume(const TopologyDemand& demand, const std::vector<DomainCount>& domains) {
  TopologyCapacity& capacity = state_.topology.made.capacity;
  const PodAmounts& requests = PodOf(state_, demand, workload_).requests;
  for (const DomainCount& entry : domains) {
    assumed_.push_back({demand.flavor, entry.domain, requests, entry.count});
    capacity.Assume(demand.flavor, entry.domain, requests, SlotResource(), entry.count);
  }
}

// Makes flavors whose leaves are nodes account for pods of this workload placed in other flavors.
void PlacementSearch::AssumeFromOthers(FlavorId flavor) {
  TopologyCapacity& capacity = state_.topology.made.capacity;
  if (!state_.config.gates.tas_handle_overlapping_flavors || !capacity.Find(flavor)->tree->is_by_node())
    return;
  for (const Assumed& taken : assumed_) {
    if (taken.flavor == flavor || !capacity.Find(taken.flavor)->tree->is_by_node()) continue;
    capacity.Assume(flavor, taken.domain, taken.requests, SlotResource(), taken.count);
  }
}

void PlacementSearch::Answer(const TopologyDemand& demand, std::vector<DomainCount> domains) {
  const TopologyTree& tree = *state_.topology.made.capacity.Find(demand.flavor)->tree;
  answers_.push_back({demand.pod_set, demand.flavor, AssignmentOn(tree, std::move(domains)), nullptr});
}

// Of two pod sets, the pod set with fewer pods is the leader. If both have the same number, the second is the
// leader.
bool PlacementSearch::PlaceGroup(const Group& group, bool is_last) {
  if (!state_.At(workload_).Status().unhealthy_nodes.empty()) return ReplaceNode(group);
  const TopologyDemand* workers = group[0];
  const TopologyDemand* leader = group.size() > 1 ? group[1] : nullptr;
  if (leader != nullptr && leader->count > workers->count) std::swap(leader, workers);
  if (const std::optional<bool> placed = PlaceElastic(*workers, leader)) return *placed;
  SharedPlacement invalid;
  const PlacementQuery query = Query(*workers, leader, invalid.failure);
  const PlacementGates gates = PlacementGatesOf(state_);
  const SharedPlacement& placement =
      invalid.failure ? invalid
                      : PlaceOrRemember(*state_.topology.made.capacity.Find(workers->flavor), query, gates,
                                        state_.resource_names);
  for (const TopologyDemand* demand : group) {
    TopologyAnswer& answer = answers_.emplace_back();
    answer.pod_set = demand->pod_set;
    answer.flavor = demand->flavor;
    answer.failure = placement.failure;
    if (placement.failure || (demand != workers && demand != leader)) continue;
    answer.assignment = demand == leader ? placement.leader : placement.workers;
    if (!is_last) Assume(*demand, answer.assignment->domains);
  }
  return placement.failure == nullptr;
}

bool PlacementSearch::ReplaceNode(const Group& group) {
  const Workload& workload = state_.At(workload_);
  const EquivalenceClass& cls = state_.Class(workload.cls);
  for (const TopologyDemand* demand : group) {
    const PodSetAdmission* admitted =
        AdmittedAs(workload, cls.pod_sets[static_cast<size_t>(demand->pod_set)].name);
    if (admitted == nullptr || !admitted->topology) continue;
    if (state_.config.gates.skip_reassignment_for_pod_owned_workloads && workload.owned_by_single_pod) {
      answers_.push_back({demand->pod_set, demand->flavor, admitted->topology, nullptr});
      continue;
    }
    Replacement replacement;
    PlacementQuery query = Query(*demand, nullptr, replacement.failure);
    query.as_if_empty = false;
    if (!replacement.failure) {
      replacement = Replace(*state_.topology.made.capacity.Find(demand->flavor), std::move(query),
                            {admitted->topology->domains, workload.Status().unhealthy_nodes.front()},
                            PlacementGatesOf(state_), state_.resource_names, state_.topology.domains);
    }
    if (replacement.failure) {
      answers_.push_back({demand->pod_set, demand->flavor, nullptr, replacement.failure});
      return false;
    }
    Answer(*demand, std::move(replacement.all));
    Assume(*demand, replacement.moved);
  }
  return true;
}

// The new slice of an elastic job keeps the placement of the old slice as far as possible.
std::optional<bool> PlacementSearch::PlaceElastic(const TopologyDemand& workers,
                                                  const TopologyDemand* leader) {
  const FeatureGates& gates = state_.config.gates;
  if (replaced_ == kNoId || !state_.At(workload_).spec->elastic || !gates.elastic_jobs_via_workload_slices ||
      !gates.elastic_jobs_via_workload_slices_with_tas) {
    return std::nullopt;
  }
  const EquivalenceClass& cls = state_.Class(state_.At(workload_).cls);
  const auto previous = [&](const TopologyDemand& demand) -> const TopologyAssignment* {
    const PodSetAdmission* admitted =
        AdmittedAs(state_.At(replaced_), cls.pod_sets[static_cast<size_t>(demand.pod_set)].name);
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
  Assume(workers, domains);
  if (leader != nullptr) Assume(*leader, leader_domains);
  if (const int32_t more = workers.count - PodsIn(old->domains); more > 0) {
    Placement placement;
    PlacementQuery query = Query(workers, old_leader == nullptr ? leader : nullptr, placement.failure);
    query.count = more;
    if (!placement.failure) {
      placement = Place(*state_.topology.made.capacity.Find(workers.flavor), query, PlacementGatesOf(state_),
                        state_.resource_names);
    }
    if (placement.failure) {
      answers_.push_back({workers.pod_set, workers.flavor, nullptr, placement.failure});
      return false;
    }
    Assume(workers, placement.workers);
    domains = Merge(tree, placement.workers, domains);
    if (leader != nullptr && old_leader == nullptr) {
      Assume(*leader, placement.leader);
      leader_domains = std::move(placement.leader);
    }
  }
  Answer(workers, std::move(domains));
  if (leader != nullptr) Answer(*leader, std::move(leader_domains));
  return true;
}

TopologyAnswers PlacementSearch::Run(const TopologyDemands& demands) {
  if (demands.size() == 1) {
    PlaceGroup({&demands.front()}, /*is_last=*/true);
  } else {
    PlaceAll(demands);
  }
  if (!assumed_.empty()) state_.topology.made.capacity.ClearAssumed();
  return std::move(answers_);
}

void PlacementSearch::PlaceAll(const TopologyDemands& demands) {
  for (size_t begin = 0, end = 0; begin < demands.size(); begin = end) {
    while (end < demands.size() && demands[end].flavor == demands[begin].flavor) ++end;
    AssumeFromOthers(demands[begin].flavor);
    size_t placed = begin;
    for (const Group& group : GroupsOf(demands, begin, end)) {
      placed += group.size();
      if (!PlaceGroup(group, placed == demands.size())) break;
    }
  }
}

}  // namespace kueue
