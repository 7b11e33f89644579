// What a platform shows of workloads: who waits where and why, and what happened.
#include <map>
#include <tuple>

#include "bindings/engine.h"
#include "bindings/method.h"
#include "bindings/pybind.h"
#include "bindings/view.h"
#include "text/text.h"

namespace kueue::python {
namespace {

// (namespace, name, LocalQueue, priority, creation, position in the LocalQueue) in the order of the queue;
// None for a queue that does not exist.
py::object PendingIn(SharedEngine& shared, const std::string& cluster_queue) {
  return shared.Read([&](const Engine& engine) -> py::object {
    const State& state = engine.state();
    const NodeId node = state.forest().FindClusterQueue(cluster_queue);
    if (node == kNoId || !state.forest().IsDeclared(node)) return py::none();
    std::map<LocalQueueId, int> seen;
    py::list views;
    for (WorkloadId id : state.Queue(node).pending.Ordered(state.workloads, state.ledger_usage)) {
      const Workload& workload = state.At(id);
      const WorkloadSpec& spec = *workload.spec;
      views.append(py::make_tuple(spec.ns, workload.name, spec.queue_name, spec.priority, workload.created,
                                  seen[workload.local_queue]++));
    }
    return std::move(views);
  });
}

// What happened since the last time, oldest first; it is forgotten.
py::list DrainEvents(SharedEngine& shared) {
  return shared.Write([](Engine& engine) {
    State& state = engine.state();
    py::list views;
    for (const Event& event : state.events) {
      const WorkloadSpec& spec = *event.spec;
      views.append(py::make_tuple(
          event.time, event.cycle, NameOf(event.kind), absl::StrCat(spec.ns, "/", event.name),
          spec.queue_name, spec.priority_class, event.queue == kNoId ? "" : state.forest().Name(event.queue),
          state.reasons.Name(event.reason), state.reasons.Name(event.cause),
          state.reasons.Name(event.preemption), Render(state, event.message), event.by_key,
          event.by_queue == kNoId ? "" : state.forest().Name(event.by_queue), event.queued_since,
          event.since));
    }
    state.events.clear();
    return views;
  });
}

// How many cycles had heads: those in which one got quota, and the others.
py::tuple CycleCounts(SharedEngine& shared) {
  return shared.Read([](const Engine& engine) {
    const State& state = engine.state();
    return py::make_tuple(state.successful_cycles, state.scheduling_cycle - state.successful_cycles);
  });
}

// How many finished workloads each ClusterQueue has.
std::vector<int> FinishedByQueue(const State& state) {
  std::vector<int> finished(state.queues.size());
  for (WorkloadId id : state.Living()) {
    const Workload& workload = state.At(id);
    const NodeId node = !workload.IsFinished() ? kNoId : state.QueueOf(workload);
    if (node != kNoId) ++finished[static_cast<size_t>(node)];
  }
  return finished;
}

// What the pending workloads of a ClusterQueue ask for, by resource, those of quotas even if nobody asks; and
// how many of their classes are active, how many inadmissible, how many there are.
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

// By ClusterQueue: (name, finished workloads, ((resource, amount), ...) that the pending ones ask for, how
// many classes of these are active, how many inadmissible, how many there are). Resources by name
// (pkg/cache/queue: manager.go:AddFinishedWorkload, pending_workloads.go:PendingResources,
// scheduling_hash_counts.go).
py::list Backlogs(SharedEngine& shared) {
  return shared.Read([](const Engine& engine) {
    const State& state = engine.state();
    const std::vector<int> finished = FinishedByQueue(state);
    py::list views;
    for (NodeId node : state.forest().Queues()) {
      const Backlog backlog(state, state.Queue(node));
      py::list resources;
      for (const auto& [name, amount] : backlog.asked) resources.append(py::make_tuple(name, amount.value()));
      views.append(py::make_tuple(state.forest().Name(node), finished[static_cast<size_t>(node)], resources,
                                  backlog.active, backlog.inadmissible, backlog.classes));
    }
    return views;
  });
}

// How many of the workloads that are neither admitted nor finished there are, by LocalQueue, reason and
// underlying cause (pkg/cache/queue/unadmitted_workloads.go); those of no LocalQueue left out.
std::map<std::tuple<LocalQueueId, int32_t, int32_t>, int> CountUnadmitted(const State& state) {
  std::map<std::tuple<LocalQueueId, int32_t, int32_t>, int> counts;
  for (WorkloadId id : state.Living()) {
    const Workload& workload = state.At(id);
    if (workload.IsAdmitted() || workload.IsFinished()) continue;
    if (!state.Local(workload.local_queue).exists) continue;
    const Condition* admitted = workload.Find(ConditionType::kAdmitted);
    const Condition* reserved = workload.Find(ConditionType::kQuotaReserved);
    auto reason = static_cast<int32_t>(Reason::kNoReservation);
    auto cause = static_cast<int32_t>(Reason::kPendingEvaluation);
    if (admitted != nullptr) reason = admitted->reason;
    if (reserved != nullptr) cause = reserved->status ? 0 : reserved->reason;
    ++counts[{workload.local_queue, reason, cause}];
  }
  return counts;
}

// ((namespace, LocalQueue, ClusterQueue, reason, underlying cause, how many), ...)
py::list Unadmitted(SharedEngine& shared) {
  return shared.Read([](const Engine& engine) {
    const State& state = engine.state();
    py::list views;
    for (const auto& [key, count] : CountUnadmitted(state)) {
      const LocalQueue& local = state.Local(std::get<0>(key));
      const NodeId queue = local.cluster_queue;
      views.append(py::make_tuple(local.ns, local.name, queue == kNoId ? "" : state.forest().Name(queue),
                                  state.reasons.Name(std::get<1>(key)), state.reasons.Name(std::get<2>(key)),
                                  count));
    }
    return views;
  });
}

}  // namespace

void BindEvents(py::module_& module) {
  py::list kinds;
  for (const char* name : kEventKindNames) kinds.append(name);
  module.attr("EVENT_KINDS") = py::tuple(kinds);
  AddMethod(module, "pending_workloads", &PendingIn, py::arg("cluster_queue"));
  AddMethod(module, "backlogs", &Backlogs);
  AddMethod(module, "unadmitted_workloads", &Unadmitted);
  AddMethod(module, "drain_events", &DrainEvents);
  AddMethod(module, "cycle_counts", &CycleCounts);
}

}  // namespace kueue::python
