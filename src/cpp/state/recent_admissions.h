// Recent admissions of each ClusterQueue, so that workloads with equal admissions share one object.
#ifndef KUEUE_STATE_RECENT_ADMISSIONS_H_
#define KUEUE_STATE_RECENT_ADMISSIONS_H_

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "model/ids.h"
#include "model/paged.h"
#include "model/workload.h"

namespace kueue {

class RecentAdmissions {
 public:
  using Pointer = std::shared_ptr<const Admission>;

  void Clear() { of_queue_.clear(); }
  // Returns the queue's most recent admission for which `is_same` returns true; null if there is none.
  template <typename IsSame>
  Pointer Find(NodeId queue, IsSame is_same) const {
    if (!of_queue_.Contains(queue)) return nullptr;
    for (const Pointer& admission : of_queue_[queue]) {
      if (admission == nullptr) break;
      if (is_same(*admission)) return admission;
    }
    return nullptr;
  }
  void Keep(Pointer admission) {
    const NodeId queue = admission->cluster_queue;
    of_queue_.GrowTo(queue);
    Recent& recent = of_queue_[queue];
    std::rotate(recent.begin(), recent.end() - 1, recent.end());
    recent.front() = std::move(admission);
  }

 private:
  using Recent = std::array<Pointer, 4>;  // Recent admissions of a queue, the most recent one first.
  IdPaged<NodeId, Recent, 32, /*kDirect=*/false> of_queue_;
};

}  // namespace kueue

#endif  // KUEUE_STATE_RECENT_ADMISSIONS_H_
