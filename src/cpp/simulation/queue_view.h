// How a run stands, queue by queue, for somebody who decides as it goes on.
#ifndef KUEUE_SIMULATION_QUEUE_VIEW_H_
#define KUEUE_SIMULATION_QUEUE_VIEW_H_

#include <cstdint>
#include <vector>

#include "simulation/simulation.h"

namespace kueue {

struct QueueView {
  NodeId queue = kNoId;
  int64_t waiting = 0;      // jobs without quota
  int64_t top_waiting = 0;  // of those, with the highest priority that waits there
  Time oldest = -1;         // the submission of the one that waits longest; -1: none waits
  // Of the flavor and resource of which the queue uses the largest part, over all that its tree has.
  double used = 0, nominal = 0, borrowed = 0;
  double share = 0;       // weighted, as fair sharing compares it
  int64_t arrivals = 0;   // until now
  int64_t evictions = 0;  // until now
  Time waited = 0;        // by all jobs that came: all time without quota until the time that is asked about
};

// All ClusterQueues, in the order of their ids, at a time not before the run's last moment.
std::vector<QueueView> QueueViews(const Simulation& run, Time now);
// What was lost until now, in nanoseconds of all nominal quota; of the flavor and resource that lost most.
double LostPart(const Simulation& run);

}  // namespace kueue

#endif  // KUEUE_SIMULATION_QUEUE_VIEW_H_
