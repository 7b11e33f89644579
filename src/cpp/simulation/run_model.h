// What an eviction costs a job: how far it had come, what of it is kept, and how long the next run takes.
#ifndef KUEUE_SIMULATION_RUN_MODEL_H_
#define KUEUE_SIMULATION_RUN_MODEL_H_

#include "model/ids.h"

namespace kueue {

enum class OnEviction : uint8_t { kRestart, kCheckpoint, kResume };

struct RunModel {
  OnEviction on_eviction = OnEviction::kRestart;
  Time every = 0;    // progress between checkpoints
  Time cost = 0;     // of a checkpoint: quota is held without progress
  Time restore = 0;  // the same at the start of each run after an eviction
  Time grace = 0;    // for how long an evicted job keeps its quota
};

// What became of the time that an evicted run held quota: held = kept + overhead + lost.
struct Broken {
  Time kept = 0;      // progress that the next run goes on from
  Time overhead = 0;  // checkpoints and the restore
  Time lost = 0;      // progress that is thrown away
};

// How long a run takes that has `left` to do and starts with `restore`; no checkpoint is made at the end.
Time LengthOfRun(const RunModel& model, Time left, Time restore);
// Of a run that was evicted after so long, having started with `restore`.
Broken BreakRun(const RunModel& model, Time held, Time restore);

}  // namespace kueue

#endif  // KUEUE_SIMULATION_RUN_MODEL_H_
