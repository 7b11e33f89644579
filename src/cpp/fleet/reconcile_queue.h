// The times at which the workloads of a fleet are reconciled.
#ifndef KUEUE_FLEET_RECONCILE_QUEUE_H_
#define KUEUE_FLEET_RECONCILE_QUEUE_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "simulation/calendar.h"

namespace kueue {

struct ConnectionChange {
  Time at = 0;
  int32_t cluster = kNoId;
  bool connected = true;
};

// Jobs of the manager whose workloads are to be reconciled, now or later, and the connection changes of the
// workers.
class ReconcileQueue {
 public:
  // `jobs` is the number of jobs. `sync` has the delay until the manager observes a change on a worker, by
  // worker.
  ReconcileQueue(size_t jobs, std::vector<Time> sync, std::vector<ConnectionChange> connections);

  // Adds a job that is to be reconciled at the current time.
  void Add(int32_t job);
  // Adds a job whose copy changed: it is reconciled when the manager observes the change on the worker,
  // unless an earlier reconciliation is scheduled.
  void AddObserved(int32_t job, int32_t cluster, Time now);
  // Schedules the repetition of a reconciliation, which replaces an earlier schedule. A time of -1 means that
  // it is not repeated.
  void SetAgain(int32_t job, Time at);

  // Returns the time of the next connection change or scheduled reconciliation.
  std::optional<Time> Next();
  // Returns whether jobs are to be reconciled at the current time.
  bool HasChanged() const { return !changed_.empty(); }
  // Removes and returns the jobs that are to be reconciled at the current time.
  std::vector<int32_t> TakeChanged();
  // Removes what is due, up to and including the kind `last`. Calls `connect` for each connection change, and
  // returns the jobs with a scheduled reconciliation in ascending order.
  template <typename Connect>
  std::vector<int32_t> TakeDue(Time now, Happening last, const Connect& connect) {
    std::vector<int32_t> jobs;
    while (!calendar_.empty()) {
      const Planned planned = calendar_.Next();
      if (planned.at > now || planned.kind > last) break;
      calendar_.Drop();
      if (planned.kind == Happening::kChange) {
        connect(connections_[static_cast<size_t>(planned.what)]);
      } else if (TimeOf(planned) == planned.at) {
        TimeOf(planned) = -1;
        jobs.push_back(planned.what);
      }
    }
    return Unique(std::move(jobs));
  }

 private:
  struct Schedule {
    Time due = -1, again = -1;  // See AddObserved() and SetAgain(); -1 if there is none.
    bool changed = false;
  };
  Schedule& At(int32_t job) { return schedules_[static_cast<size_t>(job)]; }
  // Time at which a reconciliation is scheduled now; a planned one with another time is void.
  Time& TimeOf(const Planned& planned) {
    Schedule& schedule = At(planned.what);
    return planned.kind == Happening::kTimer ? schedule.again : schedule.due;
  }
  static std::vector<int32_t> Unique(std::vector<int32_t> jobs);

  std::vector<Schedule> schedules_;  // By job.
  std::vector<Time> sync_;
  std::vector<ConnectionChange> connections_;
  Calendar calendar_;
  std::vector<int32_t> changed_;
};

}  // namespace kueue

#endif  // KUEUE_FLEET_RECONCILE_QUEUE_H_
