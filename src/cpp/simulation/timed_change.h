// What is changed while a run goes on: objects, and jobs by hand.
#ifndef KUEUE_SIMULATION_TIMED_CHANGE_H_
#define KUEUE_SIMULATION_TIMED_CHANGE_H_

#include <functional>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace kueue {

struct TimedChange {
  enum class What : uint8_t { kApply, kFinish, kEvict, kPriority };
  Time at = 0;
  What what = What::kApply;
  std::function<void(Engine&)> apply;  // of kApply: objects, already read
  std::vector<std::string> queues;     // of kApply: the ClusterQueues among them
  int32_t job = -1;                    // of the others
  int64_t value = 0;                   // of kPriority
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_TIMED_CHANGE_H_
