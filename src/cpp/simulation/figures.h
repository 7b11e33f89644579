// Integrals over time that the figures of a run come from, kept as it goes on.
#ifndef KUEUE_SIMULATION_FIGURES_H_
#define KUEUE_SIMULATION_FIGURES_H_

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "simulation/jobs.h"
#include "simulation/recorder.h"
#include "state/state.h"

namespace kueue {

// The integral of a value that stays the same until it is set again, in amount times nanoseconds, from the
// start of the window on.
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
  // The total if the value holds until then.
  double TotalAt(Time now, Time from) const {
    const Time since = last_ > from ? last_ : from;
    return now > since ? total_ + value_ * static_cast<double>(now - since) : total_;
  }
  // The largest value that held for any time; none below 0 counts.
  double most() const { return most_; }

 private:
  double value_ = 0, total_ = 0, most_ = 0;
  Time last_ = 0;
};

struct CellFigures {
  CellUse use;
  double asked = 0;   // by those who wait
  double extra = 0;   // by weight a part of what the tree has beside its queues' nominal quotas
  int32_t tree = -1;  // a place in Figures::trees
  bool recorded = false;
  Integral used, nominal, borrowed;
};

struct QueueFigures {
  int32_t waiting = 0, recorded_waiting = 0;
  Integral waits;           // how many wait
  Integral blocked;         // used over entitled, while somebody waits
  Integral somebody_waits;  // 1 while somebody does
  double recorded_blocked = -1;
  std::vector<std::pair<FlavorResourceId, CellFigures>> cells;
};

// Of a tree of cohorts, or a ClusterQueue without one, and a cell.
struct TreeFigures {
  NodeId root = kNoId;
  FlavorResourceId cell = kNoId;
  double all = 0;  // that the tree has
  double used = 0, unused = 0, borrowed = 0, asked = 0;
  Integral idle;  // what is free, as far as those who wait ask for it
  Integral lent;  // what is borrowed, as far as it is others' nominal quota
  double recorded_idle = 0;
  bool touched = false;
};

// What was used, and all nominal quota, until the last submission; amounts times nanoseconds.
struct SubmissionFigures {
  Time until = -1;  // -1: jobs are yet to arrive
  std::map<FlavorResourceId, double> used, nominal;
};

struct EvictionFigures {
  int64_t count = 0;
  std::map<FlavorResourceId, double> lost;  // amount times nanoseconds
};

class Figures {
 public:
  explicit Figures(Time from) : from_(from) {}

  // How many wait, and what all of them ask for of a resource.
  void Wait(const State& state, NodeId queue, const std::vector<std::pair<ResourceId, int64_t>>& asks,
            int by);
  // Only what happens to jobs that count in figures is told here.
  void Evict(NodeId victim, NodeId preemptor, int32_t rule, const Workload& workload, const Broken& broken);
  // A run is over that held what the workload holds.
  void Spend(const Workload& workload, const Broken& broken);
  // Looks at a queue after something happened there, and tells the recorder what has changed.
  void Look(const State& state, NodeId queue, Recorder& recorder);
  // Tells the recorder what has become of the trees of the queues that were looked at.
  void EndMoment(Time now, Recorder& recorder);
  // Looks again at what each queue and tree has: quotas have changed.
  void Rebuild(const State& state);
  // No job arrives after this time.
  void EndSubmissions(Time now);
  // Brings all integrals to this time.
  void Close(Time now);

  const std::vector<QueueFigures>& queues() const { return queues_; }
  const std::vector<TreeFigures>& trees() const { return trees_; }
  const std::map<std::tuple<NodeId, NodeId, int32_t>, EvictionFigures>& evictions() const {
    return evictions_;
  }
  const Integral& waits() const { return waits_; }
  const Integral& borrowing() const { return borrowing_; }
  // All nominal quota, of queues and Cohorts.
  const std::map<FlavorResourceId, Integral>& nominal() const { return nominal_; }
  const SubmissionFigures& submissions() const { return submissions_; }
  const std::map<FlavorResourceId, double>& lost() const { return lost_; }
  const std::map<FlavorResourceId, double>& overhead() const { return overhead_; }

 private:
  QueueFigures& Of(NodeId queue);
  CellFigures& CellOf(QueueFigures& figures, FlavorResourceId cell);
  int32_t TreeOf(NodeId root, FlavorResourceId cell);
  void Use(Time now, CellFigures& figures, CellUse use);
  void LookAtTree(Time now, int32_t tree);
  void CountTrees(const State& state);

  Time from_;
  std::vector<QueueFigures> queues_;  // by node
  std::vector<TreeFigures> trees_;
  std::vector<int32_t> touched_;  // trees since the moment began
  std::map<std::tuple<NodeId, NodeId, int32_t>, EvictionFigures> evictions_;
  std::map<FlavorResourceId, Integral> nominal_;
  std::map<FlavorResourceId, double> lost_, overhead_;
  SubmissionFigures submissions_;
  Integral waits_;      // how many wait anywhere
  Integral borrowing_;  // 1 while any queue borrows
  int64_t waiting_ = 0;
  int borrowers_ = 0;  // cells of queues that are borrowed
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_FIGURES_H_
