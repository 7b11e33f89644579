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
      marks_(IdKind::kWorkload, id);
      WalkIds(marks_, std::as_const(state).At(id));
    }
    WalkIds(marks_, std::as_const(state.events));
    WalkIds(marks_, std::as_const(state.second_passes));
    WalkIds(marks_, std::as_const(state.topology.pods));
    for (const auto& [name, node] : state.topology.nodes) {
      for (const auto& [resource, amount] : node->allocatable) {
        marks_(IdKind::kResource, state.resource_names.Find(resource));
      }
    }
    MarkNodes(state);
  }

  void MarkNodes(State& state) {
    for (NodeId node = 0; node < state.forest().size(); ++node) {
      if (!state.forest().Exists(node)) continue;
      marks_(IdKind::kNode, node);
      if (!state.forest().IsClusterQueue(node) || !state.forest().IsDeclared(node)) continue;
      state.Queue(node).pending.Prune();
      WalkIds(marks_, std::as_const(state).Queue(node));
    }
  }

  void MarkTables(const State& state) {
    for (LocalQueueId id = 0; id < static_cast<LocalQueueId>(state.local_queues.size()); ++id) {
      const LedgerEntry& entry = state.ledger[Index(id)];
      if (!state.Local(id).exists && !entry.exists && !marks_.Has(IdKind::kLocalQueue, id)) continue;
      marks_(IdKind::kLocalQueue, id);
      WalkIds(marks_, state.Local(id));
      WalkIds(marks_, entry);
    }
    for (size_t id = 0; id < state.namespaces.size(); ++id) {
      const Namespace& space = state.namespaces[id];
      if (space.exists || !space.limit_ranges.empty()) marks_(IdKind::kNamespace, static_cast<int32_t>(id));
    }
    for (size_t id = 0; id < state.flavors.size(); ++id) {
      if (state.flavors[id].spec != nullptr) marks_(IdKind::kFlavor, static_cast<int32_t>(id));
    }
    for (size_t id = 0; id < state.checks.size(); ++id) {
      if (state.checks[id].exists) marks_(IdKind::kCheck, static_cast<int32_t>(id));
    }
    MarkFlavorResources(state);
  }

  void MarkFlavorResources(const State& state) {
    for (NodeId node = 0; node < state.forest().size(); ++node) {
      for (FlavorResourceId fr = 0; fr < state.quota.flavor_resources(); ++fr) {
        if (state.quota.IsDefined(node, fr) || state.quota.Usage(node, fr) != Amount(0))
          marks_(IdKind::kFlavorResource, fr);
      }
    }
  }

  // Marks the ids to which classes and flavor resources refer, and the ids that always exist.
  void MarkNames(const State& state) {
    for (ClassId id : marks_.All(IdKind::kClass)) WalkIds(marks_, state.Class(id));
    for (FlavorResourceId fr : marks_.All(IdKind::kFlavorResource)) {
      marks_(IdKind::kFlavor, state.flavor_resources[Index(fr)].first);
      marks_(IdKind::kResource, state.flavor_resources[Index(fr)].second);
    }
    marks_(IdKind::kResource, state.cpu);
    marks_(IdKind::kResource, state.pods);
    const int32_t known_reasons = KnownReasons().size();
    for (int32_t id = 0; id < known_reasons; ++id) marks_(IdKind::kReason, id);
  }

  const bool may_end_;
  Marks marks_;
};

}  // namespace

Marks UsedIn(const std::vector<State*>& states, bool may_end) { return Marking(may_end).Run(states); }

}  // namespace kueue
