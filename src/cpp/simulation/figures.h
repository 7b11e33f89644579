// Integrals over time from which the metrics of a simulation are computed.
#ifndef KUEUE_SIMULATION_FIGURES_H_
#define KUEUE_SIMULATION_FIGURES_H_

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "questions/by_name.h"
#include "simulation/jobs.h"
#include "simulation/recorder.h"
#include "state/state.h"

namespace kueue {

// Integral over time of a piecewise constant value, beginning at the start of the metrics window. The unit of
// the integral is amount times nanoseconds.
class Integral {
 public:
  void Set(double value, Time now, Time from) {
    Advance(now, from);
    value_ = value;
  }
  void Advance(Time now, Time from) {
    const Time since = last_ > from ? last_ : from;
    if (now > since) {
      total_ += value_ * static_cast<double>(now - since);
      most_ = value_ > most_ ? value_ : most_;
    }
    last_ = now;
  }
  double value() const { return value_; }
  double total() const { return total_; }
  // Returns the total at `now` if the value does not change until then.
  double TotalAt(Time now, Time from) const {
    const Time since = last_ > from ? last_ : from;
    return now > since ? total_ + value_ * static_cast<double>(now - since) : total_;
  }
  // Returns the largest value, or 0 if all values are negative. Values that lasted for 0 ns are ignored.
  double most() const { return most_; }

 private:
  double value_ = 0, total_ = 0, most_ = 0;
  Time last_ = 0;
};

struct CellFigures {
  CellUse use;
  double asked = 0;  // Amount requested by pending jobs.
  // The queue's share of the amount by which the tree's quota exceeds the nominal quotas of all queues in the
  // tree. Each queue's share is proportional to its fair sharing weight.
  double extra = 0;
  int32_t tree = -1;  // Index in Figures::trees().
  bool recorded = false;
  Integral used, nominal, borrowed;
};

struct QueueFigures {
  int32_t waiting = 0, recorded_waiting = 0;
  Integral waits;  // Number of pending jobs.
  // The used amount divided by the entitled amount while jobs are pending, otherwise 0.
  Integral blocked;
  Integral somebody_waits;  // Integral of a value that is 1 while jobs are pending, and 0 otherwise.
  double recorded_blocked = -1;
  std::vector<std::pair<FlavorResourceId, CellFigures>> cells;
};

// One flavor resource in a cohort tree or in a ClusterQueue without a cohort.
struct TreeFigures {
  NodeId root = kNoId;
  FlavorResourceId fr = kNoId;
  double all = 0;  // Nominal quota of the whole tree.
  double used = 0, unused = 0, borrowed = 0, asked = 0;
  Integral idle;  // Unused quota, up to the amount requested by pending jobs.
  Integral lent;  // Borrowed amount, up to the unused nominal quota of other queues.
  double recorded_idle = 0;
  bool touched = false;
};

// Integrals of usage and nominal quota until the last submission, in amount times nanoseconds.
struct SubmissionFigures {
  Time until = -1;  // Time of the last submission; -1 until all jobs have arrived.
  std::map<FlavorResourceId, double> used, nominal;
};

struct EvictionFigures {
  int64_t count = 0;
  std::map<FlavorResourceId, double> lost;  // Amount times nanoseconds.
};

class Figures {
 public:
  // Collects metrics from the time `from` on; collects none if `is_on` is false.
  Figures(Time from, bool is_on) : from_(from), is_on_(is_on) {}

  // Adds `by` pending jobs with these requests to a queue; a negative `by` removes jobs.
  void Wait(const State& state, NodeId queue, const std::vector<std::pair<ResourceId, int64_t>>& asks,
            int by) {
    if (is_on_ && queue != kNoId) AddWaiting(state, queue, asks, by);
  }
  // Records an eviction. Call this function only for jobs that count in the metrics.
  void Evict(NodeId victim, NodeId preemptor, Reason rule, const Workload& workload, const Broken& broken);
  // Records the end of a run of the workload's job.
  void Spend(const Workload& workload, const Broken& broken);
  // Updates the metrics of a queue after a change, and passes changed values to the recorder.
  void Look(const State& state, NodeId queue, Recorder& recorder);
  // Passes changed values to the recorder, for each tree with a queue that was updated at this time.
  void EndMoment(Time now, Recorder& recorder);
  // Recomputes the entitlements of whole trees after a change of quotas. `nodes` are all nodes of the trees,
  // parents before children.
  void Rebuild(const State& state, const std::vector<NodeId>& nodes);
  // Ends the submission phase. No job arrives after `now`.
  void EndSubmissions(Time now);
  // Extends all integrals to `now`.
  void Close(Time now);

  const IdVector<NodeId, QueueFigures>& queues() const { return queues_; }
  const std::vector<TreeFigures>& trees() const { return trees_; }
  const std::map<std::tuple<NodeId, NodeId, Reason>, EvictionFigures>& evictions() const {
    return evictions_;
  }
  const Integral& waits() const { return waits_; }
  const Integral& borrowing() const { return borrowing_; }
  // Total nominal quota of queues and Cohorts.
  const std::map<FlavorResourceId, Integral>& nominal() const { return nominal_; }
  const SubmissionFigures& submissions() const { return submissions_; }
  const std::map<FlavorResourceId, double>& lost() const { return lost_; }
  const std::map<FlavorResourceId, double>& overhead() const { return overhead_; }

 private:
  QueueFigures& Of(NodeId queue) {
    queues_.GrowTo(queue);
    return queues_[queue];
  }
  void AddWaiting(const State& state, NodeId queue, const std::vector<std::pair<ResourceId, int64_t>>& asks,
                  int by);
  CellFigures& CellOf(QueueFigures& figures, FlavorResourceId fr);
  int32_t TreeOf(NodeId root, FlavorResourceId fr);
  void Use(Time now, CellFigures& figures, CellUse use);
  void LookAtTree(Time now, int32_t tree);
  void CountTrees(const State& state, const std::vector<NodeId>& nodes);

  Time from_;
  bool is_on_;
  IdVector<NodeId, QueueFigures> queues_;
  std::vector<TreeFigures> trees_;
  absl::flat_hash_map<std::pair<NodeId, FlavorResourceId>, int32_t> tree_of_;
  std::vector<int32_t> touched_;  // Trees updated at the current time.
  std::map<std::tuple<NodeId, NodeId, Reason>, EvictionFigures> evictions_;
  std::map<FlavorResourceId, Integral> nominal_;
  std::map<FlavorResourceId, double> lost_, overhead_;
  SubmissionFigures submissions_;
  Integral waits_;      // Number of pending jobs in all queues.
  Integral borrowing_;  // Integral of a value that is 1 while any queue borrows, and 0 otherwise.
  int64_t waiting_ = 0;
  int borrowers_ = 0;  // Number of (queue, flavor resource) pairs that borrow.
};

// The figures of a simulation with names instead of ids. Integrals are in amounts times nanoseconds, or in
// nanoseconds. kueuepy.engine.totals documents the fields.
struct CellTotals {
  double used, nominal, borrowed;
  int64_t last_used;
};
struct QueueTotals {
  double waits;
  int64_t most_waiting;
  double blocked, somebody_waits;
  ByName<CellTotals> cells;
};
struct TreeTotals {
  std::string tree, flavor_resource;
  double idle, lent;
};
struct EvictionTotals {
  std::string victim, preemptor, rule;
  int64_t count;
  ByName<double> lost;
};
struct SubmittedTotals {
  Time until;
  ByName<double> used, nominal;
};
struct Totals {
  SubmittedTotals submitted;
  ByName<QueueTotals> queues;
  std::vector<TreeTotals> trees;
  std::vector<EvictionTotals> evictions;
  ByName<double> nominal, lost, overhead;
  double waits;
  int64_t most_waiting;
  double borrowing;
};
// `start` is the start of the simulation.
Totals TotalsOf(const State& state, const Figures& figures, Time start);

}  // namespace kueue

#endif  // KUEUE_SIMULATION_FIGURES_H_
