// Usage and numbers of workloads of queues and Cohorts, for dashboards and metrics.
#ifndef KUEUE_QUESTIONS_QUEUE_COUNTS_H_
#define KUEUE_QUESTIONS_QUEUE_COUNTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "state/state.h"

namespace kueue {

using FlavorResourceAmounts = std::map<FlavorResourceId, Amount>;

// Reserved and admitted amounts, with the numbers of workloads.
struct Holdings {
  FlavorResourceAmounts reserved, admitted;
  int reserving_workloads = 0, admitted_workloads = 0, finished_workloads = 0;
  int active_workloads = 0, inadmissible_workloads = 0;  // Pending workloads.

  void Add(const Workload& workload);
};

// Returns an amount, or 0 if there is none.
int64_t AmountOf(const FlavorResourceAmounts& amounts, FlavorResourceId fr);
// Returns the usage of each LocalQueue and the numbers of its workloads.
IdVector<LocalQueueId, Holdings> HoldingsByLocalQueue(const State& state);
// Returns, for each Cohort, the total usage of the queues below it
// (pkg/cache/scheduler/cohort_metrics.go:subtreeReservationMemo). Empty below a cycle of Cohorts.
IdVector<NodeId, FlavorResourceAmounts> ReservationsBelow(const State& state);
// Returns the weighted share of a node; 0 below a cycle of Cohorts.
double ShareOf(const State& state, NodeId node);

// Backlog of a ClusterQueue: requests of pending workloads by resource (including all resources with quota),
// and the numbers of active, inadmissible and all classes (pkg/cache/queue: pending_workloads.go:
// PendingResources, scheduling_hash_counts.go).
struct Backlog {
  std::map<std::string, Amount> asked;
  int active = 0, inadmissible = 0, classes = 0;
};
Backlog BacklogOf(const State& state, const ClusterQueue& queue);
// Returns the number of finished workloads of each ClusterQueue
// (pkg/cache/queue/manager.go:AddFinishedWorkload).
IdVector<NodeId, int> FinishedByQueue(const State& state);
// Counts the workloads that are neither admitted nor finished by LocalQueue, reason and underlying cause
// (pkg/cache/queue/unadmitted_workloads.go). Workloads without a LocalQueue are omitted.
std::map<std::tuple<LocalQueueId, Reason, Reason>, int> CountUnadmitted(const State& state);

}  // namespace kueue

#endif  // KUEUE_QUESTIONS_QUEUE_COUNTS_H_
