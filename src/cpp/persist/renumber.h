// Set of used ids, and their new numbers.
#ifndef KUEUE_PERSIST_RENUMBER_H_
#define KUEUE_PERSIST_RENUMBER_H_

#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "persist/ids.h"

namespace kueue {

// One table for each kind of id.
template <template <typename IdT> typename TableOf>
using ByKind = std::tuple<TableOf<NodeId>, TableOf<FlavorId>, TableOf<ResourceId>, TableOf<FlavorResourceId>,
                          TableOf<LocalQueueId>, TableOf<NamespaceId>, TableOf<CheckId>, TableOf<ClassId>,
                          TableOf<WorkloadId>, TableOf<Reason>, TableOf<DomainId>>;

// The id that refers to nothing.
template <typename IdT>
inline constexpr IdT kNone = IdT(-1);

// The ids to which a state refers.
class Marks {
 public:
  template <typename IdT>
  void operator()(IdT id) {
    if (id == kNone<IdT>) return;
    Used<IdT>& used = std::get<Used<IdT>>(used_);
    used.GrowTo(id);
    used[id] = true;
  }
  template <typename T>
  void Shared(const std::shared_ptr<const T>& pointer) {
    if (seen_.insert(pointer.get()).second) WalkIds(*this, *pointer);
  }
  template <typename IdT>
  bool Has(IdT id) const {
    const Used<IdT>& used = std::get<Used<IdT>>(used_);
    return used.Contains(id) && used[id];
  }
  // Returns the used ids of a kind in ascending order.
  template <typename IdT>
  std::vector<IdT> All() const {
    std::vector<IdT> ids;
    for (IdT id : std::get<Used<IdT>>(used_).Ids()) {
      if (Has(id)) ids.push_back(id);
    }
    return ids;
  }

 private:
  template <typename IdT>
  using Used = IdVector<IdT, bool>;
  ByKind<Used> used_;
  absl::flat_hash_set<const void*> seen_;
};

// The new ids.
class Renumbering {
 public:
  // Sets the new order of the ids of a kind. Ids less than `size` that are not in `order` are dropped.
  template <typename IdT>
  void Set(const std::vector<IdT>& order, size_t size) {
    New<IdT>& renumbered = std::get<New<IdT>>(new_);
    renumbered.count = order.size();
    renumbered.ids.assign(size, kNone<IdT>);
    for (size_t place = 0; place < order.size(); ++place) renumbered.ids[order[place]] = IdT(place);
  }
  // Returns the new id; kNone if the id is dropped.
  template <typename IdT>
  IdT Now(IdT id) const {
    return id == kNone<IdT> ? id : std::get<New<IdT>>(new_).ids[id];
  }
  // Returns the number of ids of a kind that are kept.
  template <typename IdT>
  size_t Count() const {
    return std::get<New<IdT>>(new_).count;
  }

  template <typename IdT>
  void operator()(IdT& id) const {
    id = Now(id);
  }
  // Renumbers the target of a pointer. Shared targets stay shared, and unchanged targets are not copied.
  template <typename T>
  void Shared(std::shared_ptr<const T>& pointer) {
    const auto known = made_.find(pointer.get());
    if (known != made_.end()) {
      pointer = std::static_pointer_cast<const T>(known->second.second);
      return;
    }
    // Keeps the old target alive, so that its address is not reused.
    const std::shared_ptr<const T> before = pointer;
    Probe probe{*this, false};
    WalkIds(probe, *before);
    if (probe.changes) {
      auto copy = std::make_shared<T>(*before);
      WalkIds(*this, *copy);
      pointer = std::move(copy);
    }
    made_.emplace(before.get(), std::pair(before, pointer));
  }

 private:
  // Tests whether renumbering would change anything.
  struct Probe {
    const Renumbering& renumbering;
    bool changes;
    template <typename IdT>
    void operator()(IdT id) {
      changes = changes || renumbering.Now(id) != id;
    }
    template <typename T>
    void Shared(const std::shared_ptr<const T>& pointer) {
      WalkIds(*this, *pointer);
    }
  };

  template <typename IdT>
  struct New {
    IdVector<IdT, IdT> ids;  // By old id.
    size_t count = 0;
  };
  ByKind<New> new_;
  absl::flat_hash_map<const void*, std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>> made_;
};

}  // namespace kueue

#endif  // KUEUE_PERSIST_RENUMBER_H_
