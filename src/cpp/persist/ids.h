// Visits every id in a value. The type of a field tells whether it is an id, and of which kind.
#ifndef KUEUE_PERSIST_IDS_H_
#define KUEUE_PERSIST_IDS_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "persist/field_lists.h"

namespace kueue {

template <typename T, typename... Types>
inline constexpr bool kIsOneOf = (std::is_same_v<T, Types> || ...);
// Types whose values contain no ids. Specs refer to other objects by name. Reason, an enumeration that is
// visited like an id, has its own specialization of Ids.
template <typename T>
inline constexpr bool kHasNoIds =
    std::is_arithmetic_v<T> || std::is_enum_v<T> ||
    kIsOneOf<T, std::string, Amount, Int128, Quantity, WorkloadSpec, ResourceFlavor, ClusterQueueSpec,
             PodTemplate, DeviceClassMapping, DeviceObjects, DeviceCharges, DeviceQueueing, RefusalDetail,
             PlacementFailure, TopologyRequest>;

// Visits a value. `use(id)` is called for each id and for each reason, and `use.Shared(pointer)` for each
// pointer whose target may be shared. If the value is not const, `use` may change the ids.
template <typename T>
struct Ids {  // Default: a record, whose fields are visited.
  template <typename Use, typename V>
  static void Walk(Use& use, V& value) {
    if constexpr (!kHasNoIds<T>) {
      FieldLists::Visit(value, [&use](auto&... fields) {
        (Ids<std::remove_const_t<std::remove_reference_t<decltype(fields)>>>::Walk(use, fields), ...);
      });
    }
  }
};

template <typename Use, typename V>
void WalkIds(Use& use, V& value) {
  Ids<std::remove_const_t<V>>::Walk(use, value);
}

struct EachIds {
  template <typename Use, typename V>
  static void Walk(Use& use, V& values) {
    for (auto& value : values) WalkIds(use, value);
  }
};

struct IsId {
  template <typename Use, typename V>
  static void Walk(Use& use, V& id) {
    use(id);
  }
};
template <typename Tag>
struct Ids<Id<Tag>> : IsId {};
template <>
struct Ids<Reason> : IsId {};

template <typename T>
struct Ids<std::vector<T>> : EachIds {};
template <typename T, size_t n>
struct Ids<absl::InlinedVector<T, n>> : EachIds {};
template <typename T>
struct Ids<std::optional<T>> {
  template <typename Use, typename V>
  static void Walk(Use& use, V& value) {
    if (value) WalkIds(use, *value);
  }
};
template <typename A, typename B>
struct Ids<std::pair<A, B>> {
  template <typename Use, typename V>
  static void Walk(Use& use, V& pair) {
    WalkIds(use, pair.first);
    WalkIds(use, pair.second);
  }
};
template <typename T>
struct Ids<std::set<T>> {
  template <typename Use>
  static void Walk(Use& use, const std::set<T>& items) {
    for (const T& item : items) WalkIds(use, item);
  }
  template <typename Use>
  static void Walk(Use& use, std::set<T>& items) {
    std::set<T> changed;
    for (T item : items) {
      WalkIds(use, item);
      changed.insert(std::move(item));
    }
    items.swap(changed);
  }
};
template <typename Map>
struct IdsOfMap {
  template <typename Use>
  static void Walk(Use& use, const Map& map) {
    for (const auto& [key, value] : map) {
      WalkIds(use, key);
      WalkIds(use, value);
    }
  }
  template <typename Use>
  static void Walk(Use& use, Map& map) {
    Map changed;
    for (auto& [key, value] : map) {
      typename Map::key_type changed_key = key;
      WalkIds(use, changed_key);
      WalkIds(use, value);
      changed.emplace(std::move(changed_key), std::move(value));
    }
    map.swap(changed);
  }
};
template <typename K, typename V>
struct Ids<std::map<K, V>> : IdsOfMap<std::map<K, V>> {};
template <typename K, typename V>
struct Ids<absl::flat_hash_map<K, V>> : IdsOfMap<absl::flat_hash_map<K, V>> {};
template <typename K, typename V>
struct Ids<absl::btree_map<K, V>> : IdsOfMap<absl::btree_map<K, V>> {};
template <typename T>
struct Ids<std::shared_ptr<const T>> {
  template <typename Use, typename V>
  static void Walk(Use& use, V& pointer) {
    if constexpr (!kHasNoIds<T>) {
      if (pointer) use.Shared(pointer);
    }
  }
};
template <>
struct Ids<MessageBody> {
  template <typename Use, typename V>
  static void Walk(Use& use, V& body) {
    std::visit([&use](auto& record) { WalkIds(use, record); }, body);
  }
};

template <>
struct Ids<WorkloadRun> {
  template <typename Use>
  static void Walk(Use& use, const WorkloadRun& run) {
    for (const WorkloadRun::Item& item : run) use(item.workload);
  }
  template <typename Use>
  static void Walk(Use& use, WorkloadRun& run) {
    run.Renumber([&use](WorkloadId id) {
      use(id);
      return id;
    });
  }
};

}  // namespace kueue

#endif  // KUEUE_PERSIST_IDS_H_
