#include "flavor/queries.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace kueue {
namespace {

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

}  // namespace

// Returns the id of the pod's node demand, including the flavor's tolerations and the updates of ready
// checks.
int32_t PlacementQueries::DemandIdFor(const TopologyDemand& demand, WorkloadId id, ClassDemands& demands,
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

PlacementQuery PlacementQueries::For(const TopologyDemand& demand, const TopologyDemand* leader,
                                     WorkloadId workload, std::shared_ptr<const PlacementFailure>& failure) {
  PlacementQuery query;
  const ClassId id = std::as_const(state_).At(workload).cls;
  ClassDemands& demands = NumberedDemandsOf(state_, id);
  query.demand = DemandIdFor(demand, workload, demands, failure);
  if (failure) return query;
  const EquivalenceClass& cls = state_.Class(id);
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
  if (ForgetsAffinity()) {
    query.forgets_affinity = !matched_.insert({workload, demand.pod_set, demand.flavor}).second;
  }
  return query;
}

}  // namespace kueue
