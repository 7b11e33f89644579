// Visits every id in the state, by kind. A record with integer fields declares the meaning of each field; a
// missing declaration is a compile error.
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

enum class IdKind : uint8_t {
  kNode,
  kFlavor,
  kResource,
  kFlavorResource,
  kLocalQueue,
  kNamespace,
  kCheck,
  kClass,
  kWorkload,
  kReason,
  kDomain
};
inline constexpr size_t kIdKinds = CountOf<IdKind>();

// Visits a value. `use(kind, id)` is called for each id, `use.Keys(kind, container)` for each container whose
// keys are ids, and `use.Shared(pointer)` for each pointer whose target may be shared.
template <typename T>
struct Ids {  // Default: a record, whose fields are visited.
  template <typename Use, typename V>
  static void Walk(Use& use, V& value) {
    static_assert(!std::is_same_v<T, int32_t>, "declare the meaning of this number with KUEUE_IDS");
    if constexpr (!std::is_arithmetic_v<T> && !std::is_enum_v<T>) {
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

struct NoIds {
  template <typename Use, typename V>
  static void Walk(Use&, V&) {}
};
struct EachIds {
  template <typename Use, typename V>
  static void Walk(Use& use, V& values) {
    for (auto& value : values) WalkIds(use, value);
  }
};

template <>
struct Ids<std::string> : NoIds {};
template <>
struct Ids<Amount> : NoIds {};
template <>
struct Ids<Quantity> : NoIds {};
// Specs refer to other objects by name, so they contain no ids.
template <>
struct Ids<WorkloadSpec> : NoIds {};
template <>
struct Ids<ResourceFlavor> : NoIds {};
template <>
struct Ids<ClusterQueueSpec> : NoIds {};
template <>
struct Ids<PodTemplate> : NoIds {};
template <>
struct Ids<DeviceClassMapping> : NoIds {};
template <>
struct Ids<DeviceObjects> : NoIds {};
template <>
struct Ids<DeviceCharges> : NoIds {};
template <>
struct Ids<DeviceQueueing> : NoIds {};
template <>
struct Ids<RefusalDetail> : NoIds {};
template <>
struct Ids<PlacementFailure> : NoIds {};
template <>
struct Ids<TopologyRequest> : NoIds {};
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
template <typename T>
struct Ids<std::map<std::string, T>> {
  template <typename Use, typename V>
  static void Walk(Use& use, V& map) {
    for (auto& [key, value] : map) WalkIds(use, value);
  }
};
template <typename T>
struct Ids<std::shared_ptr<const T>> {
  template <typename Use, typename V>
  static void Walk(Use& use, V& pointer) {
    if constexpr (!std::is_base_of_v<NoIds, Ids<T>>) {
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

// The types below declare which ids a field contains. `Plain`: a value whose type declares the ids that the
// value contains. `Number`: a number that is not an id. `Of`: ids of one kind, stored as a single id, a list,
// the first elements of pairs, or the keys of a container.
namespace field {

template <typename V>
inline constexpr bool kHasKeys = false;
template <typename K, typename V>
inline constexpr bool kHasKeys<std::map<K, V>> = true;
template <typename K, typename V>
inline constexpr bool kHasKeys<absl::flat_hash_map<K, V>> = true;
template <typename K, typename V>
inline constexpr bool kHasKeys<absl::btree_map<K, V>> = true;
template <typename K>
inline constexpr bool kHasKeys<std::set<K>> = true;

struct Plain {
  template <typename Use, typename V>
  static void Walk(Use& use, V& value) {
    WalkIds(use, value);
  }
};
struct Number : NoIds {};

template <IdKind kind>
struct Of {
  template <typename Use, typename V>
  static void Walk(Use& use, V& value) {
    using T = std::remove_const_t<V>;
    if constexpr (std::is_same_v<T, int32_t>) {
      use(kind, value);
    } else if constexpr (kHasKeys<T>) {
      use.Keys(kind, value);
    } else {
      for (auto& item : value) Walk(use, item);
    }
  }
  template <typename Use, typename A, typename B>
  static void Walk(Use& use, std::pair<A, B>& pair) {
    Walk(use, pair.first);
  }
  template <typename Use, typename A, typename B>
  static void Walk(Use& use, const std::pair<A, B>& pair) {
    Walk(use, pair.first);
  }
};
using Node = Of<IdKind::kNode>;
using Flavor = Of<IdKind::kFlavor>;
using Resource = Of<IdKind::kResource>;
using FlavorResource = Of<IdKind::kFlavorResource>;
using LocalQueue = Of<IdKind::kLocalQueue>;
using Namespace = Of<IdKind::kNamespace>;
using Check = Of<IdKind::kCheck>;
using Class = Of<IdKind::kClass>;
using Workload = Of<IdKind::kWorkload>;
using Reason = Of<IdKind::kReason>;
using Domain = Of<IdKind::kDomain>;

// Visits the values of a map as `Value` and its keys as `Key`.
template <typename Key, typename Value>
struct Map {
  template <typename Use, typename V>
  static void Walk(Use& use, V& map) {
    for (auto& [key, value] : map) Value::Walk(use, value);
    Key::Walk(use, map);
  }
};

template <typename... Kinds>
struct Fields {
  template <typename Use, typename V>
  static void Walk(Use& use, V& value) {
    FieldLists::Visit(value, [&use](auto&... fields) {
      static_assert(sizeof...(fields) == sizeof...(Kinds),
                    "KUEUE_IDS must declare the meaning of each field");
      (Kinds::Walk(use, fields), ...);
    });
  }
};

}  // namespace field

#define KUEUE_IDS(Type, ...) \
  template <>                \
  struct Ids<Type> : field::Fields<__VA_ARGS__> {}

KUEUE_IDS(Refusal, field::Plain, field::Flavor, field::Resource, field::Plain);
KUEUE_IDS(PodSetRefusals, field::Number, field::Plain);
KUEUE_IDS(Refused, field::Class, field::Plain, field::Number);
KUEUE_IDS(ReservedIn, field::Node);
KUEUE_IDS(PreemptedBy, field::Plain, field::Plain, field::Plain, field::Plain, field::Node, field::Node);
KUEUE_IDS(Condition, field::Plain, field::Plain, field::Reason, field::Plain, field::Plain);
KUEUE_IDS(PodSetTotals, field::Plain, field::Resource);
KUEUE_IDS(PodSetAdmission::Resource, field::Resource, field::Flavor, field::Plain);
KUEUE_IDS(Admission, field::Node, field::Plain);
KUEUE_IDS(ScanProgress, field::Resource, field::Plain, field::Plain, field::Class);
KUEUE_IDS(WorkloadCheck, field::Check, field::Plain, field::Plain, field::Plain, field::Plain, field::Plain,
          field::Plain, field::Plain);
KUEUE_IDS(Dispatched, field::Plain, field::Plain, field::Plain, field::Number, field::Number, field::Plain);
KUEUE_IDS(DomainCount, field::Domain, field::Number);
KUEUE_IDS(TopologyUsage, field::Flavor, field::Domain, field::Number, field::Resource);
KUEUE_IDS(SecondPass, field::Workload, field::Number, field::Plain, field::Plain, field::Plain);
KUEUE_IDS(ClusterPod, field::Plain, field::Plain, field::Plain, field::Plain, field::Plain, field::Plain,
          field::Resource);
KUEUE_IDS(Workload, field::Plain, field::Plain, field::Plain, field::Plain, field::LocalQueue, field::Class,
          field::Plain, field::Plain, field::Plain, field::Plain, field::Plain, field::Node, field::Number,
          field::FlavorResource, field::Node, field::Plain, field::Plain, field::Plain, field::Plain,
          field::Number, field::Plain, field::Plain, field::Plain, field::Plain);
KUEUE_IDS(ResourceGroupIds, field::Resource, field::Flavor);
KUEUE_IDS(CheckIds, field::Check, field::Flavor);
KUEUE_IDS(ClusterQueue, field::Plain, field::Plain, field::Flavor, field::Plain, field::Plain, field::Plain,
          field::Flavor, field::Plain, field::Plain, field::Plain, field::Plain, field::Workload,
          field::Plain);
KUEUE_IDS(LocalQueue, field::Plain, field::Plain, field::Namespace, field::Plain, field::Plain, field::Node,
          field::Plain);
using PenaltyIds = field::Map<field::Workload, field::Resource>;
KUEUE_IDS(LedgerEntry, field::Plain, field::Plain, field::Resource, field::Resource, PenaltyIds,
          field::Plain);
KUEUE_IDS(Event, field::Plain, field::Plain, field::Plain, field::Plain, field::Plain, field::Plain,
          field::Node, field::Plain, field::Plain, field::Node, field::Reason, field::Reason, field::Reason,
          field::Plain, field::Plain, field::Plain);
KUEUE_IDS(PendingQueue::Bucket, field::Class, field::LocalQueue, field::Plain, field::Plain, field::Plain,
          field::Number, field::Plain);
// Buckets refer to each other by index; PendingQueue::Prune() renumbers these indexes.
KUEUE_IDS(PendingQueue, field::Workload, field::Plain, field::Plain, field::Plain, field::Plain, field::Plain,
          field::Number, field::Number, field::Plain, field::Number, field::Workload, field::Class,
          field::Workload, field::Number, field::Number);
KUEUE_IDS(UsageHeap, field::Workload, field::Workload);
#undef KUEUE_IDS

template <>
struct Ids<WorkloadRun> {
  template <typename Use>
  static void Walk(Use& use, const WorkloadRun& run) {
    for (const WorkloadRun::Item& item : run) use(IdKind::kWorkload, item.workload);
  }
  template <typename Use>
  static void Walk(Use& use, WorkloadRun& run) {
    run.Renumber([&use](WorkloadId id) {
      use(IdKind::kWorkload, id);
      return id;
    });
  }
};

}  // namespace kueue

#endif  // KUEUE_PERSIST_IDS_H_
