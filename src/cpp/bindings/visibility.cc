// Data of queues and Cohorts for dashboards: usage and numbers of workloads.
#include <map>

#include "bindings/engine.h"
#include "bindings/method.h"
#include "bindings/pybind.h"
#include "bindings/records.h"
#include "fairness/ledger.h"
#include "quantity/nano.h"
#include "questions/queue_counts.h"
#include "text/text.h"

namespace kueue::python {
namespace {

// Flavors are in the order of the queue, resources are sorted by name
// (pkg/cache/scheduler/cache.go:getUsage).
std::vector<FlavorHolding> ByFlavor(const State& state, NodeId node, const Holdings& holdings) {
  std::vector<FlavorHolding> flavors;
  for (const ResourceGroupIds& group : state.Queue(node).groups) {
    std::map<std::string, ResourceId> resources;
    for (ResourceId resource : group.covered) resources[state.resource_names.Name(resource)] = resource;
    for (FlavorId flavor : group.flavors) {
      FlavorHolding& holding = flavors.emplace_back();
      holding.flavor = state.flavor_names.Name(flavor);
      for (const auto& [name, resource] : resources) {
        const FlavorResourceId fr = state.FlavorResource(flavor, resource);
        if (fr == kNoId) continue;  // The queue is being deleted.
        holding.resources.push_back({name, AmountOf(holdings.reserved, fr), AmountOf(holdings.admitted, fr),
                                     state.quota.Nominal(node, fr).value(),
                                     state.quota.BorrowingLimit(node, fr).value(),
                                     state.quota.LendingLimit(node, fr).value()});
      }
    }
  }
  return flavors;
}

std::vector<ClusterQueueView> ClusterQueues(SharedEngine& shared) {
  return shared.Write([](Engine& engine) {
    State& state = engine.state();
    state.EnsureBuilt();
    std::vector<ClusterQueueView> views;
    for (NodeId node : state.forest().Queues()) {
      const ClusterQueue& queue = state.Queue(node);
      Holdings holdings;
      for (WorkloadId id : queue.workloads) holdings.Add(state.At(id));
      const NodeId parent = state.forest().DeclaredParent(node);
      views.push_back({state.forest().Name(node), parent == kNoId ? "" : state.forest().Name(parent),
                       ReasonName(queue.inactivity), Render(queue.inactivity), queue.pending.active_count(),
                       queue.pending.inadmissible_count(), holdings.reserving_workloads,
                       holdings.admitted_workloads, ShareOf(state, node), ByFlavor(state, node, holdings)});
    }
    return views;
  });
}

// Returns nothing if the queue does not use admission fair sharing.
std::optional<ConsumedView> Consumed(const State& state, LocalQueueId local, NodeId node) {
  if (!UsesAdmissionFairSharing(state, node)) return std::nullopt;
  const LedgerEntry& entry = state.ledger[local];
  ConsumedView view{LocalQueueUsage(state, local), entry.last_update, {}};
  for (const auto& [resource, nano] : entry.consumed) {
    view.quantities[py::str(state.resource_names.Name(resource))] = NanoQuantityText(nano);
  }
  return view;
}

LocalQueueView View(State& state, LocalQueueId id, const Holdings& held) {
  const LocalQueue& queue = state.Local(id);
  const NodeId node = queue.cluster_queue;
  const bool found = node != kNoId && state.forest().IsDeclared(node);
  const bool active = found && state.Queue(node).inactivity.IsActive();
  LocalQueueView view{queue.ns,
                      queue.name,
                      node == kNoId ? "" : state.forest().Name(node),
                      queue.IsRunning(),
                      found,
                      active,
                      held.active_workloads,
                      held.inadmissible_workloads,
                      held.reserving_workloads,
                      held.admitted_workloads,
                      held.finished_workloads,
                      std::nullopt,
                      {}};
  if (found) {
    view.consumed = Consumed(state, id, node);
    view.holdings = ByFlavor(state, node, held);
  }
  return view;
}

std::vector<LocalQueueView> LocalQueues(SharedEngine& shared) {
  return shared.Write([](Engine& engine) {
    State& state = engine.state();
    state.EnsureBuilt();
    const IdVector<LocalQueueId, Holdings> holdings = HoldingsByLocalQueue(state);
    std::vector<LocalQueueView> views;
    for (LocalQueueId local : holdings.Ids()) {
      if (!state.local_queues[local].exists) continue;
      views.push_back(View(state, local, holdings[local]));
    }
    return views;
  });
}

// Returns each flavor resource for which an amount is nonzero.
std::vector<CohortCell> ViewReserved(const State& state, NodeId cohort,
                                     const FlavorResourceAmounts& reserved) {
  std::vector<CohortCell> frs;
  for (FlavorResourceId fr : state.quota.FlavorResources()) {
    const int64_t held = AmountOf(reserved, fr);
    if (!state.quota.IsDefined(cohort, fr) && held == 0) continue;
    const auto& [flavor, resource] = state.flavor_resources[fr];
    frs.push_back({state.flavor_names.Name(flavor), state.resource_names.Name(resource),
                   state.quota.Subtree(cohort, fr).value(), held});
  }
  return frs;
}

std::vector<CohortView> Cohorts(SharedEngine& shared) {
  return shared.Write([](Engine& engine) {
    State& state = engine.state();
    state.EnsureBuilt();
    const Forest& forest = state.forest();
    const IdVector<NodeId, FlavorResourceAmounts> reservations = ReservationsBelow(state);
    std::vector<CohortView> views;
    for (NodeId node : forest.Nodes()) {
      if (forest.IsClusterQueue(node) || !forest.Exists(node)) continue;
      const FlavorResourceAmounts& reserved = reservations[node];
      const NodeId parent = forest.DeclaredParent(node), root = forest.Root(node);
      views.push_back({forest.Name(node), parent == kNoId ? "" : forest.Name(parent),
                       root == kNoId ? "" : forest.Name(root), forest.IsDeclared(node), ShareOf(state, node),
                       ViewReserved(state, node, reserved)});
    }
    return views;
  });
}

}  // namespace

void BindVisibility(py::module_& module) {
  AddMethod(module, "cluster_queue_status", &ClusterQueues);
  AddMethod(module, "local_queue_status", &LocalQueues);
  AddMethod(module, "cohort_status", &Cohorts);
}

}  // namespace kueue::python
