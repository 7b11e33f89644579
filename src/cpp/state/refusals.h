// Cache of the last refusal of each equivalence class. An entry is valid as long as a new evaluation would
// have the same result.
#ifndef KUEUE_STATE_REFUSALS_H_
#define KUEUE_STATE_REFUSALS_H_

#include <utility>

#include "absl/container/inlined_vector.h"
#include "model/ids.h"
#include "model/message.h"
#include "model/reason.h"
#include "quota/quota.h"
#include "state/known.h"

namespace kueue {

// Result of evaluating an equivalence class in a queue that may not preempt. Apart from the declared objects,
// the result depends only on the usage of the requested flavor resources in the queue and in its ancestors.
struct KnownRefusal {
  absl::InlinedVector<FlavorResourceId, 2> read;
  // For each flavor resource in `read`, the usage of each node from the queue up to the root.
  absl::InlinedVector<Amount, 4> seen;

  // True if the assignment mode was Preempt but there were no preemption candidates; false if the mode was
  // NoFit.
  bool has_no_candidates = false;
  Reason no_fit_reason = Reason::kEmpty;
  int borrowing = 0;
  absl::InlinedVector<FlavorResourceAmount, 2> usage;  // Usage that an admission of the class would charge.
  Message message;
};

// The last refusal of each class in each queue. Most heads of a busy cluster are refused for the same reason
// as in the previous cycle.
class KnownRefusals {
 public:
  // See KnownByClass.
  void Forget() { known_.Forget(); }
  void Reserve(size_t size) { known_.Reserve(size); }

  // Returns the refusal that a new evaluation would produce, or nullptr if the refusal is unknown. The
  // pointer is invalidated by Keep() and Forget().
  const KnownRefusal* Find(const Quota& quota, NodeId queue, ClassId cls) const {
    const KnownRefusal* const known = known_.Find(queue, cls);
    return known != nullptr && Holds(quota, queue, *known) ? known : nullptr;
  }

  // Stores a refusal that was computed with the current usage.
  void Keep(const Quota& quota, NodeId queue, ClassId cls, KnownRefusal refusal) {
    refusal.seen.clear();
    ForEachUsage(quota, queue, refusal, [&](Amount usage) {
      refusal.seen.push_back(usage);
      return true;
    });
    known_.Keep(queue, cls, std::move(refusal));
  }

 private:
  // Calls `use` with each usage that the refusal depends on, in a fixed order, until `use` returns false.
  // Returns whether all calls of `use` returned true.
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

  KnownByClass<KnownRefusal> known_;
};

}  // namespace kueue

#endif  // KUEUE_STATE_REFUSALS_H_
