// A set of simulations that are controlled together, as vectorized environments for reinforcement learning.
#ifndef KUEUE_SIMULATION_ENVIRONMENT_H_
#define KUEUE_SIMULATION_ENVIRONMENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "model/pool.h"
#include "simulation/knobs.h"
#include "simulation/queue_watch.h"

namespace kueue {

// Values of the parameters of one simulation.
using Setting = std::vector<int64_t>;

// An object and the values of its parameters.
using SetObject = std::pair<size_t, Setting>;

// A function that applies an object. `queues` contains the object's name if it is a ClusterQueue.
struct Applying {
  std::function<void(Engine&)> apply;
  std::vector<std::string> queues;
};

// A row of actions for each simulation: a direction for each number, and a value for each choice.
struct Actions {
  absl::Span<const double> moves;
  absl::Span<const int64_t> choices;
  size_t rows = 0, numbers = 0, places = 0;
};

struct EnvironmentOptions {
  std::vector<std::string> queues;
  Time interval = 0, episode = 0;
  double step = 0;  // Largest change of a number in an interval.
  Knobs knobs;
  std::vector<std::vector<size_t>> objects;  // By object: indexes of its parameters.
  Setting start;
};

class Environments {
 public:
  static constexpr size_t kFacts = 12;

  Environments(size_t size, EnvironmentOptions options);
  Environments(const Environments&) = delete;
  Environments& operator=(const Environments&) = delete;

  // Starts a simulation. `values` are the values of its parameters at the start.
  absl::Status Begin(size_t seat, std::shared_ptr<Simulation> run, Time zero, Setting values);
  // Computes the parameters of the simulations for the next interval. `missing` gets the required objects
  // that are not known yet.
  absl::Status Plan(const std::vector<size_t>& seats, const Actions& actions, std::set<SetObject>& missing);
  void Learn(SetObject object, Applying applying);
  // Starts the next interval: applies the changed objects and sets the end of the interval.
  absl::Status Start(const std::vector<size_t>& seats);
  // Advances all simulations. Each simulation that reaches the end of its interval writes its row of
  // observations, of the length `width()`, and of facts, of the length `kFacts`. Returns whether all
  // simulations have reached it.
  bool Go(int threads, float* observations, double* facts);

  size_t size() const { return seats_.size(); }
  size_t width() const;
  const Setting& ValuesOf(size_t seat) const { return seats_.at(seat).values; }
  // Returns the time since the start of the episode.
  Time TimeOf(size_t seat) const { return seats_.at(seat).time; }

 private:
  // One simulation and its parameters.
  struct Seat {
    std::shared_ptr<Simulation> run;
    std::unique_ptr<QueueWatch> watch;
    Setting values, wanted;
    std::vector<SetObject> changed;  // The objects with a changed parameter in the next interval.
    Time zero = 0, time = 0;
    bool moves = false;  // The simulation has not reached the end of the interval yet.
    std::vector<double> sums;
  };

  absl::Status Want(Seat& at, size_t row, const Actions& actions) const;
  std::vector<SetObject> Changed(const Seat& at) const;
  void Tell(Seat& at, absl::Span<float> observation, absl::Span<double> facts) const;
  void WriteQueue(const QueueView& view, const QueueView& before, Time now, absl::Span<float> row) const;

  EnvironmentOptions options_;
  std::vector<Seat> seats_;
  absl::flat_hash_map<SetObject, std::shared_ptr<const Applying>> known_;
  Pool pool_;
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_ENVIRONMENT_H_
