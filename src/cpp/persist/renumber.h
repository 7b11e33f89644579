// Set of used ids, and their new numbers.
#ifndef KUEUE_PERSIST_RENUMBER_H_
#define KUEUE_PERSIST_RENUMBER_H_

#include <array>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "persist/ids.h"

namespace kueue {

template <typename K, typename V>
const K& KeyOf(const std::pair<const K, V>& entry) {
  return entry.first;
}
inline int32_t KeyOf(int32_t key) { return key; }

inline size_t Index(int32_t id) { return static_cast<size_t>(id); }

// The ids to which a state refers.
class Marks {
 public:
  void operator()(IdKind kind, int32_t id) {
    if (id < 0) return;
    std::vector<bool>& used = used_[static_cast<size_t>(kind)];
    if (used.size() <= static_cast<size_t>(id)) used.resize(static_cast<size_t>(id) + 1);
    used[static_cast<size_t>(id)] = true;
  }
  template <typename Container>
  void Keys(IdKind kind, const Container& container) {
    for (const auto& entry : container) (*this)(kind, KeyOf(entry));
  }
  template <typename T>
  void Shared(const std::shared_ptr<const T>& pointer) {
    if (seen_.insert(pointer.get()).second) WalkIds(*this, *pointer);
  }
  bool Has(IdKind kind, int32_t id) const {
    const std::vector<bool>& used = used_[static_cast<size_t>(kind)];
    return static_cast<size_t>(id) < used.size() && used[static_cast<size_t>(id)];
  }
  // Returns the used ids of a kind in ascending order.
  std::vector<int32_t> All(IdKind kind) const {
    const std::vector<bool>& used = used_[static_cast<size_t>(kind)];
    std::vector<int32_t> ids;
    for (size_t id = 0; id < used.size(); ++id) {
      if (used[id]) ids.push_back(static_cast<int32_t>(id));
    }
    return ids;
  }

 private:
  std::array<std::vector<bool>, kIdKinds> used_;
  absl::flat_hash_set<const void*> seen_;
};

// New number of each id, by kind; kNoId if the id is dropped.
class Renumbering {
 public:
  // Sets the new order of the ids of a kind. Ids less than `size` that are not in `order` are dropped.
  void Set(IdKind kind, const std::vector<int32_t>& order, size_t size) {
    std::vector<int32_t>& now = now_[static_cast<size_t>(kind)];
    now.assign(size, kNoId);
    for (size_t place = 0; place < order.size(); ++place)
      now[static_cast<size_t>(order[place])] = static_cast<int32_t>(place);
    count_[static_cast<size_t>(kind)] = order.size();
  }
  int32_t Now(IdKind kind, int32_t id) const {
    return id < 0 ? id : now_[static_cast<size_t>(kind)][static_cast<size_t>(id)];
  }
  size_t Count(IdKind kind) const { return count_[static_cast<size_t>(kind)]; }

  void operator()(IdKind kind, int32_t& id) const { id = Now(kind, id); }
  template <typename T>
  void Keys(IdKind kind, std::set<T>& keys) const {
    std::set<T> renumbered;
    for (const T key : keys) renumbered.insert(Now(kind, key));
    keys.swap(renumbered);
  }
  template <typename Map>
  void Keys(IdKind kind, Map& map) const {
    Map renumbered;
    for (auto& [key, value] : map) renumbered.emplace(Now(kind, key), std::move(value));
    map.swap(renumbered);
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
    void operator()(IdKind kind, int32_t id) { changes = changes || renumbering.Now(kind, id) != id; }
    template <typename Container>
    void Keys(IdKind kind, const Container& container) {
      for (const auto& entry : container) (*this)(kind, KeyOf(entry));
    }
    template <typename T>
    void Shared(const std::shared_ptr<const T>& pointer) {
      WalkIds(*this, *pointer);
    }
  };

  std::array<std::vector<int32_t>, kIdKinds> now_;
  std::array<size_t, kIdKinds> count_ = {};
  absl::flat_hash_map<const void*, std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>> made_;
};

}  // namespace kueue

#endif  // KUEUE_PERSIST_RENUMBER_H_
