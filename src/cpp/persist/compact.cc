#include "persist/compact.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/poll.h"
#include "persist/ids.h"
#include "persist/renumber.h"
#include "persist/used.h"
#include "state/names.h"
#include "state/rebuild.h"

namespace kueue {
namespace {

// Calls `use` for every name in `now` that is not in `start`.
template <typename IdT, typename Use>
void ForNew(const Interner<IdT>& start, const Interner<IdT>& now, Use use) {
  for (IdT id : IdRange<IdT>(start.size(), now.size())) use(now.Name(id));
}

// Matches the tables that contain more than names: LocalQueues, nodes of the tree, flavor resources and
// classes.
void MatchTables(State& start, const State& now) {
  for (LocalQueueId id : IdRange<LocalQueueId>(start.local_queues.size(), now.local_queues.size()))
    InternLocalQueue(start, now.local_queues[id].ns, now.local_queues[id].name);
  for (NodeId node : IdRange<NodeId>(start.forest().size(), now.forest().size())) {
    const std::string& name = now.forest().Name(node);
    now.forest().IsClusterQueue(node) ? InternClusterQueue(start, name) : InternCohort(start, name);
  }
  for (FlavorResourceId fr :
       IdRange<FlavorResourceId>(start.flavor_resources.size(), now.flavor_resources.size()))
    InternFlavorResource(start, now.flavor_resources[fr].first, now.flavor_resources[fr].second);
  for (ClassId cls : IdRange<ClassId>(start.classes.size(), now.classes.size()))
    start.classes.push_back(now.classes[cls]);
  now.class_of_key.ForEach([&start](const std::string& key, ClassId cls) {
    if (start.class_of_key.Find(key) == kNoId) start.class_of_key.Set(key, cls);
  });
}

// Adds to the start state of a blocked cycle all names added since, with the same ids.
void MatchNames(State& start, const State& now) {
  using Name = const std::string&;
  ForNew(start.flavor_names, now.flavor_names, [&](Name name) { InternFlavor(start, name); });
  ForNew(start.resource_names, now.resource_names, [&](Name name) { InternResource(start, name); });
  ForNew(start.namespace_names, now.namespace_names, [&](Name name) { InternNamespace(start, name); });
  ForNew(start.check_names, now.check_names, [&](Name name) { InternCheck(start, name); });
  ForNew(start.reasons, now.reasons, [&](Name name) { start.reasons.Intern(name); });
  ForNew(start.topology.domains, now.topology.domains,
         [&](Name name) { start.topology.domains.Intern(name); });
  MatchTables(start, now);
  start.quota.Resize(start.flavor_resources.size());
  EnsureBuilt(start);
}

class Compaction {
 public:
  Compaction(State& state, bool may_end) : state_(state), may_end_(may_end) {
    EnsureBuilt(state_);
    RemoveDeleted(state_);
    states_.push_back(&state_);
    if (state_.waiting.start == nullptr) return;
    start_ = std::make_shared<State>(*state_.waiting.start);
    MatchNames(*start_, state_);
    states_.push_back(start_.get());
  }

  void Run() {
    marks_ = UsedIn(states_, may_end_);
    Order();
    for (State* state : states_) Renumber(*state);
    if (start_) state_.waiting.start = std::move(start_);
  }

 private:
  void Pause() const {
    if (may_end_) Poll();
  }

  // Numbers the used ids of a kind, of which there were `size`, in the order of `less`. `less` must order any
  // two ids: with a tie, the saved bytes would depend on the history of the state.
  template <typename IdT, typename Less>
  void OrderKind(size_t size, Less less) {
    std::vector<IdT> ids = marks_.All<IdT>();
    std::sort(ids.begin(), ids.end(), less);
    renumbering_.Set(ids, size);
  }
  template <typename IdT>
  void OrderNames(const Interner<IdT>& names) {
    OrderKind<IdT>(names.size(), [&names](IdT a, IdT b) { return names.Name(a) < names.Name(b); });
  }

  void Order() {
    const State& state = state_;
    OrderNames(state.flavor_names);
    OrderNames(state.resource_names);
    OrderNames(state.namespace_names);
    OrderNames(state.local_queue_names);
    OrderNames(state.check_names);
    OrderNames(state.topology.domains);
    const auto known_reasons = static_cast<Reason>(KnownReasons().size());
    OrderKind<Reason>(state.reasons.size(), [known_reasons, &state](Reason a, Reason b) {
      if (a < known_reasons || b < known_reasons) return a < b;
      return state.reasons.Name(a) < state.reasons.Name(b);
    });
    OrderNodes(state.forest());
    OrderFlavorResources(state);
    OrderClasses(state);
    OrderKind<WorkloadId>(PlacesOfWorkloads(),
                          [this](WorkloadId a, WorkloadId b) { return SerialOf(a) < SerialOf(b); });
  }

  // ClusterQueues first.
  void OrderNodes(const Forest& forest) {
    OrderKind<NodeId>(forest.size(), [&forest](NodeId a, NodeId b) {
      if (forest.IsClusterQueue(a) != forest.IsClusterQueue(b)) return forest.IsClusterQueue(a);
      return forest.Name(a) < forest.Name(b);
    });
  }

  // By the new ids of flavors and resources.
  void OrderFlavorResources(const State& state) {
    const auto pair_of = [this, &state](FlavorResourceId fr) {
      const auto& [flavor, resource] = state.flavor_resources[fr];
      return std::pair(renumbering_.Now(flavor), renumbering_.Now(resource));
    };
    OrderKind<FlavorResourceId>(state.flavor_resources.size(), [&](FlavorResourceId a, FlavorResourceId b) {
      return pair_of(a) < pair_of(b);
    });
  }

  void OrderClasses(const State& state) {
    IdVector<ClassId, const std::string*> keys(state.classes.size());
    state.class_of_key.ForEach([&keys](const std::string& key, ClassId cls) { keys[cls] = &key; });
    OrderKind<ClassId>(state.classes.size(), [&keys](ClassId a, ClassId b) { return *keys[a] < *keys[b]; });
  }

  size_t PlacesOfWorkloads() const {
    return std::max(state_.workloads.size(), start_ ? start_->workloads.size() : 0);
  }
  // While a cycle is blocked, an id refers to the same workload in both states.
  Serial SerialOf(WorkloadId id) const {
    const bool is_here = state_.workloads.Contains(id) && !state_.workloads.IsFree(id);
    return is_here ? state_.At(id).serial : std::as_const(*start_).At(id).serial;
  }

  // Moves the items to the places of their new ids.
  template <typename IdT, typename Sequence>
  void PermuteItems(Sequence& items) {
    Sequence permuted(renumbering_.Count<IdT>());
    for (IdT id : items.Ids()) {
      if (const IdT now = renumbering_.Now(id); now != kNoId) permuted[now] = std::move(items[id]);
    }
    items.swap(permuted);
  }
  template <typename IdT, typename T>
  void Permute(IdVector<IdT, T>& items) {
    PermuteItems<IdT>(items);
  }
  template <typename IdT, typename T, size_t n, bool direct>
  void Permute(Paged<T, n, direct, IdT>& items) {
    PermuteItems<IdT>(items);
  }
  template <typename IdT>
  void Permute(Interner<IdT>& names) {
    IdVector<IdT, std::string> ordered(renumbering_.Count<IdT>());
    for (IdT id : names.Ids()) {
      if (const IdT now = renumbering_.Now(id); now != kNone<IdT>) ordered[now] = names.Name(id);
    }
    names = Interner<IdT>();
    for (const std::string& name : ordered) names.Intern(name);
  }

  void Renumber(State& state) {
    RenumberQuota(state);
    RenumberNames(state);
    RenumberWorkloads(state);
    for (NodeId node : state.forest().Queues()) {
      WalkIds(renumbering_, state.Queue(node));
      state.Queue(node).pending.Tidy(state.workloads);  // The order of the buckets depends on the ids.
    }
    for (LocalQueue& local : state.local_queues) WalkIds(renumbering_, local);
    for (LedgerEntry& entry : state.ledger) WalkIds(renumbering_, entry);
    WalkIds(renumbering_, state.events);
    WalkIds(renumbering_, state.second_passes);
    WalkIds(renumbering_, state.topology.pods);
    state.topology.made = TopologyCaches();
    WalkIds(renumbering_, state.to_requeue);
    WalkIds(renumbering_, state.refused);
    WalkIds(renumbering_, state.deleting.flavors);
    WalkIds(renumbering_, state.deleting.checks);
    for (EquivalenceClass& cls : state.classes) WalkIds(renumbering_, cls);
    RenumberCaches(state.caches);
  }

  void RenumberNames(State& state) {
    Permute(state.flavor_names);
    Permute(state.flavors);
    Permute(state.resource_names);
    Permute(state.resource_order);
    renumbering_(state.cpu);
    renumbering_(state.pods);
    Permute(state.namespace_names);
    Permute(state.namespaces);
    Permute(state.local_queue_names);
    Permute(state.local_queues);
    Permute(state.ledger);
    Permute(state.ledger_usage.Edit());
    Permute(state.check_names);
    Permute(state.checks);
    Permute(state.reasons);
    Permute(state.topology.domains);
    Permute(state.queues);
    Permute(state.cohorts);
    Permute(state.classes);
    RenumberClassKeys(state);
    RenumberFlavorResources(state);
  }

  void RenumberClassKeys(State& state) {
    IdsByText<ClassId> renumbered;
    state.class_of_key.ForEach([&](const std::string& key, ClassId cls) {
      if (const ClassId now = renumbering_.Now(cls); now != kNoId) renumbered.Set(key, now);
    });
    state.class_of_key = std::move(renumbered);
  }

  void RenumberFlavorResources(State& state) {
    Permute(state.flavor_resources);
    state.flavor_resource_ids.assign(state.flavors.size(), {});
    for (FlavorResourceId fr : state.flavor_resources.Ids()) {
      auto& [flavor, resource] = state.flavor_resources[fr];
      renumbering_(flavor);
      renumbering_(resource);
      IdVector<ResourceId, FlavorResourceId>& row = state.flavor_resource_ids[flavor];
      row.GrowTo(resource);
      row[resource] = fr;
    }
  }

  template <typename Places>
  void PermuteWorkloads(Places& places) {
    Places ordered(renumbering_.Count<WorkloadId>());
    for (WorkloadId id : places.Ids()) {
      if (places[id].spec == nullptr) continue;
      ordered[renumbering_.Now(id)] = std::move(places[id]);
    }
    places.swap(ordered);
  }

  void RenumberWorkloadTable(State& state) {
    FieldLists::Visit(state.workloads, [&](auto& places, auto& free, auto& roll, auto&, auto&) {
      PermuteWorkloads(places);
      free.clear();
      roll.clear();
      for (WorkloadId id : places.Ids()) {
        if (places[id].spec == nullptr) {  // The workload exists only in the other state.
          places[id].deleted = true;
          free.push_back(id);
        } else {
          roll.push_back({places[id].serial, id});
        }
      }
    });
  }

  void RenumberWorkloads(State& state) {
    RenumberWorkloadTable(state);
    for (WorkloadId id : state.workloads.InOrder()) {
      Pause();
      WalkIds(renumbering_, state.At(id));
    }
    for (WorkloadId& id : state.dirty) renumbering_(id);
    std::sort(state.dirty.begin(), state.dirty.end());  // The order of this list is arbitrary.
    for (size_t place = 0; place < state.dirty.size(); ++place)
      state.At(state.dirty[place]).dirty_place = static_cast<int32_t>(place);
    for (WorkloadId& id : state.deleted) renumbering_(id);
    IndexKeys(state);
  }

  template <typename Cells>
  void PermuteTable(Cells& table) {
    Cells permuted(static_cast<Eigen::Index>(renumbering_.Count<NodeId>()),
                   static_cast<Eigen::Index>(renumbering_.Count<FlavorResourceId>()));
    for (NodeId row : table.Nodes()) {
      const NodeId node = renumbering_.Now(row);
      if (node == kNoId) continue;
      for (FlavorResourceId column : table.FlavorResources()) {
        const FlavorResourceId fr = renumbering_.Now(column);
        if (fr != kNoId) permuted(node, fr) = table(row, column);
      }
    }
    table.swap(permuted);
  }

  void RenumberQuota(State& state) {
    FieldLists::Visit(state.quota, [this](auto& forest, auto& nominal, auto& borrowing, auto& lending,
                                          auto& subtree, auto& local, auto& potential, auto& usage,
                                          auto& declared, auto& defined, auto&, auto&) {
      for (Table* table : {&nominal, &borrowing, &lending, &subtree, &local, &potential, &usage})
        PermuteTable(*table);
      PermuteTable(declared);
      PermuteTable(defined);
      RenumberForest(forest);
    });
  }

  void RenumberForest(Forest& forest) {
    FieldLists::Visit(forest, [this](auto& nodes, auto& of_queue, auto& of_cohort, auto& queue_names,
                                     auto& cohort_names, auto&, auto&, bool&) {
      Permute(nodes.Edit());
      of_queue.Edit().clear();
      of_cohort.Edit().clear();
      queue_names = cohort_names = {};
      for (NodeId id : nodes->Ids()) {
        auto& node = nodes.Edit()[id];
        renumbering_(node.parent);
        (node.is_cluster_queue ? queue_names : cohort_names).Intern(node.name);
        (node.is_cluster_queue ? of_queue : of_cohort).Edit().push_back(id);
      }
    });
    forest.Rebuild();
    forest.RebuildHeights();
  }

  void RenumberCaches(Caches& caches) {
    caches.reserved.clear();
    caches.admissions.Clear();
    caches.heads.Forget();
    caches.terminating.reset();
    caches.refusals.Forget();
    caches.fits.Forget();
    caches.devices.Clear();
    caches.only_quotas = false;
    caches.rebuilt.reset();
    caches.retained = {};
    auto& classes = caches.classes.Edit();
    for (auto at = classes.begin(); at != classes.end();) {
      const auto entry = at++;
      std::vector<ClassId> kept;
      for (ClassId cls : entry->second) {
        if (const ClassId now = renumbering_.Now(cls); now != kNoId) kept.push_back(now);
      }
      entry->second = std::move(kept);
      if (entry->second.empty()) classes.erase(entry);
    }
  }

  State& state_;
  const bool may_end_;
  std::shared_ptr<State> start_;  // Start state of the blocked cycle, if any.
  std::vector<State*> states_;
  Marks marks_;
  Renumbering renumbering_;
};

}  // namespace

size_t EntriesOf(const State& state) {
  return state.classes.size() + state.local_queues.size() + state.namespaces.size() + state.flavors.size() +
         state.checks.size() + state.flavor_resources.size() + state.forest().size() +
         state.resource_names.size() + state.reasons.size() + state.topology.domains.size() +
         state.workloads.size() - state.workloads.living();
}

void Compact(State& state, bool may_end) { Compaction(state, may_end).Run(); }

State NamesOf(const State& state) {
  State names;
  names.flavor_names = state.flavor_names;
  names.resource_names = state.resource_names;
  names.reasons = state.reasons;
  names.classes = state.classes;
  names.topology.domains = state.topology.domains;
  names.forest() = state.forest();
  return names;
}

}  // namespace kueue
