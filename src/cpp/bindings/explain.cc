// Facts of an explanation as dicts. Amounts are integers in the core's unit; an absent limit is None.
#include "questions/explain.h"

#include "bindings/decision.h"
#include "bindings/method.h"
#include "bindings/naming.h"
#include "lifecycle/queueing.h"
#include "text/text.h"

namespace kueue::python {
namespace {

bool IsStrictFifo(const State& state, NodeId queue) {
  return queue != kNoId && state.Queue(queue).spec.queueing_strategy == QueueingStrategy::kStrictFIFO;
}

// Returns the number of candidates for each verdict that occurs.
ByName<int> CountsOf(const Facts& facts) {
  ByName<int> counts;
  for (size_t i = 0; i < facts.counts.size(); ++i) {
    if (facts.counts[i] > 0) counts.Add(Names<CandidateVerdict>::kAll[i], facts.counts[i]);
  }
  return counts;
}

std::optional<InactivityView> Inactive(const State& state, NodeId queue) {
  if (queue == kNoId || state.Queue(queue).inactivity.IsActive()) return std::nullopt;
  const Inactivity& inactivity = state.Queue(queue).inactivity;
  InactivityView view{ReasonName(inactivity), Render(inactivity), {}};
  for (const InactivityCause& cause : inactivity.causes) view.causes.emplace_back(cause.kind, cause.names);
  return view;
}

// Returns the obstacle that excludes the workload from every cycle.
std::optional<ObstacleView> View(const State& state, const Obstacle& obstacle) {
  if (obstacle.IsNone()) return std::nullopt;
  return ObstacleView{obstacle.kind, obstacle.queue, obstacle.reason, Render(state, obstacle.message)};
}

// Sets the position of the workload in its queue and the first workload of that queue.
void SetPosition(State& state, WorkloadId id, FactsView& view) {
  const Workload& workload = state.At(id);
  if (workload.place == QueuePlace::kNowhere) return;
  const PendingQueue& pending = state.Queue(workload.queued).pending;
  view.position = pending.PositionOf(state.workloads, *state.ledger_usage, id);
  view.first = pending.First(state.workloads, *state.ledger_usage);
}

// Sets the next decision, and whether a scan from the first flavor would lead to a different decision.
void SetAnswer(const State& state, const Facts& facts, FactsView& view) {
  DecisionRecord record;
  if (facts.entry.workload != kNoId) record = Asked(state, facts.next ? *facts.next : facts.entry);
  view.goes_on = facts.next && record.verdict != Asked(state, facts.entry).verdict;
  view.verdict = record.verdict;
  view.reason = record.reason;
  view.message = Render(state, record.message);
}

FactsView FactsOf(State& state, WorkloadId id) {
  FactsView view;
  view.holds = state.At(id).charged != kNoId;
  Facts facts = view.holds ? ExplainHolding(state, id) : ExplainWaiting(state, id);
  SetAnswer(state, facts, view);
  view.obstacle = View(state, ObstacleOf(state, state.At(id)));
  view.preemptor = PreemptorOf(state, id);
  view.workload = id;
  view.cluster_queue = facts.queue;
  view.priority = state.At(id).priority;
  view.nominated = facts.entry.nominated;
  view.pod_sets = std::move(facts.pod_sets);
  view.contested = std::move(facts.contested);
  view.candidates = std::move(facts.candidates);
  view.counts = CountsOf(facts);
  view.shares = std::move(facts.shares);
  view.strict_fifo = IsStrictFifo(state, facts.queue);
  SetPosition(state, id, view);
  view.inadmissibility = facts.entry.inadmissibility;
  view.inactivity = Inactive(state, facts.queue);
  return view;
}

// Calls `find` with the state, without the GIL, and converts the result while all ids in it are valid.
template <typename Find>
py::object FoundBy(SharedEngine& shared, Find find) {
  py::object view;
  const py::gil_scoped_release release;
  shared.Change([&](Engine& engine) {
    State& state = engine.state();
    find(state, [&](const auto& found) {
      const py::gil_scoped_acquire acquire;
      const Naming naming(state);
      view = py::cast(found);
    });
  });
  return view;
}

py::object Explain(SharedEngine& shared, Serial serial) {
  return FoundBy(shared, [serial](State& state, auto take) {
    const WorkloadId id = PlaceOf(state, serial);
    const TemporaryClass cls(state, id);
    take(FactsOf(state, id));
  });
}

// Returns the shares of all active queues and of the Cohorts above them.
py::object AllShares(SharedEngine& shared) {
  return FoundBy(shared, [](State& state, auto take) { take(ExplainAllShares(state)); });
}

}  // namespace

void BindExplain(py::module_& module) {
  AddMethod(module, "explain", &Explain, py::arg("id"));
  AddMethod(module, "share_facts", &AllShares);
}

}  // namespace kueue::python
