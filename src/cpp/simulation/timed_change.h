// Changes of objects and of individual jobs during a simulation.
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
  // For kApply: a function that applies objects that have already been parsed.
  std::function<void(Engine&)> apply;
  std::vector<std::string> queues;  // For kApply: the ClusterQueues among the objects.
  int32_t job = -1;                 // The job that is changed, for all kinds except kApply.
  int64_t value = 0;                // For kPriority.
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_TIMED_CHANGE_H_
