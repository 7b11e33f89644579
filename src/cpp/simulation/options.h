// What a simulation is asked to do.
#ifndef KUEUE_SIMULATION_OPTIONS_H_
#define KUEUE_SIMULATION_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "simulation/delays.h"
#include "simulation/recorder.h"
#include "simulation/run_model.h"
#include "simulation/timed_change.h"

namespace kueue {

// Duration of a scheduling cycle. A cycle takes `cycle` plus `per_head` for each head. If both values are
// zero, cycles are repeated until a cycle changes nothing.
struct Clock {
  Time cycle = 0, per_head = 0;
  bool IsZero() const { return cycle == 0 && per_head == 0; }
};

enum class OnLoop : uint8_t { kHold, kStop, kRaise };

struct SimulationOptions {
  RunModel model;
  Clock clock;
  Delays delays;
  std::vector<TimedChange> changes;  // Sorted by time.
  Time until = INT64_MAX;            // End of the simulation.
  Time warmup = 0;                   // Period after the start during which no metrics are collected.
  OnLoop on_loop = OnLoop::kHold;
  Recording record;
  // Start of the simulation; the default is the time of the first submission or change.
  std::optional<Time> start;
  int32_t site = kNoId;  // In a fleet: index of this cluster; kManager for the manager.
  // Whether the controllers run, and the processing of the current time ends after a cycle that changes
  // nothing. Without them, as in Kueue's scheduler performance test (test/performance/scheduler, kueue
  // ff69552e79), it ends after a cycle that admits and evicts no workload.
  bool has_controllers = true;
};

inline constexpr int32_t kManager = 0;

}  // namespace kueue

#endif  // KUEUE_SIMULATION_OPTIONS_H_
