// How classes of workloads were refused, for as long as asking again would give the same answer.
#ifndef KUEUE_STATE_REFUSALS_H_
#define KUEUE_STATE_REFUSALS_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "model/ids.h"
#include "model/message.h"
#include "model/reason.h"
#include "quota/quota.h"

namespace kueue {

// What a queue whose policies preempt nobody answered a class, and what that rests on besides the declared
// objects: the usage of what could be asked for, in the queue and in each cohort above it.
struct KnownRefusal {
  absl::InlinedVector<FlavorResourceId, 2> read;
  absl::InlinedVector<Amount, 4> seen;  // by flavor resource read, from the queue up

  bool has_no_candidates = false;  // the mode is Preempt, with nobody to preempt; otherwise NoFit
  Reason no_fit_reason = Reason::kEmpty;
  int borrowing = 0;
  absl::InlinedVector<FlavorResourceAmount, 2> usage;  // that would be charged
  Message message;
};

// The last answer of each queue to each class. Most heads of a busy cluster are refused as they were before.
class KnownRefusals {
 public:
  KnownRefusals() = default;
  // A copied state begins without: copies are made often, and few run long.
  KnownRefusals(const KnownRefusals&) {}
  KnownRefusals(KnownRefusals&&) = default;
  KnownRefusals& operator=(const KnownRefusals&) {
    Forget();
    return *this;
  }
  KnownRefusals& operator=(KnownRefusals&&) = default;

  // Nothing holds any more: an object changed, or classes were renumbered.
  void Forget() { known_.clear(); }

  // The answer that the queue would give again; nullptr where none is known to hold.
  const KnownRefusal* Find(const Quota& quota, NodeId queue, ClassId cls) const {
    const auto known = known_.find(Key(queue, cls));
    return known != known_.end() && Holds(quota, queue, known->second) ? &known->second : nullptr;
  }

  // Keeps an answer, which is that for the usage as it is now.
  void Keep(const Quota& quota, NodeId queue, ClassId cls, KnownRefusal refusal) {
    if (known_.size() >= kMost) known_.clear();
    refusal.seen.clear();
    ForEachUsage(quota, queue, refusal, [&](Amount usage) {
      refusal.seen.push_back(usage);
      return true;
    });
    known_[Key(queue, cls)] = std::move(refusal);
  }

 private:
  static constexpr size_t kMost = 4096;  // entries; in an ordinary cluster about a megabyte

  static uint64_t Key(NodeId queue, ClassId cls) {
    return static_cast<uint64_t>(queue) << 32 | static_cast<uint32_t>(cls);
  }

  // Gives what the answer rests on to `use`, in order, until that is false; whether it never was.
  template <typename Use>
  static bool ForEachUsage(const Quota& quota, NodeId queue, const KnownRefusal& refusal, Use use) {
    for (FlavorResourceId fr : refusal.read) {
      for (NodeId node = queue; node != kNoId; node = quota.forest().Parent(node)) {
        if (!use(quota.Usage(node, fr))) return false;
      }
    }
    return true;
  }

  static bool Holds(const Quota& quota, NodeId queue, const KnownRefusal& refusal) {
    const Amount* seen = refusal.seen.data();
    return ForEachUsage(quota, queue, refusal, [&](Amount usage) { return usage == *seen++; });
  }

  absl::flat_hash_map<uint64_t, KnownRefusal> known_;
};

}  // namespace kueue

#endif  // KUEUE_STATE_REFUSALS_H_
