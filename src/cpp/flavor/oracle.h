// Interface through which the flavor assigner asks whether preemption could help.
#ifndef KUEUE_FLAVOR_ORACLE_H_
#define KUEUE_FLAVOR_ORACLE_H_

#include "flavor/mode.h"
#include "model/ids.h"

namespace kueue {

// Mirrors pkg/scheduler/preemption/preemption_oracle.go (kueue ff69552e79).
class PreemptionOracle {
 public:
  virtual ~PreemptionOracle() = default;
  // Returns whether the queue's policies permit any preemption at all.
  virtual bool MayPreempt(NodeId queue) const = 0;
  // Simulates preemption for a request that consists only of `amount` of this flavor resource. Returns the
  // mode (kNoCandidates, kPreempt or kReclaim) and the resulting borrowing level.
  virtual GranularMode SimulatePreemption(NodeId queue, WorkloadId workload, FlavorResourceId fr,
                                          Amount amount) = 0;
};

}  // namespace kueue

#endif  // KUEUE_FLAVOR_ORACLE_H_
