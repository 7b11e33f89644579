// Decision that a cycle would make about a single workload, which may be hypothetical.
#ifndef KUEUE_QUESTIONS_ASK_H_
#define KUEUE_QUESTIONS_ASK_H_

#include <cstdint>
#include <string>

#include "model/workload.h"
#include "questions/decision.h"
#include "scheduler/cycle.h"
#include "state/state.h"

namespace kueue {

// Adds a hypothetical workload to the state for the lifetime of this object. The hypothetical workload is in
// no queue and cannot be found by its key. No other workload may be added or removed while this object
// exists. `state` must outlive this object.
class HypotheticalWorkload {
 public:
  HypotheticalWorkload(State& state, const WorkloadObject& object);
  ~HypotheticalWorkload();
  HypotheticalWorkload(const HypotheticalWorkload&) = delete;
  HypotheticalWorkload& operator=(const HypotheticalWorkload&) = delete;
  WorkloadId id() const { return id_; }

 private:
  State& state_;
  const size_t classes_;
  const WorkloadId id_;
};

// Start of the flavor scan: the position where the next cycle would continue the scan, or the first flavor.
enum class Search : uint8_t { kGoesOn, kAnew };

// Returns whether the next cycle would continue a flavor scan that an earlier cycle began.
bool IsSearchUnderWay(const State& state, WorkloadId id);
// Returns the entry that a cycle with this workload as its only head would produce now. The call leaves no
// visible changes in the state.
Entry Nominated(State& state, WorkloadId id, Search search);

// Returns the current decision about a workload. The call leaves no visible changes in the state. The message
// for a hypothetical workload can be rendered only while the workload exists.
DecisionRecord Answer(State& state, WorkloadId id, Search search = Search::kGoesOn);

// Returns a pod count n such that the pod set would be admitted with n pods but not with n + 1 pods. If
// `preempting` is true, a pod count that requires preemption is accepted too. Returns INT32_MAX if every
// count would be admitted. `pod_set` must be a valid index.
int64_t LargestCount(State& state, const WorkloadObject& object, size_t pod_set, bool preempting);

}  // namespace kueue

#endif  // KUEUE_QUESTIONS_ASK_H_
