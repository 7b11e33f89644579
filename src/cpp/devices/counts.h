// Cache of device charges, valid until a device object changes. Most workloads of a namespace request the
// same devices.
#ifndef KUEUE_DEVICES_COUNTS_H_
#define KUEUE_DEVICES_COUNTS_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "devices/resolve.h"

namespace kueue {

class DeviceCounts {
 public:
  DeviceCounts() = default;
  // A copy of the cache starts empty, because recomputing the outcomes is cheaper than copying all of them.
  DeviceCounts(const DeviceCounts&) {}
  DeviceCounts(DeviceCounts&&) = default;
  DeviceCounts& operator=(const DeviceCounts&) {
    known_.clear();
    return *this;
  }
  DeviceCounts& operator=(DeviceCounts&&) = default;

  // Returns null if the outcome is unknown. See CountingKey().
  std::shared_ptr<const DeviceOutcome> Find(const std::string& key) const {
    const auto found = known_.find(key);
    return found == known_.end() ? nullptr : found->second;
  }
  void Add(std::string key, std::shared_ptr<const DeviceOutcome> outcome) {
    if (known_.size() >= kMost) known_.clear();
    known_[std::move(key)] = std::move(outcome);
  }
  void Clear() { known_.clear(); }

 private:
  static constexpr size_t kMost = 4096;
  absl::flat_hash_map<std::string, std::shared_ptr<const DeviceOutcome>> known_;
};

}  // namespace kueue

#endif  // KUEUE_DEVICES_COUNTS_H_
