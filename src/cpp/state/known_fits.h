// Cache of the last admission of each equivalence class in each queue, for classes whose resources each have
// only one flavor in the queue. Such an assignment depends only on objects; only its quota must be checked
// and, if necessary, its pods placed.
#ifndef KUEUE_STATE_KNOWN_FITS_H_
#define KUEUE_STATE_KNOWN_FITS_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "model/ids.h"
#include "model/workload.h"
#include "quota/quota.h"

namespace kueue {

struct KnownFit {
  absl::InlinedVector<FlavorResourceAmount, 2> usage;  // Charged by the admission.
  std::shared_ptr<const Admission> admission;
  // Whether each workload of the class also needs a placement in the topology of its flavor. If so, only the
  // flavors of `admission` apply to other workloads of the class.
  bool needs_placement = false;
};

class KnownFits {
 public:
  KnownFits() = default;
  // Copies start empty: states are copied often, and few copies are used for long.
  KnownFits(const KnownFits&) {}
  KnownFits(KnownFits&&) = default;
  KnownFits& operator=(const KnownFits&) {
    Forget();
    return *this;
  }
  KnownFits& operator=(KnownFits&&) = default;

  // Drops all entries. Must be called when an object changes or ids are renumbered.
  void Forget() { known_.clear(); }
  // Returns nullptr if there is none. The pointer is invalidated by Keep() and Forget().
  const KnownFit* Find(NodeId queue, ClassId cls) const {
    const auto known = known_.find(Key(queue, cls));
    return known == known_.end() ? nullptr : &known->second;
  }
  void Keep(NodeId queue, ClassId cls, KnownFit fit) {
    if (known_.size() >= kMost) known_.clear();
    known_[Key(queue, cls)] = std::move(fit);
  }

 private:
  // Maximum number of entries; they need about half a megabyte.
  static constexpr size_t kMost = 4096;

  static uint64_t Key(NodeId queue, ClassId cls) {
    return static_cast<uint64_t>(queue.value()) << 32 | static_cast<uint32_t>(cls.value());
  }

  absl::flat_hash_map<uint64_t, KnownFit> known_;
};

}  // namespace kueue

#endif  // KUEUE_STATE_KNOWN_FITS_H_
