// What the flavor assigner answers: for each pod set the flavor of each resource, or what stands in the way.
#ifndef KUEUE_FLAVOR_ASSIGNMENT_H_
#define KUEUE_FLAVOR_ASSIGNMENT_H_

#include <vector>

#include "absl/container/inlined_vector.h"
#include "flavor/mode.h"
#include "model/message.h"
#include "model/reason.h"
#include "model/workload.h"
#include "quota/quota.h"
#include "state/topologies.h"

namespace kueue {

struct FlavorChoice {
  ResourceId resource;
  FlavorId flavor;
  Mode mode;
  int borrow;  // borrowing level
  int tried;   // where the scan of flavors stopped; -1: at the last one
};

// One flavor that was looked at, and its worst outcome over the resources asked of it.
struct FlavorAttempt {
  FlavorId flavor;
  int group;  // the resource group
  PreemptionMode mode;
  int borrow;
  Reason no_fit_reason;
};

using FlavorAttempts = absl::InlinedVector<FlavorAttempt, 1>;

// One pod set that is to be placed in the topology of one flavor.
struct TopologyDemand {
  int pod_set;
  FlavorId flavor;
  int32_t count;
  bool implied;
};
// By name of the flavor, then in the order of pod sets.
using TopologyDemands = absl::InlinedVector<TopologyDemand, 1>;

struct PodSetAssignment {
  int pod_set = 0;
  int64_t count = 0;
  Requests requests;  // including `pods` where the queue covers it
  absl::InlinedVector<FlavorChoice, 2> flavors;
  Refusals refusals;
  FlavorAttempts attempts;
  std::shared_ptr<const TopologyAssignment> topology;
  DelayedTopology delayed = DelayedTopology::kNone;

  const FlavorChoice* Find(ResourceId resource) const {
    for (const FlavorChoice& choice : flavors) {
      if (choice.resource == resource) return &choice;
    }
    return nullptr;
  }
  // Whether the search ended with an error, which counts more than any flavor.
  bool HasError() const;
  Mode RepresentativeMode() const;
};

using Amounts = absl::InlinedVector<FlavorResourceAmount, 2>;

struct Assignment {
  absl::InlinedVector<PodSetAssignment, 1> pod_sets;  // in the order of their groups
  Amounts usage;                                      // what would be charged, less a replaced slice
  int borrowing = 0;                                  // the highest borrowing level
  Mode mode = Mode::kNoFit;
  Reason no_fit_reason = Reason::kEmpty;
  TopologyDemands demands;                    // what is to be placed
  std::vector<TopologyUsage> topology_usage;  // what its place takes

  PodSetAssignment* Find(int pod_set) {
    for (PodSetAssignment& entry : pod_sets) {
      if (entry.pod_set == pod_set) return &entry;
    }
    return nullptr;
  }
  // The facts of every pod set that something stands in the way of; null where nothing does. Where `before`
  // says the same, it is the answer.
  Message Facts(ClassId cls, const Message& before) const;
  // Whether the scan of some resource stopped before its last flavor.
  bool HasPendingFlavors() const;
};

// Adds to the entry of the flavor resource, which is appended where there is none.
inline void AddTo(Amounts& amounts, FlavorResourceId fr, Amount amount) {
  for (FlavorResourceAmount& entry : amounts) {
    if (entry.fr == fr) {
      entry.amount += amount;
      return;
    }
  }
  amounts.push_back({fr, amount});
}

inline Amount AmountOf(const Amounts& amounts, FlavorResourceId fr) {
  for (const FlavorResourceAmount& entry : amounts) {
    if (entry.fr == fr) return entry.amount;
  }
  return Amount(0);
}

}  // namespace kueue

#endif  // KUEUE_FLAVOR_ASSIGNMENT_H_
