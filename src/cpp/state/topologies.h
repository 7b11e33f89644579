// Declared topologies, nodes and pods, and the values derived from them: a tree of domains for each flavor
// with a topology, and the free capacity of its leaves. Mirrors pkg/cache/scheduler/tas_cache.go,
// tas_flavor.go and tas_non_tas_pod_cache.go (kueue ff69552e79).
#ifndef KUEUE_STATE_TOPOLOGIES_H_
#define KUEUE_STATE_TOPOLOGIES_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "topology/capacity.h"
#include "topology/eligibility.h"
#include "topology/parameters.h"
#include "topology/tree.h"

namespace kueue {

struct State;

// A pod of the cluster, scheduled or not.
struct ClusterPod {
  std::string node;      // Empty: not scheduled.
  std::string wanted;    // Name of the node that the node selector requires.
  std::string workload;  // Key of the workload; empty if the pod belongs to no workload.
  // Whether the pod was placed by a topology assignment, so that its usage is included in the usage of its
  // workload.
  bool by_topology = false;
  bool is_over = false;     // Succeeded or failed.
  bool is_leaving = false;  // Being deleted.
  PodAmounts requests;      // Requests of the pod without the resource `pods`, sorted by resource name.
  bool IsForeign() const { return !by_topology && !node.empty() && !is_over; }
  bool IsProgressing() const { return !is_over && !is_leaving; }
};

// Requests of one pod of a pod set, and its requirements for the node. These values are equal for all
// workloads of an equivalence class.
struct PodDemand {
  std::shared_ptr<const PodTemplate> of;  // Template of the pod.
  PodAmounts requests;                    // Requests of the pod, sorted by resource name.
  PodAmounts with_pods;                   // `requests` plus one unit of the resource `pods`.
  // Requirements for the node, without the flavor's tolerations and the changes made by admission checks.
  NodeDemand node;
  // Ids in TopologyCaches of the pod set's topology request and of `with_pods`.
  int32_t request_number = kNoId, pod_number = kNoId;
};

// The PodDemand of each pod set of an equivalence class. Copies of a state share these values, but each copy
// assigns its own ids.
struct ClassDemands {
  struct Number {
    int pod_set;
    FlavorId flavor;
    int32_t number;
  };
  std::shared_ptr<const std::vector<PodDemand>> pod_sets;
  absl::InlinedVector<Number, 1> numbers;  // Ids of the NodeDemand values, by pod set and flavor.

  const Number* Find(int pod_set, FlavorId flavor) const {
    for (const Number& known : numbers) {
      if (known.pod_set == pod_set && known.flavor == flavor) return &known;
    }
    return nullptr;
  }
};

// Caches for topologies, which are rebuilt on demand and not saved.
struct TopologyCaches {
  TopologyCapacity capacity;
  Interner<int32_t> demands;  // NodeDemand values in string form.
  // Topology requests and pod requests in string form. A PodDemand refers to these strings by id.
  Interner<int32_t> requests, pods;
  std::vector<NodeDemand> demand_of_id;  // NodeDemand values, by their ids in `demands`.
  IdVector<ClassId, ClassDemands> of_class;
  bool stale = true;
};

struct Topologies {
  std::map<std::string, std::vector<std::string>> levels;  // Levels by Topology name.
  NodeTable nodes;
  std::map<std::string, ClusterPod> pods;  // By `namespace/name`.
  Interner<DomainId> domains;
  // Pairs (time, node): at this time, a pod without a topology assignment released capacity on the node.
  std::set<std::pair<Time, std::string>> freed;
  // Nodes that are not ready, with the time from which each node counts as failed.
  std::map<std::string, Time> waiting;
  TopologyCaches made;
};

// Updates the trees and their usage from nodes, pods, flavors and quota reservations.
void RebuildTopologies(State& state);
// Same, if they are out of date.
void EnsureTopologies(State& state);
// Returns the PodDemand of each pod set of an equivalence class. NumberedDemandsOf() also returns the ids
// assigned by this state. The references are invalidated by the next rebuild and when a class is added.
const std::vector<PodDemand>& DemandsOf(State& state, ClassId cls);
ClassDemands& NumberedDemandsOf(State& state, ClassId cls);
// Returns the requests of one pod of the template, sorted by resource name.
PodAmounts PodRequestsOf(State& state, const PodTemplate& adjusted);
// Returns the id of a NodeDemand. Equal values have equal ids.
int32_t DemandId(State& state, const NodeDemand& demand);
// Returns the leaves of the flavor's tree that satisfy the NodeDemand with this id.
std::shared_ptr<const EligibleLeaves> EligibleFor(State& state, FlavorCapacity& capacity, int32_t demand);

// Add (`sign` is 1) or remove (`sign` is -1) the topology usage of a workload with a quota reservation.
// AddTopologyUsage affects only the flavors in `usage`. ChargeTopology is used for permanent changes and also
// affects all flavors that share nodes with the flavors in `usage`.
void AddTopologyUsage(State& state, const TopologyUsages& usage, int32_t sign);
void ChargeTopology(State& state, const TopologyUsages& usage, int32_t sign);

PlacementGates PlacementGatesOf(const State& state);

}  // namespace kueue

#endif  // KUEUE_STATE_TOPOLOGIES_H_
