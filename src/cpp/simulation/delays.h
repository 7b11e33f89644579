// What takes time beside the jobs: answers to admission checks, the start of pods, failures of nodes.
#ifndef KUEUE_SIMULATION_DELAYS_H_
#define KUEUE_SIMULATION_DELAYS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "model/ids.h"

namespace kueue {

// Times drawn before the run. Which one a job gets depends on the job and the number of its run alone, so
// that a policy that evicts more does not shift the draws of others.
class Draws {
 public:
  explicit Draws(std::vector<Time> values) : values_(std::move(values)) {}
  Time Of(int32_t row, int32_t run) const { return values_[Place(row, run)]; }
  Time At(int64_t number) const { return values_[static_cast<size_t>(number) % values_.size()]; }
  // The place of a job's draw among `values`: a mix of 64 bits, the same on every platform.
  size_t Place(int32_t row, int32_t run) const;

 private:
  std::vector<Time> values_;
};

// An admission check turns Ready some time after quota was reserved, or asks for a retry.
struct Provisioning {
  std::string check;
  Draws delay;
  Draws fails;  // below `failing`: it fails
  Time failing = 0;
  // What changes when it turns Ready for the first time, as where nodes are added.
  std::vector<std::function<void(Engine&)>> capacity;
  std::vector<std::string> queues;  // the ClusterQueues among them
};

// Pods on a flavor are ready some time after admission; until then the job does nothing.
struct Startup {
  std::string flavor;
  Draws delay;
};

// Nodes of a flavor fail: whoever runs on one is evicted.
struct Failures {
  std::string flavor;
  std::string resource;  // by which nodes are counted
  int64_t unit = 1;      // what of it a node has
  Draws gap;             // between failures of one node, in units of 2^-32 of `mtbf`
  Draws place;           // which part of all nodes fails, in units of 2^-32
  Draws repair;
  Time mtbf = 0;
  bool lowers_quota = false;
};

struct Delays {
  std::vector<Provisioning> checks;
  std::vector<Startup> startups;
  std::vector<Failures> failures;
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_DELAYS_H_
