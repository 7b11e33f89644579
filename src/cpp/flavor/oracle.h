// The question that the choice of a flavor asks of preemption.
#ifndef KUEUE_FLAVOR_ORACLE_H_
#define KUEUE_FLAVOR_ORACLE_H_

#include "flavor/mode.h"
#include "model/ids.h"

namespace kueue {

// Mirrors pkg/scheduler/preemption/preemption_oracle.go (kueue ff69552e79).
class PreemptionOracle {
 public:
  virtual ~PreemptionOracle() = default;
  // Whether the queue's policies let it take anything from anybody.
  virtual bool MayPreempt(NodeId queue) const = 0;
  // Whether preemption would make room for `amount` in this flavor resource alone (kNoCandidates, kPreempt or
  // kReclaim), and how far the workload would then borrow.
  virtual GranularMode SimulatePreemption(NodeId queue, WorkloadId workload, FlavorResourceId fr,
                                          Amount amount) = 0;
};

}  // namespace kueue

#endif  // KUEUE_FLAVOR_ORACLE_H_
