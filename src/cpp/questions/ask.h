// What a cycle would answer about one workload, of the engine or not.
#ifndef KUEUE_QUESTIONS_ASK_H_
#define KUEUE_QUESTIONS_ASK_H_

#include <cstdint>
#include <string>

#include "model/workload.h"
#include "questions/decision.h"
#include "scheduler/cycle.h"
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

// Where a search of flavors begins: where the next cycle's would go on, or at the first flavor.
enum class Search : uint8_t { kGoesOn, kAnew };

// Whether the next cycle's search goes on in the midst.
bool IsSearchUnderWay(const State& state, WorkloadId id);
// The workload as a cycle that has it alone would nominate it now; changes nothing that shows.
Entry Nominated(State& state, WorkloadId id, Search search);

// The decision about a workload as of now; changes nothing that shows. Its message of a hypothetical workload
// can be rendered only while that lives.
DecisionRecord Answer(State& state, WorkloadId id, Search search = Search::kGoesOn);

// A count of the pod set that would be admitted while one more would not; with `preempting`, one that others
// would have to leave for does as well. INT32_MAX where nothing ends it. The pod set must exist.
int64_t LargestCount(State& state, const WorkloadObject& object, size_t pod_set, bool preempting);

}  // namespace kueue

#endif  // KUEUE_QUESTIONS_ASK_H_
