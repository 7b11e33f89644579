// Topologies, nodes and pods as they were declared, and what follows from them: a tree of domains for each
// flavor with a topology, and what is free in it. Mirrors pkg/cache/scheduler/tas_cache.go, tas_flavor.go and
// tas_non_tas_pod_cache.go (kueue ff69552e79).
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

// A pod that the cluster has, on a node or not.
struct ClusterPod {
  std::string node;          // empty: none yet
  std::string wanted;        // by its node selector
  std::string workload;      // its key; empty: of none
  bool by_topology = false;  // a topology placed it: it is accounted for with its workload
  bool is_over = false;      // succeeded or failed
  bool is_leaving = false;   // being deleted
  PodAmounts requests;       // without `pods`; by name of the resource
  bool IsForeign() const { return !by_topology && !node.empty() && !is_over; }
  bool IsProgressing() const { return !is_over && !is_leaving; }
};

// What one pod of a pod set asks of its node; the same for all workloads of a class.
struct PodDemand {
  std::shared_ptr<const PodTemplate> of;  // of which it is
  PodAmounts requests;                    // by name of the resource
  PodAmounts with_pods;                   // the same, with one of `pods`
  NodeDemand node;                        // but for tolerations of the flavor, and what checks add
  // The numbers that stand for the pod set's request, and for `with_pods`.
  int32_t request_number = kNoId, pod_number = kNoId;
};

// What the pods of a class ask. Copies of a state share the demands, and each numbers texts for itself.
struct ClassDemands {
  struct Number {
    int pod_set;
    FlavorId flavor;
    int32_t number;
  };
  std::shared_ptr<const std::vector<PodDemand>> pod_sets;
  absl::InlinedVector<Number, 1> numbers;  // that stand for what pods ask of a node in a flavor

  const Number* Find(int pod_set, FlavorId flavor) const {
    for (const Number& known : numbers) {
      if (known.pod_set == pod_set && known.flavor == flavor) return &known;
    }
    return nullptr;
  }
};

// Rebuilt where it is missing; not saved.
struct TopologyCaches {
  TopologyCapacity capacity;
  Interner demands;                      // texts of node demands
  Interner requests, pods;               // and of what PodDemand has numbers for
  std::vector<NodeDemand> demand_of_id;  // by their numbers
  std::vector<ClassDemands> of_class;    // by class
  bool stale = true;
};

struct Topologies {
  std::map<std::string, std::vector<std::string>> levels;  // of each Topology
  NodeTable nodes;
  std::map<std::string, ClusterPod> pods;  // by namespace/name
  Interner domains;
  std::set<std::pair<Time, std::string>> freed;  // when, and on which node, foreign pods made room
  std::map<std::string, Time> waiting;           // nodes that are not ready, and when that will be too long
  TopologyCaches made;
};

// Brings the trees and their usage up to date with nodes, pods, flavors and who holds quota.
void RebuildTopologies(State& state);
// The demands of a class's pods, by pod set; and with the numbers that the state has given to them.
const std::vector<PodDemand>& DemandsOf(State& state, ClassId cls);
ClassDemands& NumberedDemandsOf(State& state, ClassId cls);
// The requests of one pod of the template, by name of the resource.
PodAmounts PodRequestsOf(State& state, const PodTemplate& adjusted);
// The number of a demand, by its text.
int32_t DemandId(State& state, const NodeDemand& demand);
// The leaves of the flavor's tree that satisfy the demand of this number.
std::shared_ptr<const EligibleLeaves> EligibleFor(State& state, FlavorCapacity& capacity, int32_t demand);

// Usage of a workload that holds quota, in the flavors that it names, or (for good) in all that share nodes
// with them. `sign`: 1 adds, -1 takes away.
void AddTopologyUsage(State& state, const std::vector<TopologyUsage>& usage, int32_t sign);
void ChargeTopology(State& state, const std::vector<TopologyUsage>& usage, int32_t sign);

PlacementGates PlacementGatesOf(const State& state);

}  // namespace kueue

#endif  // KUEUE_STATE_TOPOLOGIES_H_
