// Data of workloads for dashboards: pending workloads with their reasons, and events.
#include <map>
#include <tuple>

#include "bindings/engine.h"
#include "bindings/method.h"
#include "bindings/pybind.h"
#include "bindings/view.h"
#include "text/text.h"

namespace kueue::python {
namespace {

// Returns the pending workloads in queue order, or nothing for a queue that does not exist.
std::optional<std::vector<PendingView>> PendingIn(SharedEngine& shared, const std::string& cluster_queue) {
  return shared.Read([&](const Engine& engine) -> std::optional<std::vector<PendingView>> {
    const State& state = engine.state();
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
  });
}

// Removes and returns the events since the last call, oldest first.
std::vector<EventView> DrainEvents(SharedEngine& shared) {
  return shared.Write([](Engine& engine) {
    State& state = engine.state();
    std::vector<EventView> views;
    for (const Event& event : state.events) {
      const WorkloadSpec& spec = *event.spec;
      views.push_back({event.time, event.cycle, event.kind, absl::StrCat(spec.ns, "/", event.name),
                       spec.queue_name, spec.priority_class,
                       event.queue == kNoId ? "" : state.forest().Name(event.queue),
                       state.reasons.Name(event.reason), state.reasons.Name(event.cause),
                       state.reasons.Name(event.preemption), Render(state, event.message), event.by_key,
                       event.by_queue == kNoId ? "" : state.forest().Name(event.by_queue), event.queued_since,
                       event.since});
    }
    state.events.clear();
    return views;
  });
}

// Returns two numbers of cycles with heads: cycles that reserved quota for at least one head, and all other
// cycles.
py::tuple CycleCounts(SharedEngine& shared) {
  return shared.Read([](const Engine& engine) {
    const State& state = engine.state();
    return py::make_tuple(state.successful_cycles, state.scheduling_cycle - state.successful_cycles);
  });
}

// Returns the number of finished workloads of each ClusterQueue.
IdVector<NodeId, int> FinishedByQueue(const State& state) {
  IdVector<NodeId, int> finished(state.queues.size());
  for (WorkloadId id : state.Living()) {
    const Workload& workload = state.At(id);
    const NodeId node = !workload.IsFinished() ? kNoId : state.QueueOf(workload);
    if (node != kNoId) ++finished[node];
  }
  return finished;
}

// Backlog of a ClusterQueue: requests of pending workloads by resource (including all resources with quota),
// and the numbers of active, inadmissible and all classes.
struct Backlog {
  std::map<std::string, Amount> asked;
  int active = 0, inadmissible = 0, classes = 0;

  Backlog(const State& state, const ClusterQueue& queue) {
    for (const ResourceGroupIds& group : queue.groups) {
      for (ResourceId resource : group.covered) asked[state.resource_names.Name(resource)] = Amount(0);
    }
    for (const auto& [cls, counts] : queue.pending.CountByClass(state.workloads)) {
      ++classes;
      if (counts.first > 0) ++active;
      if (counts.second > 0) ++inadmissible;
      Add(state, cls, counts.first + counts.second);
    }
  }

 private:
  void Add(const State& state, ClassId cls, int64_t count) {
    for (const PodSetTotals& pod_set : state.Class(cls).totals) {
      for (const auto& [resource, amount] : pod_set.requests) {
        asked[state.resource_names.Name(resource)] += Amount(SaturatingMul(amount, count));
      }
    }
  }
};

// Resources are sorted by name (pkg/cache/queue: manager.go:AddFinishedWorkload,
// pending_workloads.go:PendingResources, scheduling_hash_counts.go).
std::vector<BacklogView> Backlogs(SharedEngine& shared) {
  return shared.Read([](const Engine& engine) {
    const State& state = engine.state();
    const IdVector<NodeId, int> finished = FinishedByQueue(state);
    std::vector<BacklogView> views;
    for (NodeId node : state.forest().Queues()) {
      const Backlog backlog(state, state.Queue(node));
      BacklogView& view = views.emplace_back();
      view = {state.forest().Name(node), finished[node], {}, backlog.active,
              backlog.inadmissible,      backlog.classes};
      for (const auto& [name, amount] : backlog.asked) view.asked.emplace_back(name, amount.value());
    }
    return views;
  });
}

// Counts the workloads that are neither admitted nor finished by LocalQueue, reason and underlying cause
// (pkg/cache/queue/unadmitted_workloads.go). Workloads without a LocalQueue are omitted.
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

std::vector<UnadmittedView> Unadmitted(SharedEngine& shared) {
  return shared.Read([](const Engine& engine) {
    const State& state = engine.state();
    std::vector<UnadmittedView> views;
    for (const auto& [key, count] : CountUnadmitted(state)) {
      const LocalQueue& local = state.Local(std::get<0>(key));
      const NodeId queue = local.cluster_queue;
      views.push_back({local.ns, local.name, queue == kNoId ? "" : state.forest().Name(queue),
                       state.reasons.Name(std::get<1>(key)), state.reasons.Name(std::get<2>(key)), count});
    }
    return views;
  });
}

}  // namespace

void BindEvents(py::module_& module) {
  py::list kinds;
  for (const char* name : Names<EventKind>::kAll) kinds.append(name);
  module.attr("EVENT_KINDS") = py::tuple(kinds);
  AddMethod(module, "pending_workloads", &PendingIn, py::arg("cluster_queue"));
  AddMethod(module, "backlogs", &Backlogs);
  AddMethod(module, "unadmitted_workloads", &Unadmitted);
  AddMethod(module, "drain_events", &DrainEvents);
  AddMethod(module, "cycle_counts", &CycleCounts);
}

}  // namespace kueue::python
