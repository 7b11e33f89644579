// How a run stands, queue by queue, for somebody who decides as it goes on.
#ifndef KUEUE_SIMULATION_QUEUE_WATCH_H_
#define KUEUE_SIMULATION_QUEUE_WATCH_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "simulation/simulation.h"

namespace kueue {

struct QueueView {
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

// Looks at a run now and then. What it takes grows with the jobs that wait or run, not with all that came.
class QueueWatch {
 public:
  // The names of the ClusterQueues to look at; one that is not there has nothing.
  explicit QueueWatch(std::vector<std::string> queues);

  // Looks at a time that is neither before the run's last moment nor before the last look.
  const std::vector<QueueView>& Look(const Simulation& run, Time now);
  const std::vector<QueueView>& views() const { return views_; }

 private:
  struct Done {  // what jobs that are over add
    int64_t arrivals = 0, evictions = 0;
    Time waited = 0;
  };

  void Find(const State& state);
  void Add(const Simulation& run, int32_t number, Time now);

  std::vector<std::string> names_;
  std::vector<QueueView> views_;
  std::vector<Done> done_;
  std::vector<size_t> place_of_;  // by node
  std::vector<int64_t> top_;      // the highest priority that waits, by place
  std::vector<int32_t> open_;     // jobs that came and are not over, in the order of submission
  size_t next_ = 0;               // the first job that had not come at the last look
};

// What was lost until now, in nanoseconds of all nominal quota; of the flavor and resource that lost most.
double LostPart(const Simulation& run);

}  // namespace kueue

#endif  // KUEUE_SIMULATION_QUEUE_WATCH_H_
