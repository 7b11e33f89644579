// Arrived jobs whose workloads are not submitted to the engine yet, because they cannot be heads before
// another job. This saves the memory of their workloads.
#ifndef KUEUE_SIMULATION_DEFERRED_ARRIVALS_H_
#define KUEUE_SIMULATION_DEFERRED_ARRIVALS_H_

#include <cstdint>
#include <vector>

#include "simulation/jobs.h"

namespace kueue {

// All workloads of a shape are in one equivalence class and LocalQueue. They are therefore active or
// inadmissible together, and only the first of them in queue order can be the next head. The jobs of a shape
// form a line in queue order, and only the first job of a line has a workload. When this job is admitted, or
// becomes inadmissible without the others, it leaves the line, and the workload of the next job is submitted.
//
// The order of jobs in a line does not depend on the usage of LocalQueues, so there must be no admission fair
// sharing.
class DeferredArrivals {
 public:
  // `start` is the start of the simulation.
  explicit DeferredArrivals(Time start) : start_(start) {}

  // Adds an arriving job to the line of its shape. Returns the first job of the line if the job waits behind
  // it. Returns -1 if the workload of the job must be submitted now, because the line is empty or the job
  // precedes its last job in queue order.
  int32_t Add(const JobColumns& columns, int32_t job);
  // Removes the job if it is the first of its line. Returns the job whose workload must then be submitted, or
  // -1 if there is none.
  int32_t Leave(const JobColumns& columns, int32_t job);

 private:
  struct Line {
    int32_t first = -1, last = -1;
  };
  Line& LineOf(const JobColumns& columns, int32_t job) {
    return lines_[static_cast<size_t>(columns.shape[static_cast<size_t>(job)])];
  }

  bool Precedes(const JobColumns& columns, int32_t earlier, int32_t job) const;

  Time start_;
  std::vector<Line> lines_;    // By shape.
  std::vector<int32_t> next_;  // By job: the next job of the line, or -1.
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_DEFERRED_ARRIVALS_H_
