// The data of a simulation of one cluster.
#ifndef KUEUE_SIMULATION_RUN_DATA_H_
#define KUEUE_SIMULATION_RUN_DATA_H_

#include <cstdint>
#include <memory>

#include "engine/engine.h"
#include "simulation/calendar.h"
#include "simulation/figures.h"
#include "simulation/headway.h"
#include "simulation/job_store.h"
#include "simulation/loops.h"
#include "simulation/options.h"
#include "simulation/recorder.h"

namespace kueue {

struct SimulationStats {
  int64_t workloads = 0, cycles = 0, admissions = 0, evictions = 0, finished = 0;
  Time end = 0;  // Time of the last arrival or completion.
};

// The engine, the jobs, the planned events, the tables and the metrics of a cluster.
struct RunData {
  // Starts from the engine's state. `sorted` must be sorted by submission time.
  RunData(Engine given, std::shared_ptr<const JobColumns> sorted, SimulationOptions all_options);

  Time now() const { return engine.state().now; }
  const Workload& WorkloadOf(int32_t job) const { return engine.state().At(jobs.At(job).workload); }
  // Returns whether the job counts in the metrics. Jobs submitted during the warm-up do not.
  bool Counts(int32_t job) const {
    return options.warmup == 0 ||
           jobs.columns().submit[static_cast<size_t>(job)] >= SaturatingAdd(start, options.warmup);
  }

  Engine engine;
  SimulationOptions options;
  JobStore jobs;
  Calendar calendar;
  Time start;
  Headway headway;
  LoopWatch watch;
  SimulationStats stats;
  Recorder recorder;
  Figures figures;
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_RUN_DATA_H_
