#include "simulation/run_model.h"

#include <algorithm>

#include "quantity/amount.h"

namespace kueue {
namespace {

bool MakesCheckpoints(const RunModel& model) {
  return model.on_eviction == OnEviction::kCheckpoint && model.every > 0;
}

}  // namespace

Time LengthOfRun(const RunModel& model, Time left, Time restore) {
  const Time work = SaturatingAdd(restore, left);
  if (!MakesCheckpoints(model) || left <= 0) return work;
  return SaturatingAdd(work, SaturatingMul(model.cost, (left - 1) / model.every));
}

Broken BreakRun(const RunModel& model, Time held, Time restore) {
  Broken broken;
  const Time worked = std::max<Time>(0, held - restore);
  broken.overhead = std::min(held, restore);
  if (model.on_eviction == OnEviction::kResume) {
    broken.kept = worked;
  } else if (MakesCheckpoints(model)) {
    const Time checkpoints = worked / SaturatingAdd(model.every, model.cost);
    broken.kept = checkpoints * model.every;
    broken.overhead += checkpoints * model.cost;
  }
  broken.lost = held - broken.kept - broken.overhead;
  return broken;
}

}  // namespace kueue
