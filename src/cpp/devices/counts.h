// Cache of device charges, valid until a device object changes. Most workloads of a namespace request the
// same devices.
#ifndef KUEUE_DEVICES_COUNTS_H_
#define KUEUE_DEVICES_COUNTS_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "devices/resolve.h"
#include "model/uncopied.h"

namespace kueue {

// Copies start empty.
class DeviceCounts {
 public:
  // Returns null if the outcome is unknown. See CountingKey().
  std::shared_ptr<const DeviceOutcome> Find(const std::string& key) const {
    const auto found = known_->find(key);
    return found == known_->end() ? nullptr : found->second;
  }
  void Add(std::string key, std::shared_ptr<const DeviceOutcome> outcome) {
    if (known_->size() >= kMost) known_->clear();
    (*known_)[std::move(key)] = std::move(outcome);
  }
  void Clear() { known_->clear(); }

 private:
  static constexpr size_t kMost = 4096;
  Uncopied<absl::flat_hash_map<std::string, std::shared_ptr<const DeviceOutcome>>> known_;
};

}  // namespace kueue

#endif  // KUEUE_DEVICES_COUNTS_H_
