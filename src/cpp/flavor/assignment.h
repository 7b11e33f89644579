// Result of the flavor assigner: for each pod set, the flavor of each resource or the refusals.
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
  int borrow;  // Borrowing level.
  int tried;   // Index of the flavor at which the scan stopped; -1 if the scan reached the last flavor.
};

// An evaluated flavor, and the worst of its results for the requested resources.
struct FlavorAttempt {
  FlavorId flavor;
  int group;  // Index of the resource group.
  PreemptionMode mode;
  int borrow;
  Reason no_fit_reason;
};

using FlavorAttempts = absl::InlinedVector<FlavorAttempt, 1>;

// A pod set to be placed in the topology of one flavor.
struct TopologyDemand {
  int pod_set;
  FlavorId flavor;
  int32_t count;
  bool implied;
};
// Pod sets to be placed, sorted by flavor name and then by pod set.
using TopologyDemands = absl::InlinedVector<TopologyDemand, 1>;

struct PodSetAssignment {
  int pod_set = 0;
  int64_t count = 0;
  Requests requests;  // Requests of the pod set, including the resource `pods` if the queue covers it.
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
  // Returns whether the search ended with an error. An error takes precedence over all other refusals.
  bool HasError() const;
  Mode RepresentativeMode() const;
};

using Amounts = absl::InlinedVector<FlavorResourceAmount, 2>;

struct Assignment {
  // Results of the pod sets, in the order of their groups.
  absl::InlinedVector<PodSetAssignment, 1> pod_sets;
  Amounts usage;      // Usage to charge, minus the usage of a replaced slice.
  int borrowing = 0;  // Highest borrowing level of all flavors.
  Mode mode = Mode::kNoFit;
  Reason no_fit_reason = Reason::kEmpty;
  TopologyDemands demands;        // Pod sets to be placed.
  TopologyUsages topology_usage;  // Topology usage of the placement.

  PodSetAssignment* Find(int pod_set) {
    for (PodSetAssignment& entry : pod_sets) {
      if (entry.pod_set == pod_set) return &entry;
    }
    return nullptr;
  }
  // Returns a message with the refusals of all pod sets, or null if there are no refusals. Returns `before`
  // itself if the new message would have the same content.
  Message Facts(ClassId cls, const Message& before) const;
  // Returns whether the scan for a resource stopped before the last flavor.
  bool HasPendingFlavors() const;
};

// Adds `amount` to the entry of the flavor resource, or appends a new entry.
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
