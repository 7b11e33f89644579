// Results of the jobs and of their copies in a fleet.
#ifndef KUEUE_FLEET_FLEET_RESULTS_H_
#define KUEUE_FLEET_FLEET_RESULTS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "simulation/simulation.h"

namespace kueue {

enum class CopyOutcome : int32_t { kWon, kLost, kEvicted, kWithdrawn, kPresent };

// A table with one row for each copy that was removed or that exists at the end of the simulation. Times are
// in seconds since the start of the simulation; NaN means never.
struct CopyTable {
  std::vector<int32_t> job, cluster;
  std::vector<double> made, reserved, admitted, removed;
  std::vector<int32_t> outcome;
  std::vector<int32_t> preempted;  // Number of evictions caused by the copy's preemptions.
  // Work lost through the evictions that the copy's preemptions caused, in seconds.
  std::vector<double> preempted_lost;
  std::vector<double> held;       // Time for which the copy held quota, in seconds.
  std::vector<int32_t> assigned;  // Code of the copy's last admission in the worker's recorder.
};

// Result of one of the manager's jobs, over all copies of the job.
struct Fate {
  Time dispatched = -1, admitted = -1, first_start = -1, end = -1, closed = -1;
  Time reserved = -1;  // Time of the quota reservation on the manager.
  // Start of the current period in which the job holds quota on the manager but no copy is running.
  Time idle_since = -1;
  Time idle = 0, done = 0, lost = 0, overhead = 0;
  int32_t copies = 0, starts = 0, retries = 0, rounds = 0;
  int32_t cluster = kNoId;  // Cluster where the job runs, or ran most recently.
  Time retried_since = -1;  // Time of the first counted retry, used to detect dispatch loops.
  int32_t retries_since = 0;
  bool runs = false, loops = false;
};

// An existing copy.
struct OpenCopy {
  Time made = -1, reserved = -1, admitted = -1, preempted_lost = 0;
  int32_t preempted = 0;
  bool ran = false;
};

// The sites are the manager, followed by the workers in the order of their indexes.
class FleetResults {
 public:
  using Sites = std::vector<std::shared_ptr<Simulation>>;

  explicit FleetResults(const Sites& sites);
  // Sets the sites that the following calls use. They must outlive the calls.
  void Attach(const Sites* sites) { sites_ = sites; }

  // Record an event of a job on the manager, and of a copy on a worker.
  void HappenedOnManager(EventKind kind, int32_t job, Time now);
  void HappenedOnWorker(int32_t site, EventKind kind, int32_t job, int32_t by, Time now);
  // Records the creation of a copy.
  void Created(int32_t site, int32_t job, Time now);
  // Record that a copy starts, and that the running copy of a job stops.
  void Started(int32_t site, int32_t job, Time now);
  void Stopped(int32_t job, Time now);
  // Adds the work of a removed copy. `ended` is the final record of its job on the worker.
  void Ended(int32_t job, const OpenCopy& open, const Job& ended);
  // Records that a job which was started before runs on a worker that reconnected.
  void Continued(int32_t site, int32_t job);
  // Records the rounds of the incremental dispatcher.
  void SetRounds(int32_t job, int32_t rounds) { fates_[static_cast<size_t>(job)].rounds = rounds; }
  // Adds a removed copy to the table of copies.
  void Record(int32_t site, int32_t job, const OpenCopy& open, const Job& ended, CopyOutcome outcome,
              Time now);
  // Adds the existing copies to the table of copies.
  void Close(Time now);

  const Fate& At(int32_t job) const { return fates_[static_cast<size_t>(job)]; }
  OpenCopy& CopyAt(int32_t site, int32_t job);
  // Returns the result of one of the manager's jobs so far, including the results of its existing copies.
  Fate FateOf(int32_t job, Time now) const;
  const CopyTable& copies() const { return table_; }
  // Returns the jobs in a dispatch loop.
  const std::vector<int32_t>& loops() const { return loops_; }
  // Returns the time between the quota reservations on the manager and the starts on workers, in total.
  Time dispatch_wait() const { return dispatch_wait_; }
  // Returns the number of copies that were created.
  int64_t created() const { return created_; }

 private:
  const RunData& Site(int32_t site) const { return (*sites_)[static_cast<size_t>(site)]->data(); }
  static void StopIdling(Fate& fate, Time now);
  void Retried(int32_t job, Time now);

  const Sites* sites_;
  std::vector<Fate> fates_;  // By job.
  // Existing copies, by the site of the worker and then by the index of the job in the worker's Simulation.
  std::vector<std::vector<OpenCopy>> open_;
  CopyTable table_;
  std::vector<int32_t> loops_;
  Time dispatch_wait_ = 0;
  int64_t created_ = 0;
};

}  // namespace kueue

#endif  // KUEUE_FLEET_FLEET_RESULTS_H_
