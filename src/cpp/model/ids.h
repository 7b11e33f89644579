// Dense integer ids. Every name is interned once; the scheduling rules use only integers.
#ifndef KUEUE_MODEL_IDS_H_
#define KUEUE_MODEL_IDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace kueue {

using Time = int64_t;              // Nanoseconds since the Unix epoch.
using NodeId = int32_t;            // A ClusterQueue or a Cohort.
using FlavorId = int32_t;          // A ResourceFlavor name.
using ResourceId = int32_t;        // A resource name.
using FlavorResourceId = int32_t;  // A (flavor, resource) pair: a column of the quota tables.
using LocalQueueId = int32_t;      // A `namespace/name`.
using NamespaceId = int32_t;
using CheckId = int32_t;     // An AdmissionCheck name.
using ClassId = int32_t;     // A scheduling equivalence class.
using WorkloadId = int32_t;  // Index in the workload table; reused after the workload is removed.
using Serial = int64_t;      // A workload's number in the order of submission; never reused.
using DomainId = int32_t;    // A leaf of a topology: a hostname, or all level values joined.

inline constexpr int32_t kNoId = -1;
inline constexpr Time kSecond = 1'000'000'000;

// Maps names to dense ids, in the order in which the names were first interned. References returned by Name()
// are invalidated by Intern().
class Interner {
 public:
  int32_t Intern(absl::string_view name) {
    if (const auto known = ids_.find(name); known != ids_.end()) return known->second;
    names_.emplace_back(name);
    return ids_[names_.back()] = static_cast<int32_t>(names_.size()) - 1;
  }
  int32_t Find(absl::string_view name) const {
    const auto it = ids_.find(name);
    return it == ids_.end() ? kNoId : it->second;
  }
  const std::string& Name(int32_t id) const { return names_[static_cast<size_t>(id)]; }
  int32_t size() const { return static_cast<int32_t>(names_.size()); }

 private:
  absl::flat_hash_map<std::string, int32_t> ids_;
  std::vector<std::string> names_;
};

}  // namespace kueue

#endif  // KUEUE_MODEL_IDS_H_
