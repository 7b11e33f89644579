// What a cycle would answer about one workload, of the engine or not.
#ifndef KUEUE_QUESTIONS_ASK_H_
#define KUEUE_QUESTIONS_ASK_H_

#include <string>

#include "model/workload.h"
#include "questions/decision.h"
#include "state/state.h"

namespace kueue {

// A workload that takes part for as long as this lives, in no queue and known to nobody. No other may come or
// go meanwhile.
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

// The decision about a workload as of now; changes nothing that shows. Its message of a hypothetical workload
// can be rendered only while that lives.
DecisionRecord Answer(State& state, WorkloadId id);

// A count of the pod set that would be admitted while one more would not; with `preempting`, one that others
// would have to leave for does as well. INT32_MAX where nothing ends it. The pod set must exist.
int64_t LargestCount(State& state, const WorkloadObject& object, size_t pod_set, bool preempting);

}  // namespace kueue

#endif  // KUEUE_QUESTIONS_ASK_H_
