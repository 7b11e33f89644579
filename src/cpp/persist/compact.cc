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

namespace kueue {
namespace {

// Calls `use` for every name in `now` that is not in `start`.
template <typename Use>
void ForNew(const Interner& start, const Interner& now, Use use) {
  for (int32_t id = start.size(); id < now.size(); ++id) use(now.Name(id));
}

// Matches the tables that contain more than names: LocalQueues, nodes of the tree, flavor resources and
// classes.
void MatchTables(State& start, const State& now) {
  for (size_t id = start.local_queues.size(); id < now.local_queues.size(); ++id)
    start.InternLocalQueue(now.local_queues[id].ns, now.local_queues[id].name);
  for (NodeId node = start.forest().size(); node < now.forest().size(); ++node) {
    const std::string& name = now.forest().Name(node);
    now.forest().IsClusterQueue(node) ? start.InternClusterQueue(name) : start.InternCohort(name);
  }
  for (size_t fr = start.flavor_resources.size(); fr < now.flavor_resources.size(); ++fr)
    start.InternFlavorResource(now.flavor_resources[fr].first, now.flavor_resources[fr].second);
  for (size_t cls = start.classes.size(); cls < now.classes.size(); ++cls)
    start.classes.push_back(now.classes[cls]);
  now.class_of_key.ForEach([&start](const std::string& key, ClassId cls) {
    if (start.class_of_key.Find(key) == kNoId) start.class_of_key.Set(key, cls);
  });
}

// Adds to the start state of a blocked cycle all names added since, with the same ids.
void MatchNames(State& start, const State& now) {
  using Name = const std::string&;
  ForNew(start.flavor_names, now.flavor_names, [&](Name name) { start.InternFlavor(name); });
  ForNew(start.resource_names, now.resource_names, [&](Name name) { start.InternResource(name); });
  ForNew(start.namespace_names, now.namespace_names, [&](Name name) { start.InternNamespace(name); });
  ForNew(start.check_names, now.check_names, [&](Name name) { start.InternCheck(name); });
  ForNew(start.reasons, now.reasons, [&](Name name) { start.reasons.Intern(name); });
  ForNew(start.topology.domains, now.topology.domains,
         [&](Name name) { start.topology.domains.Intern(name); });
  MatchTables(start, now);
  start.quota.Resize(static_cast<int>(start.flavor_resources.size()));
  start.EnsureBuilt();
}

class Compaction {
 public:
  Compaction(State& state, bool may_end) : state_(state), may_end_(may_end) {
    state_.EnsureBuilt();
    state_.RemoveDeleted();
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

  template <typename Less>
  void OrderKind(IdKind kind, size_t size, Less less) {
    std::vector<int32_t> ids = marks_.All(kind);
    std::sort(ids.begin(), ids.end(), less);
    renumbering_.Set(kind, ids, size);
  }
  void OrderNames(IdKind kind, const Interner& names) {
    OrderKind(kind, Index(names.size()),
              [&names](int32_t a, int32_t b) { return names.Name(a) < names.Name(b); });
  }

  void Order() {
    const State& state = state_;
    OrderNames(IdKind::kFlavor, state.flavor_names);
    OrderNames(IdKind::kResource, state.resource_names);
    OrderNames(IdKind::kNamespace, state.namespace_names);
    OrderNames(IdKind::kLocalQueue, state.local_queue_names);
    OrderNames(IdKind::kCheck, state.check_names);
    OrderNames(IdKind::kDomain, state.topology.domains);
    const int32_t known_reasons = KnownReasons().size();
    OrderKind(IdKind::kReason, Index(state.reasons.size()), [known_reasons, &state](int32_t a, int32_t b) {
      if (a < known_reasons || b < known_reasons) return a < b;
      return state.reasons.Name(a) < state.reasons.Name(b);
    });
    OrderNodes(state.forest());
    OrderFlavorResources(state);
    OrderClasses(state);
    OrderKind(IdKind::kWorkload, PlacesOfWorkloads(),
              [this](WorkloadId a, WorkloadId b) { return SerialOf(a) < SerialOf(b); });
  }

  // ClusterQueues first.
  void OrderNodes(const Forest& forest) {
    OrderKind(IdKind::kNode, Index(forest.size()), [&forest](NodeId a, NodeId b) {
      if (forest.IsClusterQueue(a) != forest.IsClusterQueue(b)) return forest.IsClusterQueue(a);
      return forest.Name(a) < forest.Name(b);
    });
  }

  // By the new ids of flavors and resources.
  void OrderFlavorResources(const State& state) {
    const auto pair_of = [this, &state](FlavorResourceId fr) {
      const auto& [flavor, resource] = state.flavor_resources[Index(fr)];
      return std::pair(renumbering_.Now(IdKind::kFlavor, flavor),
                       renumbering_.Now(IdKind::kResource, resource));
    };
    OrderKind(IdKind::kFlavorResource, state.flavor_resources.size(),
              [&](FlavorResourceId a, FlavorResourceId b) { return pair_of(a) < pair_of(b); });
  }

  void OrderClasses(const State& state) {
    std::vector<const std::string*> keys(state.classes.size());
    state.class_of_key.ForEach([&keys](const std::string& key, ClassId cls) { keys[Index(cls)] = &key; });
    OrderKind(IdKind::kClass, state.classes.size(),
              [&keys](ClassId a, ClassId b) { return *keys[Index(a)] < *keys[Index(b)]; });
  }

  size_t PlacesOfWorkloads() const {
    return std::max(state_.workloads.size(), start_ ? start_->workloads.size() : 0);
  }
  // While a cycle is blocked, an id refers to the same workload in both states.
  Serial SerialOf(WorkloadId id) const {
    const bool is_here = Index(id) < state_.workloads.size() && !state_.workloads.IsFree(id);
    return is_here ? state_.At(id).serial : std::as_const(*start_).At(id).serial;
  }

  template <typename Sequence>
  void Permute(IdKind kind, Sequence& items) {
    Sequence permuted(renumbering_.Count(kind));
    for (size_t id = 0; id < items.size(); ++id) {
      const int32_t now = renumbering_.Now(kind, static_cast<int32_t>(id));
      if (now != kNoId) permuted[Index(now)] = std::move(items[id]);
    }
    items.swap(permuted);
  }
  void Permute(IdKind kind, Interner& names) {
    std::vector<std::string> ordered(renumbering_.Count(kind));
    for (int32_t id = 0; id < names.size(); ++id) {
      const int32_t now = renumbering_.Now(kind, id);
      if (now != kNoId) ordered[Index(now)] = names.Name(id);
    }
    names = Interner();
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
    renumbering_.Keys(IdKind::kNode, state.to_requeue);
    for (EquivalenceClass& cls : state.classes) WalkIds(renumbering_, cls);
    RenumberCaches(state.caches);
  }

  void RenumberNames(State& state) {
    Permute(IdKind::kFlavor, state.flavor_names);
    Permute(IdKind::kFlavor, state.flavors);
    Permute(IdKind::kResource, state.resource_names);
    Permute(IdKind::kResource, state.resource_order);
    renumbering_(IdKind::kResource, state.cpu);
    renumbering_(IdKind::kResource, state.pods);
    Permute(IdKind::kNamespace, state.namespace_names);
    Permute(IdKind::kNamespace, state.namespaces);
    Permute(IdKind::kLocalQueue, state.local_queue_names);
    Permute(IdKind::kLocalQueue, state.local_queues);
    Permute(IdKind::kLocalQueue, state.ledger);
    Permute(IdKind::kLocalQueue, state.ledger_usage.Edit());
    Permute(IdKind::kCheck, state.check_names);
    Permute(IdKind::kCheck, state.checks);
    Permute(IdKind::kReason, state.reasons);
    Permute(IdKind::kDomain, state.topology.domains);
    Permute(IdKind::kNode, state.queues);
    Permute(IdKind::kNode, state.cohorts);
    Permute(IdKind::kClass, state.classes);
    RenumberClassKeys(state);
    RenumberFlavorResources(state);
  }

  void RenumberClassKeys(State& state) {
    IdsByText renumbered;
    state.class_of_key.ForEach([&](const std::string& key, ClassId cls) {
      if (const ClassId now = renumbering_.Now(IdKind::kClass, cls); now != kNoId) renumbered.Set(key, now);
    });
    state.class_of_key = std::move(renumbered);
  }

  void RenumberFlavorResources(State& state) {
    Permute(IdKind::kFlavorResource, state.flavor_resources);
    state.flavor_resource_ids.assign(state.flavors.size(), {});
    for (size_t fr = 0; fr < state.flavor_resources.size(); ++fr) {
      auto& [flavor, resource] = state.flavor_resources[fr];
      renumbering_(IdKind::kFlavor, flavor);
      renumbering_(IdKind::kResource, resource);
      std::vector<FlavorResourceId>& row = state.flavor_resource_ids[Index(flavor)];
      if (row.size() <= Index(resource)) row.resize(Index(resource) + 1, kNoId);
      row[Index(resource)] = static_cast<FlavorResourceId>(fr);
    }
  }

  template <typename Places>
  void PermuteWorkloads(Places& places) {
    Places ordered(renumbering_.Count(IdKind::kWorkload));
    for (size_t place = 0; place < places.size(); ++place) {
      if (places[place].spec == nullptr) continue;
      const WorkloadId now = renumbering_.Now(IdKind::kWorkload, static_cast<WorkloadId>(place));
      ordered[Index(now)] = std::move(places[place]);
    }
    places.swap(ordered);
  }

  void RenumberWorkloadTable(State& state) {
    FieldLists::Visit(state.workloads, [&](auto& places, auto& free, auto& roll, auto&, auto&) {
      PermuteWorkloads(places);
      free.clear();
      roll.clear();
      for (size_t place = 0; place < places.size(); ++place) {
        if (places[place].spec == nullptr) {  // The workload exists only in the other state.
          places[place].deleted = true;
          free.push_back(static_cast<WorkloadId>(place));
        } else {
          roll.push_back({places[place].serial, static_cast<WorkloadId>(place)});
        }
      }
    });
  }

  void RenumberWorkloads(State& state) {
    RenumberWorkloadTable(state);
    state.workload_of_key.Clear();
    for (WorkloadId id : state.workloads.InOrder()) {
      Pause();
      Workload& workload = state.At(id);
      WalkIds(renumbering_, workload);
      if (!workload.deleted) state.workload_of_key.Set(workload.Key(), id);
    }
    for (WorkloadId& id : state.dirty) renumbering_(IdKind::kWorkload, id);
    std::sort(state.dirty.begin(), state.dirty.end());  // The order of this list is arbitrary.
    for (size_t place = 0; place < state.dirty.size(); ++place)
      state.At(state.dirty[place]).dirty_place = static_cast<int32_t>(place);
    for (WorkloadId& id : state.deleted) renumbering_(IdKind::kWorkload, id);
  }

  template <typename Cells>
  void PermuteTable(Cells& table) {
    const auto rows = static_cast<Eigen::Index>(renumbering_.Count(IdKind::kNode)),
               columns = static_cast<Eigen::Index>(renumbering_.Count(IdKind::kFlavorResource));
    Cells permuted(rows, columns);
    for (Eigen::Index row = 0; row < table.rows(); ++row) {
      const NodeId node = renumbering_.Now(IdKind::kNode, static_cast<NodeId>(row));
      for (Eigen::Index column = 0; node != kNoId && column < table.cols(); ++column) {
        const FlavorResourceId fr =
            renumbering_.Now(IdKind::kFlavorResource, static_cast<FlavorResourceId>(column));
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
                                     auto& cohort_names, auto&, auto&) {
      Permute(IdKind::kNode, nodes.Edit());
      of_queue.Edit().clear();
      of_cohort.Edit().clear();
      queue_names = cohort_names = Interner();
      NodeId id = 0;
      for (auto& node : nodes.Edit()) {
        renumbering_(IdKind::kNode, node.parent);
        (node.is_cluster_queue ? queue_names : cohort_names).Intern(node.name);
        (node.is_cluster_queue ? of_queue : of_cohort).Edit().push_back(id++);
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
    auto& classes = caches.classes.Edit();
    for (auto at = classes.begin(); at != classes.end();) {
      const auto entry = at++;
      std::vector<ClassId> kept;
      for (ClassId cls : entry->second) {
        if (const ClassId now = renumbering_.Now(IdKind::kClass, cls); now != kNoId) kept.push_back(now);
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
  const auto names = [](const Interner& interner) { return static_cast<size_t>(interner.size()); };
  return state.classes.size() + state.local_queues.size() + state.namespaces.size() + state.flavors.size() +
         state.checks.size() + state.flavor_resources.size() + static_cast<size_t>(state.forest().size()) +
         names(state.resource_names) + names(state.reasons) + names(state.topology.domains) +
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
