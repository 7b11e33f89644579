// State of a simulation by queue, for callers that make decisions during the simulation.
#ifndef KUEUE_SIMULATION_QUEUE_WATCH_H_
#define KUEUE_SIMULATION_QUEUE_WATCH_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "simulation/simulation.h"

namespace kueue {

struct QueueView {
  int64_t waiting = 0;  // Jobs without quota.
  // Number of jobs without quota that have the highest priority among the pending jobs of the queue.
  int64_t top_waiting = 0;
  Time oldest = -1;  // Submission time of the job that has been pending longest; -1 if there is none.
  // Fractions of the tree's quota, for the flavor resource of which the queue uses the largest fraction of
  // the tree's quota.
  double used = 0, nominal = 0, borrowed = 0;
  double share = 0;       // Weighted share, which fair sharing compares.
  int64_t arrivals = 0;   // So far.
  int64_t evictions = 0;  // So far.
  Time waited = 0;        // Total time that all arrived jobs have spent without quota so far, in nanoseconds.
};

// Reads the state of a simulation at increasing times. The cost depends on the number of pending and running
// jobs, not on the number of arrived jobs.
class QueueWatch {
 public:
  // `queues` contains the names of the ClusterQueues. The view of a queue that does not exist is empty.
  explicit QueueWatch(std::vector<std::string> queues);

  // Returns the views at `now`. `now` must not be before the simulation's current time or before the time of
  // the previous call. The next call invalidates the returned reference.
  const std::vector<QueueView>& Look(const Simulation& run, Time now);
  const std::vector<QueueView>& views() const { return views_; }

 private:
  struct Done {  // Sums over finished jobs.
    int64_t arrivals = 0, evictions = 0;
    Time waited = 0;
  };

  void Find(const State& state);
  void Add(const Simulation& run, int32_t number, Time now);

  std::vector<std::string> names_;
  std::vector<QueueView> views_;
  std::vector<Done> done_;
  IdVector<NodeId, size_t> place_of_;
  std::vector<int64_t> top_;   // Highest priority of the pending jobs, by position of the queue.
  std::vector<int32_t> open_;  // Arrived jobs that are not finished, in the order of submission.
  size_t next_ = 0;            // Index of the first job that had not arrived at the last call.
};

// Returns the work lost so far, divided by the total nominal quota, in nanoseconds. The quotient is computed
// for each flavor resource, and the largest quotient is returned.
double LostPart(const Simulation& run);

}  // namespace kueue

#endif  // KUEUE_SIMULATION_QUEUE_WATCH_H_
