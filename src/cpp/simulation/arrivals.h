// The order in which the jobs of a cluster arrive.
#ifndef KUEUE_SIMULATION_ARRIVALS_H_
#define KUEUE_SIMULATION_ARRIVALS_H_

#include <cstdint>
#include <vector>

#include "simulation/job_store.h"

namespace kueue {

class Arrivals {
 public:
  // `given` is the number of jobs at the start, which are sorted by submission time.
  explicit Arrivals(int32_t given) : given_(given) {}

  // Returns the next job to arrive, or -1.
  int32_t Next(const JobStore& jobs) const;
  // Removes the next job to arrive.
  void Take(const JobStore& jobs);
  // Skips the jobs of other clusters of a fleet.
  void SkipOthers(const JobStore& jobs) {
    while (next_ < given_ && !jobs.IsOwn(next_)) ++next_;
  }
  // Adds a job, at any time of submission.
  void Add(const JobStore& jobs, int32_t job);
  // Returns the arrived jobs, in the order of arrival.
  const std::vector<int32_t>& arrived() const { return arrived_; }

 private:
  // An added job and its arrival time. The order puts the earliest arrival at the front of a heap.
  struct Arrival {
    Time at;
    int32_t job;
    bool operator<(const Arrival& other) const { return at != other.at ? at > other.at : job > other.job; }
  };

  // First job that has not yet arrived, among the jobs at the start.
  int32_t next_ = 0;
  int32_t given_;
  std::vector<Arrival> later_;  // A heap of added jobs that have not arrived.
  std::vector<int32_t> arrived_;
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_ARRIVALS_H_
