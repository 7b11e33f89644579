// Dense integer ids. Every name is interned once; the scheduling rules use only integers.
#ifndef KUEUE_MODEL_IDS_H_
#define KUEUE_MODEL_IDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "model/paged.h"

namespace kueue {

using Time = int64_t;              // Nanoseconds since the Unix epoch.
using NodeId = int32_t;            // A ClusterQueue or a Cohort.
using FlavorId = int32_t;          // A ResourceFlavor name.
using ResourceId = int32_t;        // A resource name.
using FlavorResourceId = int32_t;  // A (flavor, resource) pair: a column of the quota tables.
using LocalQueueId = int32_t;      // A `namespace/name`.
using NamespaceId = int32_t;
using CheckId = int32_t;  // An AdmissionCheck name.
using ClassId = int32_t;  // A scheduling equivalence class.
// Index of a workload in the workload table; reused after the workload is removed.
using WorkloadId = int32_t;
using Serial = int64_t;    // Serial number of a workload, assigned in the order of submission; never reused.
using DomainId = int32_t;  // Id of a topology leaf, named by hostname or by its joined level values.

inline constexpr int32_t kNoId = -1;
inline constexpr Time kSecond = 1'000'000'000;

// Maps names to dense ids, in the order in which the names were first interned. Copies of an Interner share
// the names until one copy adds a name. References returned by Name() are invalidated by Intern().
class Interner {
 public:
  int32_t Intern(absl::string_view name) {
    if (const int32_t known = Find(name); known != kNoId) return known;
    Table& table = table_.Edit();
    table.names.emplace_back(name);
    return table.ids[table.names.back()] = static_cast<int32_t>(table.names.size()) - 1;
  }
  int32_t Find(absl::string_view name) const {
    const auto it = table_->ids.find(name);
    return it == table_->ids.end() ? kNoId : it->second;
  }
  const std::string& Name(int32_t id) const { return table_->names[static_cast<size_t>(id)]; }
  int32_t size() const { return static_cast<int32_t>(table_->names.size()); }

 private:
  struct Table {
    absl::flat_hash_map<std::string, int32_t> ids;
    std::vector<std::string> names;
  };
  Shared<Table> table_;
};

// Maps strings to ids. The map is stored in parts; copies of the map share a part until one copy changes
// that part.
class IdsByText {
 public:
  size_t size() const { return size_; }
  int32_t Find(absl::string_view text) const {
    const Part& part = parts_[PartOf(text)];
    const auto it = part.find(text);
    return it == part.end() ? kNoId : it->second;
  }
  void Set(absl::string_view text, int32_t id) {
    Part& part = parts_[PartOf(text)];
    const auto [entry, is_new] = part.try_emplace(text, id);
    entry->second = id;
    if (is_new) ++size_;
  }
  void Erase(absl::string_view text) { size_ -= parts_[PartOf(text)].erase(text); }
  void Clear() { *this = IdsByText(); }
  // Calls `use` for each string and its id, in arbitrary order.
  template <typename Use>
  void ForEach(Use use) const {
    for (const Part& part : parts_) {
      for (const auto& [text, id] : part) use(text, id);
    }
  }

 private:
  using Part = absl::flat_hash_map<std::string, int32_t>;
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
