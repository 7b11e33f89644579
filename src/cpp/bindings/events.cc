// Data of workloads for dashboards: pending workloads with their reasons, and events.
#include <map>
#include <tuple>

#include "bindings/engine.h"
#include "bindings/method.h"
#include "bindings/pybind.h"
#include "bindings/view.h"
#include "questions/queue_counts.h"
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

// Resources are sorted by name.
std::vector<BacklogView> Backlogs(SharedEngine& shared) {
  return shared.Read([](const Engine& engine) {
    const State& state = engine.state();
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
  });
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
