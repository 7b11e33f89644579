#include "questions/queue_counts.h"

#include "fairness/share.h"

namespace kueue {

void Holdings::Add(const Workload& workload) {
  ++reserving_workloads;
  if (workload.IsAdmitted()) ++admitted_workloads;
  for (const auto& [fr, amount] : workload.usage) {
    reserved[fr] += amount;
    if (workload.IsAdmitted()) admitted[fr] += amount;
  }
}

int64_t AmountOf(const FlavorResourceAmounts& amounts, FlavorResourceId fr) {
  const auto found = amounts.find(fr);
  return found == amounts.end() ? 0 : found->second.value();
}

IdVector<LocalQueueId, Holdings> HoldingsByLocalQueue(const State& state) {
  IdVector<LocalQueueId, Holdings> holdings(state.local_queues.size());
  for (WorkloadId id : state.Living()) {
    const Workload& workload = state.At(id);
    Holdings& held = holdings[workload.local_queue];
    const NodeId node = state.Local(workload.local_queue).cluster_queue;
    if (workload.charged != kNoId && workload.charged == node) held.Add(workload);
    if (workload.IsFinished()) ++held.finished_workloads;
    if (workload.queued == kNoId) continue;
    const bool waits = state.Queue(workload.queued).pending.IsInadmissible(state.workloads, id);
    ++(waits ? held.inadmissible_workloads : held.active_workloads);
  }
  return holdings;
}

IdVector<NodeId, FlavorResourceAmounts> ReservationsBelow(const State& state) {
  const Forest& forest = state.forest();
  IdVector<NodeId, FlavorResourceAmounts> below(forest.size());
  for (NodeId queue : forest.Queues()) {
    if (HasCycle(forest, queue)) continue;
    for (FlavorResourceId fr : state.quota.FlavorResources()) {
      const Amount used = state.quota.Usage(queue, fr);
      if (used == Amount(0)) continue;
      for (NodeId node = forest.Parent(queue); node != kNoId; node = forest.Parent(node)) {
        below[node][fr] += used;
      }
    }
  }
  return below;
}

double ShareOf(const State& state, NodeId node) {
  return HasCycle(state.forest(), node) ? 0 : DominantResourceShare(state, node).Weighted();
}

namespace {

void AddRequests(const State& state, ClassId cls, int64_t count, Backlog& backlog) {
  for (const PodSetTotals& pod_set : state.Class(cls).totals) {
    for (const auto& [resource, amount] : pod_set.requests) {
      backlog.asked[state.resource_names.Name(resource)] += Amount(SaturatingMul(amount, count));
    }
  }
}

}  // namespace

Backlog BacklogOf(const State& state, const ClusterQueue& queue) {
  Backlog backlog;
  for (const ResourceGroupIds& group : queue.groups) {
    for (ResourceId resource : group.covered) backlog.asked[state.resource_names.Name(resource)] = Amount(0);
  }
  for (const auto& [cls, counts] : queue.pending.CountByClass(state.workloads)) {
    ++backlog.classes;
    if (counts.first > 0) ++backlog.active;
    if (counts.second > 0) ++backlog.inadmissible;
    AddRequests(state, cls, counts.first + counts.second, backlog);
  }
  return backlog;
}

IdVector<NodeId, int> FinishedByQueue(const State& state) {
  IdVector<NodeId, int> finished(state.queues.size());
  for (WorkloadId id : state.Living()) {
    const Workload& workload = state.At(id);
    const NodeId node = !workload.IsFinished() ? kNoId : state.QueueOf(workload);
    if (node != kNoId) ++finished[node];
  }
  return finished;
}

std::map<std::tuple<LocalQueueId, Reason, Reason>, int> CountUnadmitted(const State& state) {
  std::map<std::tuple<LocalQueueId, Reason, Reason>, int> counts;
  for (WorkloadId id : state.Living()) {
    const Workload& workload = state.At(id);
    if (workload.IsAdmitted() || workload.IsFinished()) continue;
    if (!state.Local(workload.local_queue).exists) continue;
    const Condition* admitted = workload.Find(ConditionType::kAdmitted);
    const Condition* reserved = workload.Find(ConditionType::kQuotaReserved);
    auto reason = Reason::kNoReservation;
    auto cause = Reason::kPendingEvaluation;
    if (admitted != nullptr) reason = admitted->reason;
    if (reserved != nullptr) cause = reserved->status ? Reason::kEmpty : reserved->reason;
    ++counts[{workload.local_queue, reason, cause}];
  }
  return counts;
}

}  // namespace kueue
