// Dense integer ids. Every name is interned once; the scheduling rules use only integers.
#ifndef KUEUE_MODEL_IDS_H_
#define KUEUE_MODEL_IDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "model/id.h"
#include "model/paged.h"

namespace kueue {

using Time = int64_t;    // Nanoseconds since the Unix epoch.
using Serial = int64_t;  // Serial number of a workload, assigned in the order of submission; never reused.

inline constexpr Time kSecond = 1'000'000'000;

using NodeId = Id<struct NodeTag>;          // A ClusterQueue or a Cohort.
using FlavorId = Id<struct FlavorTag>;      // A ResourceFlavor name.
using ResourceId = Id<struct ResourceTag>;  // A resource name.
// A (flavor, resource) pair: a column of the quota tables.
using FlavorResourceId = Id<struct FlavorResourceTag>;
using LocalQueueId = Id<struct LocalQueueTag>;  // A `namespace/name`.
using NamespaceId = Id<struct NamespaceTag>;
using CheckId = Id<struct CheckTag>;  // An AdmissionCheck name.
using ClassId = Id<struct ClassTag>;  // A scheduling equivalence class.
// Index of a workload in the workload table; reused after the workload is removed.
using WorkloadId = Id<struct WorkloadTag>;
using DomainId = Id<struct DomainTag>;  // A topology leaf, named by hostname or by its joined level values.

// A Paged that is indexed by the ids of one kind.
template <typename IdT, typename T, size_t kPerPage, bool kDirect = true>
using IdPaged = Paged<T, kPerPage, kDirect, IdT>;

// All kinds of ids share the code of this map.
using NumberByText = absl::flat_hash_map<std::string, int32_t>;

// Maps names to dense ids, in the order in which the names were first interned. Copies of an Interner share
// the names until one copy adds a name. References returned by Name() are invalidated by Intern().
template <typename IdT>
class Interner {
 public:
  IdT Intern(absl::string_view name) {
    if (const auto it = table_->ids.find(name); it != table_->ids.end()) return IdT(it->second);
    Table& table = table_.Edit();
    const auto id = static_cast<int32_t>(table.names.size());
    table.names.emplace_back(name);
    table.ids[table.names.back()] = id;
    return IdT(id);
  }
  // Returns the id -1, which is kNoId, if the name is unknown.
  IdT Find(absl::string_view name) const {
    const auto it = table_->ids.find(name);
    return it == table_->ids.end() ? IdT(-1) : IdT(it->second);
  }
  const std::string& Name(IdT id) const { return table_->names[IndexOf(id)]; }
  size_t size() const { return table_->names.size(); }
  IdRange<IdT> Ids() const { return IdRange<IdT>(size()); }

 private:
  struct Table {
    NumberByText ids;
    std::vector<std::string> names;
  };
  Shared<Table> table_;
};

// Maps strings to ids. The map is stored in parts; copies of the map share a part until one copy changes
// that part.
template <typename IdT>
class IdsByText {
 public:
  size_t size() const { return size_; }
  IdT Find(absl::string_view text) const {
    const Part& part = parts_[PartOf(text)];
    const auto it = part.find(text);
    return it == part.end() ? IdT() : IdT(it->second);
  }
  void Set(absl::string_view text, IdT id) {
    Part& part = parts_[PartOf(text)];
    const auto [entry, is_new] = part.try_emplace(text, id.value());
    entry->second = id.value();
    if (is_new) ++size_;
  }
  void Erase(absl::string_view text) { size_ -= parts_[PartOf(text)].erase(text); }
  void Clear() { *this = IdsByText(); }
  // Calls `use` for each string and its id, in arbitrary order.
  template <typename Use>
  void ForEach(Use use) const {
    for (const Part& part : parts_) {
      for (const auto& [text, number] : part) use(text, IdT(number));
    }
  }

 private:
  using Part = NumberByText;
  static constexpr size_t kParts = 256;
  // Returns the index of the part that stores the string. Most strings differ only near the end.
  static size_t PartOf(absl::string_view text) {
    size_t hash = text.size();
    for (size_t i = text.size() > 6 ? text.size() - 6 : 0; i < text.size(); ++i)
      hash = hash * 31 + static_cast<unsigned char>(text[i]);
    return (hash ^ hash >> 8) % kParts;
  }
  Paged<Part, 1, /*kDirect=*/false> parts_ = Paged<Part, 1, false>(kParts);
  size_t size_ = 0;
};

}  // namespace kueue

#endif  // KUEUE_MODEL_IDS_H_
