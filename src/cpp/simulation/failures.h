// Failures and repairs of nodes.
#ifndef KUEUE_SIMULATION_FAILURES_H_
#define KUEUE_SIMULATION_FAILURES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "simulation/delays.h"
#include "simulation/job_runs.h"

namespace kueue {

// Returns an error if nodes fail more than once per second on average.
absl::Status CheckFailures(const State& state, const std::vector<Failures>& failures);

// A nominal quota that is lower than declared in its ClusterQueue, because nodes have failed.
struct LoweredQuota {
  std::string queue, flavor, resource;
  int64_t declared = 0;  // As last applied.
  int64_t broken = 0;    // Amount of the quota that belongs to failed nodes.
};

// A failure is identified by its index in Delays::failures.
class NodeFailures {
 public:
  explicit NodeFailures(size_t size) : failures_(size), broken_(size) {}

  // Plans the next failure.
  void Plan(JobRuns& runs, size_t failure);
  // Fails one node of the flavor. `arrived` contains the arrived jobs, in the order of arrival.
  void Fail(JobRuns& runs, size_t failure, const std::vector<int32_t>& arrived);
  // Repairs the node that failed first.
  void Repair(JobRuns& runs, size_t failure);
  // Lowers the quotas of queues again. Needed after the queues were applied, because this resets their quotas
  // to the declared values.
  void LowerAgain(JobRuns& runs, const std::vector<std::string>& queues);

 private:
  void LowerFor(JobRuns& runs, size_t failure, NodeId holder);
  void Lower(JobRuns& runs, LoweredQuota& lowered, int64_t by);

  std::vector<int64_t> failures_;      // Number of failures, by index.
  std::vector<LoweredQuota> lowered_;  // Quotas lowered because of failed nodes.
  // For each failure: the indexes in `lowered_` of the failed nodes, oldest first.
  std::vector<std::vector<size_t>> broken_;
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_FAILURES_H_
