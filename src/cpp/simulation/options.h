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
  // If true, behaves like Kueue's scheduler performance test: no controllers run, and the processing of the
  // current time ends after a cycle that admits and evicts no workload. If false, the processing ends after a
  // cycle that changes nothing.
  bool as_performance_test = false;
  // Whether the workload of a job is submitted only when it may be the next head (see DeferredArrivals).
  // Records of jobs then exist only while the jobs have workloads. This requires a performance test without
  // admission fair sharing, because no controller acts on the pending workloads of such a test.
  bool defers_arrivals = false;
};

inline constexpr int32_t kManager = 0;

}  // namespace kueue

#endif  // KUEUE_SIMULATION_OPTIONS_H_
