// Cost of an eviction: the progress that a job keeps, and the length of its next run. Times are nanoseconds.
#ifndef KUEUE_SIMULATION_RUN_MODEL_H_
#define KUEUE_SIMULATION_RUN_MODEL_H_

#include "model/ids.h"

namespace kueue {

enum class OnEviction : uint8_t { kRestart, kCheckpoint, kResume };

struct RunModel {
  OnEviction on_eviction = OnEviction::kRestart;
  Time every = 0;    // Progress between two checkpoints.
  Time cost = 0;     // Duration of a checkpoint, during which quota is held without progress.
  Time restore = 0;  // Duration of the restore at the start of each run after an eviction.
  Time grace = 0;    // Time for which an evicted job keeps its quota.
};

// Breakdown of the time for which an evicted run held quota: held = kept + overhead + lost.
struct Broken {
  Time kept = 0;      // Progress from which the next run continues.
  Time overhead = 0;  // Checkpoints and restore.
  Time lost = 0;      // Progress that is lost.
};

// Returns the length of a run that starts with a restore of length `restore` and has `left` work remaining.
// The run has no checkpoint at its end.
Time LengthOfRun(const RunModel& model, Time left, Time restore);
// Returns the breakdown of a run that started with a restore of length `restore` and was evicted after
// `held`.
Broken BreakRun(const RunModel& model, Time held, Time restore);

}  // namespace kueue

#endif  // KUEUE_SIMULATION_RUN_MODEL_H_
