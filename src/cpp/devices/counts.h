// The outcomes of counting devices, kept by namespace and pod templates for as long as nothing changes that
// they depend on: many workloads are made from one template.
#ifndef KUEUE_DEVICES_COUNTS_H_
#define KUEUE_DEVICES_COUNTS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "devices/resolve.h"
#include "model/workload.h"

namespace kueue {

class DeviceCounts {
 public:
  DeviceCounts() = default;
  // A copy knows none: to count again costs less than to copy all.
  DeviceCounts(const DeviceCounts&) {}
  DeviceCounts(DeviceCounts&&) = default;
  DeviceCounts& operator=(const DeviceCounts&) {
    known_.clear();
    return *this;
  }
  DeviceCounts& operator=(DeviceCounts&&) = default;

  const std::shared_ptr<const DeviceOutcome>* Find(NamespaceId ns,
                                                   const std::vector<PodSetSpec>& pod_sets) const {
    const auto found = known_.find(KeyOf(ns, pod_sets));
    return found == known_.end() ? nullptr : &found->second.outcome;
  }
  void Add(NamespaceId ns, const std::vector<PodSetSpec>& pod_sets,
           std::shared_ptr<const DeviceOutcome> outcome) {
    if (known_.size() >= kMost) known_.clear();
    Kept kept{{}, std::move(outcome)};
    for (const PodSetSpec& pod_set : pod_sets) kept.templates.push_back(pod_set.pod_template);
    known_[KeyOf(ns, pod_sets)] = std::move(kept);
  }
  void Clear() { known_.clear(); }

 private:
  static constexpr size_t kMost = 4096;
  // Pod sets are told apart by their names, too: faults name them.
  using Key = std::pair<NamespaceId, std::vector<std::pair<const PodTemplate*, std::string>>>;
  struct Kept {
    std::vector<std::shared_ptr<const PodTemplate>> templates;  // so that their addresses are no others'
    std::shared_ptr<const DeviceOutcome> outcome;
  };
  static Key KeyOf(NamespaceId ns, const std::vector<PodSetSpec>& pod_sets) {
    Key key{ns, {}};
    for (const PodSetSpec& pod_set : pod_sets)
      key.second.emplace_back(pod_set.pod_template.get(), pod_set.name);
    return key;
  }

  absl::flat_hash_map<Key, Kept> known_;
};

}  // namespace kueue

#endif  // KUEUE_DEVICES_COUNTS_H_
