#include "questions/status.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "fairness/ledger.h"
#include "fairness/share.h"
#include "lifecycle/queueing.h"
#include "quantity/nano.h"
#include "questions/queue_counts.h"
#include "text/text.h"

namespace kueue {
namespace {

// Returns an empty name for kNoId.
std::string NodeName(const State& state, NodeId node) {
  return node == kNoId ? std::string() : state.forest().Name(node);
}

ConditionView View(const State& state, const Condition& condition) {
  return {condition.status, state.reasons.Name(condition.reason), Render(state, condition.message),
          condition.transition};
}

const char* TypeName(const Condition& condition) {
  return kConditionTypeNames[static_cast<int>(condition.type)];
}

}  // namespace

std::optional<ConditionView> ConditionOf(const State& state, const Workload& workload,
                                         const std::string& type) {
  for (const Condition& condition : workload.conditions) {
    if (type == TypeName(condition)) return View(state, condition);
  }
  return std::nullopt;
}

ByName<ConditionView> ConditionsOf(const State& state, const Workload& workload) {
  ByName<ConditionView> views;
  for (const Condition& condition : workload.conditions) {
    views.Add(TypeName(condition), View(state, condition));
  }
  return views;
}

StatusView StatusOf(const State& state, const Workload& workload) {
  const StatusDetails& status = workload.Status();
  std::vector<CheckView> checks;
  for (const WorkloadCheck& check : status.checks) {
    checks.push_back({state.check_names.Name(check.check), check.state, check.message, check.transition,
                      check.retry_count, check.requeue_after_seconds, check.pod_set_updates});
  }
  return {std::move(checks),  status.requeue_count, status.requeue_at,     status.past_execution_seconds,
          status.reclaimable, status.pods_ready,    workload.spec->active, status.unhealthy_nodes};
}

std::vector<Serial> LivingIds(const State& state) {
  std::vector<Serial> ids;
  for (WorkloadId id : state.Living()) {
    if (!state.At(id).deleted) ids.push_back(state.At(id).serial);
  }
  return ids;
}

std::vector<std::pair<Serial, std::string>> PendingChecks(const State& state) {
  std::vector<std::pair<Serial, std::string>> pending;
  for (NodeId node : state.forest().Queues()) {
    for (WorkloadId id : state.Queue(node).workloads) {
      const Workload& workload = state.At(id);
      if (workload.IsEvicted()) continue;
      for (const WorkloadCheck& check : workload.Status().checks) {
        if (check.state != CheckState::kPending) continue;
        pending.emplace_back(workload.serial, state.check_names.Name(check.check));
      }
    }
  }
  std::stable_sort(pending.begin(), pending.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return pending;
}

std::optional<std::vector<PendingView>> PendingIn(const State& state, const std::string& cluster_queue) {
  const NodeId node = state.forest().FindClusterQueue(cluster_queue);
  if (node == kNoId || !state.forest().IsDeclared(node)) return std::nullopt;
  std::map<LocalQueueId, int> seen;
  std::vector<PendingView> views;
  for (WorkloadId id : state.Queue(node).pending.Ordered(state.workloads, *state.ledger_usage)) {
    const Workload& workload = state.At(id);
    const WorkloadSpec& spec = *workload.spec;
    views.push_back({spec.ns, workload.name, spec.queue_name, spec.priority, workload.created,
                     seen[workload.local_queue]++});
  }
  return views;
}

ByName<PendingKeys> PendingByQueue(const State& state) {
  ByName<PendingKeys> queues;
  for (NodeId node : state.forest().Queues()) {
    const PendingQueue& pending = state.Queue(node).pending;
    PendingKeys keys;
    for (WorkloadId id : pending.Ordered(state.workloads, *state.ledger_usage)) {
      keys.first.push_back(state.At(id).Key());
      if (pending.IsInadmissible(state.workloads, id)) keys.second.push_back(keys.first.back());
    }
    if (!keys.first.empty()) queues.Add(state.forest().Name(node), std::move(keys));
  }
  return queues;
}

int64_t WaitingInBestEffort(const State& state) {
  int64_t waiting = 0;
  for (NodeId node : state.forest().Queues()) {
    const ClusterQueue& queue = state.Queue(node);
    if (queue.spec.queueing_strategy == QueueingStrategy::kBestEffortFIFO)
      waiting += queue.pending.active_count();
  }
  return waiting;
}

std::vector<EventView> EventsOf(const State& state) {
  std::vector<EventView> views;
  for (const Event& event : state.events) {
    const WorkloadSpec& spec = *event.spec;
    views.push_back({event.time, event.cycle, event.kind, absl::StrCat(spec.ns, "/", event.name),
                     spec.queue_name, spec.priority_class, NodeName(state, event.queue),
                     state.reasons.Name(event.reason), state.reasons.Name(event.cause),
                     state.reasons.Name(event.preemption), Render(state, event.message), event.by_key,
                     NodeName(state, event.by_queue), event.queued_since, event.since});
  }
  return views;
}

std::vector<ChangeView> ChangesOf(const State& state) {
  std::vector<ChangeView> views;
  for (const Event& event : state.events) {
    views.push_back({event.kind, event.workload, event.by, state.reasons.Name(event.reason),
                     state.reasons.Name(event.preemption)});
  }
  return views;
}

std::pair<int64_t, int64_t> CycleCounts(const State& state) {
  return {state.successful_cycles, state.scheduling_cycle - state.successful_cycles};
}

namespace {

// Flavors are in the order of the queue, resources are sorted by name
// (pkg/cache/scheduler/cache.go:getUsage).
std::vector<FlavorHolding> ByFlavor(const State& state, NodeId node, const Holdings& holdings) {
  std::vector<FlavorHolding> flavors;
  for (const ResourceGroupIds& group : state.Queue(node).groups) {
    std::map<std::string, ResourceId> resources;
    for (ResourceId resource : group.covered) resources[state.resource_names.Name(resource)] = resource;
    for (FlavorId flavor : group.flavors) {
      FlavorHolding& holding = flavors.emplace_back();
      holding.flavor = state.flavor_names.Name(flavor);
      for (const auto& [name, resource] : resources) {
        const FlavorResourceId fr = state.FlavorResource(flavor, resource);
        if (fr == kNoId) continue;  // The queue is being deleted.
        holding.resources.push_back({name, AmountOf(holdings.reserved, fr), AmountOf(holdings.admitted, fr),
                                     state.quota.limits().nominal(node, fr).value(),
                                     state.quota.limits().borrowing(node, fr).value(),
                                     state.quota.limits().lending(node, fr).value()});
      }
    }
  }
  return flavors;
}

}  // namespace

std::vector<ClusterQueueView> ClusterQueueStatus(const State& state) {
  std::vector<ClusterQueueView> views;
  for (NodeId node : state.forest().Queues()) {
    const ClusterQueue& queue = state.Queue(node);
    Holdings holdings;
    for (WorkloadId id : queue.workloads) holdings.Add(state.At(id));
    views.push_back({state.forest().Name(node), NodeName(state, state.forest().DeclaredParent(node)),
                     ReasonName(queue.inactivity), Render(queue.inactivity), queue.pending.active_count(),
                     queue.pending.inadmissible_count(), holdings.reserving_workloads,
                     holdings.admitted_workloads, ShareOf(state, node), ByFlavor(state, node, holdings)});
  }
  return views;
}

namespace {

std::optional<ConsumedView> Consumed(const State& state, LocalQueueId local, NodeId node) {
  if (!UsesAdmissionFairSharing(state, node)) return std::nullopt;
  const LedgerEntry& entry = state.ledger[local];
  ConsumedView view{LocalQueueUsage(state, local), entry.last_update, {}};
  for (const auto& [resource, nano] : entry.consumed) {
    view.quantities.Add(state.resource_names.Name(resource), NanoQuantityText(nano));
  }
  return view;
}

LocalQueueView View(const State& state, LocalQueueId id, const Holdings& held) {
  const LocalQueue& queue = state.Local(id);
  const NodeId node = queue.cluster_queue;
  const bool found = node != kNoId && state.forest().IsDeclared(node);
  LocalQueueView view{queue.ns,
                      queue.name,
                      NodeName(state, node),
                      queue.IsRunning(),
                      found,
                      found && state.Queue(node).inactivity.IsActive(),
                      held.active_workloads,
                      held.inadmissible_workloads,
                      held.reserving_workloads,
                      held.admitted_workloads,
                      held.finished_workloads,
                      std::nullopt,
                      {}};
  if (found) {
    view.consumed = Consumed(state, id, node);
    view.holdings = ByFlavor(state, node, held);
  }
  return view;
}

}  // namespace

std::vector<LocalQueueView> LocalQueueStatus(const State& state) {
  const IdVector<LocalQueueId, Holdings> holdings = HoldingsByLocalQueue(state);
  std::vector<LocalQueueView> views;
  for (LocalQueueId local : holdings.Ids()) {
    if (state.Local(local).exists) views.push_back(View(state, local, holdings[local]));
  }
  return views;
}

namespace {

// Returns the flavor resources for which the Cohort has a quota, or workloads below it have reservations.
std::vector<CohortCell> CellsOf(const State& state, NodeId cohort, const FlavorResourceAmounts& reserved) {
  std::vector<CohortCell> cells;
  for (FlavorResourceId fr : state.quota.FlavorResources()) {
    const int64_t held = AmountOf(reserved, fr);
    if (!state.quota.limits().defined(cohort, fr) && held == 0) continue;
    const auto& [flavor, resource] = state.flavor_resources[fr];
    cells.push_back({state.flavor_names.Name(flavor), state.resource_names.Name(resource),
                     state.quota.limits().subtree(cohort, fr).value(), held});
  }
  return cells;
}

}  // namespace

std::vector<CohortView> CohortStatus(const State& state) {
  const Forest& forest = state.forest();
  const IdVector<NodeId, FlavorResourceAmounts> reservations = ReservationsBelow(state);
  std::vector<CohortView> views;
  for (NodeId node : forest.Nodes()) {
    if (forest.IsClusterQueue(node) || !forest.Exists(node)) continue;
    views.push_back({forest.Name(node), NodeName(state, forest.DeclaredParent(node)),
                     NodeName(state, forest.Root(node)), forest.IsDeclared(node), ShareOf(state, node),
                     CellsOf(state, node, reservations[node])});
  }
  return views;
}

std::vector<BacklogView> Backlogs(const State& state) {
  const IdVector<NodeId, int> finished = FinishedByQueue(state);
  std::vector<BacklogView> views;
  for (NodeId node : state.forest().Queues()) {
    const Backlog backlog = BacklogOf(state, state.Queue(node));
    BacklogView& view = views.emplace_back();
    view = {state.forest().Name(node), finished[node], {}, backlog.active,
            backlog.inadmissible,      backlog.classes};
    for (const auto& [name, amount] : backlog.asked) view.asked.emplace_back(name, amount.value());
  }
  return views;
}

std::vector<UnadmittedView> Unadmitted(const State& state) {
  std::vector<UnadmittedView> views;
  for (const auto& [key, count] : CountUnadmitted(state)) {
    const auto& [id, reason, cause] = key;
    const LocalQueue& local = state.Local(id);
    views.push_back({local.ns, local.name, NodeName(state, local.cluster_queue), state.reasons.Name(reason),
                     state.reasons.Name(cause), count});
  }
  return views;
}

const char* KindOf(const Forest& forest, NodeId node) {
  return forest.IsClusterQueue(node) ? "ClusterQueue" : "Cohort";
}

std::vector<NodeRow> NodeRows(const State& state) {
  const Forest& forest = state.forest();
  std::vector<NodeRow> nodes;
  for (NodeId node : forest.Nodes()) {
    nodes.push_back({forest.Name(node), KindOf(forest, node), forest.DeclaredParent(node).value(),
                     forest.Exists(node), forest.IsActive(node)});
  }
  return nodes;
}

ByName<ByName<int64_t>> UsageByQueue(const State& state, bool active) {
  ByName<ByName<int64_t>> usage;
  for (NodeId node : state.forest().Queues()) {
    if (active && !state.forest().IsActive(node)) continue;
    ByName<int64_t> frs;
    for (FlavorResourceId fr : state.quota.FlavorResources()) {
      const Amount used = state.quota.Usage(node, fr);
      if (used != Amount(0)) frs.Add(FlavorResourceName(state, fr), used.value());
    }
    usage.Add(state.forest().Name(node), std::move(frs));
  }
  return usage;
}

ByName<double> SharesByQueue(const State& state) {
  ByName<double> shares;
  for (NodeId node : state.forest().Queues()) {
    if (!state.forest().IsActive(node)) continue;
    const double share = DominantResourceShare(state, node).Weighted();
    if (share != 0) shares.Add(state.forest().Name(node), share);
  }
  return shares;
}

ByName<ByName<std::string>> ConsumedByLocalQueue(const State& state) {
  ByName<ByName<std::string>> consumed;
  for (LocalQueueId local : state.ledger.Ids()) {
    const LedgerEntry& entry = state.ledger[local];
    ByName<std::string> amounts;
    for (const auto& [resource, nano] : entry.consumed) {
      amounts.Add(state.resource_names.Name(resource), NanoDecimalText(nano));
    }
    NanoAmounts penalties;
    for (const auto& [workload, penalty] : entry.penalties) {
      for (const auto& [resource, nano] : penalty) penalties[resource] += nano;
    }
    for (const auto& [resource, nano] : penalties) {
      amounts.Add("penalty:" + state.resource_names.Name(resource), NanoDecimalText(nano));
    }
    if (amounts.items.empty()) continue;
    const LocalQueue& queue = state.Local(local);
    consumed.Add(queue.ns + "/" + queue.name, std::move(amounts));
  }
  return consumed;
}

}  // namespace kueue
