// Random delays in a simulation: answers of admission checks, pod startup, node failures.
#ifndef KUEUE_SIMULATION_DELAYS_H_
#define KUEUE_SIMULATION_DELAYS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "model/ids.h"

namespace kueue {

// Random values that are drawn before the simulation starts. The n-th execution of a job always uses the same
// value, so all policies see the same values regardless of the number of evictions.
class Draws {
 public:
  explicit Draws(std::vector<Time> values) : values_(std::move(values)) {}
  Time Of(int32_t row, int32_t run) const { return values_[Place(row, run)]; }
  Time At(int64_t number) const { return values_[static_cast<size_t>(number) % values_.size()]; }
  // Returns the index of the value for an execution of a job. The index is computed with a 64-bit mixing
  // function that gives the same results on all platforms.
  size_t Place(int32_t row, int32_t run) const;

 private:
  std::vector<Time> values_;
};

// The parts of a ProvisioningRequestConfig that determine the answers to a check.
struct ProvisioningConfig {
  std::vector<std::string> managed;  // managedResources; empty: all.
  std::vector<int64_t> waits;        // Seconds until the retry after each failed attempt; the last one stays.
  int64_t limit = 0;                 // The next failed attempt after as many rejects the workload.

  // Returns the seconds until the retry after a failed attempt; nothing if the workload is rejected.
  std::optional<int64_t> RetryAfter(int64_t attempt) const;
};

// An admission check that becomes Ready or requests a retry after a random delay. The delay starts at the
// quota reservation.
struct Provisioning {
  std::string check;
  Draws delay;
  Draws fails;  // The check fails if the value is less than `failing`.
  Time failing = 0;
  // Changes that are applied when the check becomes Ready for the first time, such as adding nodes.
  std::vector<std::function<void(Engine&)>> capacity;
  std::vector<std::string> queues;  // ClusterQueues changed by `capacity`.
  std::optional<Draws> revoked;     // Time from Ready until the check is rejected; absent: never.
  // Time from Ready until the booking of the nodes expires; absent: never. Only a workload that other checks
  // still hold back then tries again.
  std::optional<Draws> expires;
  std::optional<ProvisioningConfig> config;  // Absent: each failure is retried at once.

  // Returns whether the check of a workload with quota waits for nodes.
  bool IsNeeded(const Workload& workload) const;
  bool Fails(int32_t row, int32_t run) const { return failing > 0 && fails.Of(row, run) < failing; }
  // Returns the times from Ready at which the check may get another answer.
  std::vector<Time> EndsOf(int32_t row, int32_t run) const;
};

// Time between admission on a flavor and the readiness of the pods. The job makes no progress during the
// startup time.
struct Startup {
  std::string flavor;
  Draws delay;
};

// Failures of nodes of a flavor. A failure evicts the workloads on the node.
struct Failures {
  std::string flavor;
  std::string resource;  // Resource whose quota determines the number of nodes.
  int64_t unit = 1;      // Amount of the resource per node.
  Draws gap;             // Time between failures of one node, as a multiple of `mtbf` in units of 2^-32.
  Draws place;           // Position of the failing node: a fraction of all nodes, in units of 2^-32.
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
