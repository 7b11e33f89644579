// Simulations of different cohort trees of one cluster, which several threads advance together.
#ifndef KUEUE_SIMULATION_LOCKSTEP_H_
#define KUEUE_SIMULATION_LOCKSTEP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "model/pool.h"
#include "simulation/simulation.h"

namespace kueue {

// Cohort trees without a common topology share nothing but the clock and the scheduling cycles. If each
// simulation has all jobs of some of the trees, the simulations together decide as one simulation of all jobs
// does: all of them run a cycle whenever that simulation would run one. The options of the simulations must
// be equal, including the start, and the duration of a cycle must be 0.
class Lockstep {
 public:
  Lockstep(std::vector<std::shared_ptr<Simulation>> runs, int threads)
      : runs_(std::move(runs)), threads_(threads) {}

  // Simulates about `work` units of work; see Simulation::Run(). Returns whether any events are left.
  bool Run(int64_t work);
  // Sums of all simulations.
  SimulationStats stats() const;
  // Returns the waits of the jobs by shape: those of the first simulation, then those of the second, and so
  // on.
  std::vector<FirstWaits> first_waits() const;
  Time start() const;
  const std::vector<std::shared_ptr<Simulation>>& runs() const { return runs_; }

 private:
  std::optional<Time> Next() const;
  void ForEach(const std::function<void(Simulation&, CycleOutcome&)>& step);
  bool Follow();

  std::vector<std::shared_ptr<Simulation>> runs_;
  int threads_;
  Pool pool_;
  std::vector<CycleOutcome> outcomes_;
  int64_t cycles_ = 0;
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_LOCKSTEP_H_
