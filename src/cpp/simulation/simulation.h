// Virtual time: arrivals, cycles and ends of jobs, one after another, as fast as the engine decides.
#ifndef KUEUE_SIMULATION_SIMULATION_H_
#define KUEUE_SIMULATION_SIMULATION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <vector>

#include "engine/engine.h"

namespace kueue {

// A job that is to arrive.
struct Arrival {
  Time at;            // when it is submitted
  Time created;       // its creationTimestamp, which orders it
  Time runtime;       // from admission to its end; from the start again after a preemption
  int32_t prototype;  // what it asks for
  std::string name, uid;
};

struct SimulationStats {
  int64_t workloads = 0, cycles = 0, admissions = 0, evictions = 0, finished = 0;
  Time end = 0;  // of the last event
  // By prototype: the sum of the times from arrival to first admission, and how many were admitted.
  std::vector<Time> first_wait;
  std::vector<int64_t> first_admitted;
};

// At each moment: first the jobs that end, then those that arrive, in the order of events; then cycles, until
// one neither admits nor evicts anybody or no queue has a head. A preempted job gives its quota back right
// after the cycle that evicted it, and waits again.
class Simulation {
 public:
  // `prototypes` are workloads without name, UID and creation time. Arrivals are sorted by time (stably).
  Simulation(Engine& engine, std::vector<std::shared_ptr<const WorkloadSpec>> prototypes,
             std::vector<Arrival> arrivals);

  // Runs up to `moments` moments, none of them after `until`; returns whether one is left.
  bool Run(int64_t moments, Time until = INT64_MAX);
  const SimulationStats& stats() const { return stats_; }

 private:
  struct End {
    Time at;
    int64_t sequence;
    WorkloadId workload;
    int32_t admission;  // the how-manieth of its workload; an earlier one has been preempted
    bool operator>(const End& other) const {
      return at != other.at ? at > other.at : sequence > other.sequence;
    }
  };
  struct Progress {
    int32_t arrival = -1, admissions = 0;
    bool admitted_before = false;
  };
  // Its name and UID are its workload's from then on.
  void Submit(int32_t index);
  void RunCycles();
  Progress& RunOf(WorkloadId id);
  std::optional<Time> Next() const;  // the next moment at which anything happens

  Engine& engine_;
  std::vector<std::shared_ptr<const WorkloadSpec>> prototypes_;
  std::vector<Arrival> arrivals_;
  size_t next_ = 0;
  int64_t sequence_ = 0;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::vector<Progress> runs_;  // by workload
  SimulationStats stats_;
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_SIMULATION_H_
