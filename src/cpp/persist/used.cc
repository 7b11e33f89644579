#include "persist/used.h"

#include <utility>

#include "model/poll.h"

namespace kueue {
namespace {

class Marking {
 public:
  explicit Marking(bool may_end) : may_end_(may_end) {}

  Marks Run(const std::vector<State*>& states) {
    for (State* state : states) MarkWhatIsThere(*state);
    for (State* state : states) MarkTables(*state);
    MarkNames(*states.front());
    return std::move(marks_);
  }

 private:
  // Marks workloads and ClusterQueues, and all ids to which they refer.
  void MarkWhatIsThere(State& state) {
    for (WorkloadId id : state.workloads.InOrder()) {
      if (may_end_) Poll();
      marks_(id);
      WalkIds(marks_, std::as_const(state).At(id));
    }
    WalkIds(marks_, std::as_const(state.events));
    WalkIds(marks_, std::as_const(state.second_passes));
    WalkIds(marks_, std::as_const(state.topology.pods));
    for (const auto& [name, node] : state.topology.nodes) {
      for (const auto& [resource, amount] : node->allocatable) {
        marks_(state.resource_names.Find(resource));
      }
    }
    MarkNodes(state);
    WalkIds(marks_, std::as_const(state.refused));
    WalkIds(marks_, std::as_const(state.to_requeue));
  }

  void MarkNodes(State& state) {
    for (NodeId node : state.forest().Nodes()) {
      if (!state.forest().Exists(node)) continue;
      marks_(node);
      if (!state.forest().IsClusterQueue(node) || !state.forest().IsDeclared(node)) continue;
      state.Queue(node).pending.Prune();
      WalkIds(marks_, std::as_const(state).Queue(node));
    }
  }

  void MarkTables(const State& state) {
    for (LocalQueueId id : state.local_queues.Ids()) {
      const LedgerEntry& entry = state.ledger[id];
      if (!state.Local(id).exists && !entry.exists && !marks_.Has(id)) continue;
      marks_(id);
      WalkIds(marks_, state.Local(id));
      WalkIds(marks_, entry);
    }
    for (NamespaceId id : state.namespaces.Ids()) {
      const Namespace& space = state.namespaces[id];
      if (space.exists || !space.limit_ranges.empty()) marks_(id);
    }
    for (FlavorId id : state.flavors.Ids()) {
      if (state.flavors[id].spec != nullptr) marks_(id);
    }
    for (CheckId id : state.checks.Ids()) {
      if (state.checks[id].exists) marks_(id);
    }
    MarkFlavorResources(state);
  }

  void MarkFlavorResources(const State& state) {
    for (NodeId node : state.forest().Nodes()) {
      for (FlavorResourceId fr : state.quota.FlavorResources()) {
        if (state.quota.limits().defined(node, fr) || state.quota.Usage(node, fr) != Amount(0)) marks_(fr);
      }
    }
  }

  // Marks the ids to which classes and flavor resources refer, and the ids that always exist.
  void MarkNames(const State& state) {
    for (ClassId id : marks_.All<ClassId>()) marks_(state.Class(id).hash);
    for (ClassId id : marks_.All<ClassId>()) WalkIds(marks_, state.Class(id));
    for (FlavorResourceId fr : marks_.All<FlavorResourceId>()) {
      marks_(state.flavor_resources[fr].first);
      marks_(state.flavor_resources[fr].second);
    }
    marks_(state.cpu);
    marks_(state.pods);
    for (Reason reason : KnownReasons().Ids()) marks_(reason);
  }

  const bool may_end_;
  Marks marks_;
};

}  // namespace

Marks UsedIn(const std::vector<State*>& states, bool may_end) { return Marking(may_end).Run(states); }

}  // namespace kueue
