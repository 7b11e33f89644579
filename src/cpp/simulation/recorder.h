// Tables of a simulation, stored as append-only columns.
#ifndef KUEUE_SIMULATION_RECORDER_H_
#define KUEUE_SIMULATION_RECORDER_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "simulation/jobs.h"
#include "state/state.h"

namespace kueue {

struct Recording {
  bool decisions = true, runs = true, usage = true, cycles = false;
  // Whether Figures are collected, and whether jobs borrow and would have fitted at their arrival.
  bool metrics = true;
};

enum class DecisionKind : int32_t { kReserved, kAdmitted, kEvicted, kFinished, kRequeued, kDeactivated };
enum class RunOutcome : int32_t { kFinished, kPreempted, kEvicted, kRunning };

struct DecisionTable {
  std::vector<double> seconds;
  std::vector<int64_t> cycle;
  std::vector<int32_t> job, cluster_queue, kind, reason, rule, preemptor;
};

struct RunTable {
  std::vector<int32_t> job, run;
  std::vector<double> reserved, start, end;
  std::vector<int32_t> assigned, outcome;
  std::vector<double> progress, lost, overhead;
  std::vector<int32_t> preemptor, rule;
};

struct UsageTable {
  std::vector<double> seconds;
  std::vector<int32_t> cluster_queue, fr;
  std::vector<int64_t> used, nominal, borrowed;
  std::vector<int32_t> waiting;
  std::vector<double> share;
};

// Unused quota of a cohort tree, up to the amount requested by its pending jobs.
struct IdleTable {
  std::vector<double> seconds;
  std::vector<int32_t> tree, fr;
  std::vector<double> idle;
};

// The used amount of a ClusterQueue divided by its entitled amount; -1 while no jobs are pending.
struct BlockedTable {
  std::vector<double> seconds;
  std::vector<int32_t> cluster_queue;
  std::vector<double> blocked;
};

struct CycleTable {
  std::vector<double> seconds;
  std::vector<int64_t> cycle;
  std::vector<int32_t> heads, admitted, evicted;
};

// Decayed usage of LocalQueues, in cores for cpu and in units for all other resources.
struct ConsumedTable {
  std::vector<double> seconds;
  std::vector<int32_t> local_queue, resource;
  std::vector<double> consumed;
};

// The admission of a job as tuples (pod set, resource, flavor, amount).
using Assigned = std::vector<std::tuple<std::string, ResourceId, FlavorId, int64_t>>;

struct CellUse {
  int64_t used = 0, nominal = 0;
  bool operator==(const CellUse& other) const { return used == other.used && nominal == other.nominal; }
};

// Names are stored as codes. ClusterQueues are numbered in the order in which they first appear. Flavor
// resources and reasons are stored as ids.
class Recorder {
 public:
  Recorder(Recording what, Time start) : what_(what), start_(start) {}

  // Reserves enough memory for `jobs` jobs that each run once, in queues with one flavor resource.
  void Reserve(size_t jobs);

  double Seconds(Time at) const { return static_cast<double>(at - start_) / 1e9; }
  Time start() const { return start_; }
  const Recording& what() const { return what_; }

  void Decide(const State& state, DecisionKind kind, const Job& job, int32_t row) {
    if (what_.decisions || what_.runs || what_.usage) AddDecision(state, kind, job, row);
  }
  void EndRun(Time now, RunOutcome outcome, const Job& job, int32_t row, const Broken& broken);
  void Use(Time now, NodeId queue, FlavorResourceId fr, CellUse use, int32_t waiting, double share);
  void Idle(Time now, NodeId tree, FlavorResourceId fr, double idle);
  void Block(Time now, NodeId queue, double blocked);
  void Count(Time now, int64_t cycle, int64_t heads, int64_t admitted, int64_t evicted);
  // Records the decayed usage of each LocalQueue under admission fair sharing if the usage has changed.
  void Consume(const State& state);
  // Returns the code of an admission, or -1 if the runs of jobs are not recorded.
  int32_t AssignedOf(const Admission& admission);
  int32_t CodeOf(NodeId queue);
  static int32_t CodeOf(Reason reason) {
    return reason == Reason::kEmpty ? -1 : static_cast<int32_t>(reason);
  }

  const DecisionTable& decisions() const { return decisions_; }
  const RunTable& runs() const { return runs_; }
  const UsageTable& usage() const { return usage_; }
  const IdleTable& idle() const { return idle_; }
  const BlockedTable& blocked() const { return blocked_; }
  const ConsumedTable& consumed() const { return consumed_; }
  const CycleTable& cycles() const { return cycles_; }
  const std::vector<NodeId>& queues() const { return queues_; }
  const std::vector<Assigned>& assigned() const { return assigned_; }

 private:
  void AddDecision(const State& state, DecisionKind kind, const Job& job, int32_t row);

  Recording what_;
  Time start_;
  DecisionTable decisions_;
  RunTable runs_;
  UsageTable usage_;
  IdleTable idle_;
  BlockedTable blocked_;
  ConsumedTable consumed_;
  CycleTable cycles_;
  std::map<std::pair<LocalQueueId, ResourceId>, double> last_consumed_;
  std::vector<NodeId> queues_;         // By code.
  IdVector<NodeId, int32_t> code_of_;  // -1 if the node has no code yet.
  std::vector<Assigned> assigned_;
  std::map<Assigned, int32_t> place_of_assigned_;
  int32_t last_assigned_ = 0;  // Index of the assignment that was looked up last.
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_RECORDER_H_
