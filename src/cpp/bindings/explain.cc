// Facts of an explanation as plain dicts, lists and numbers. Amounts are integers in the core's unit; an
// absent limit is None.
#include "questions/explain.h"

#include <iterator>

#include "bindings/decision.h"
#include "bindings/method.h"
#include "bindings/places.h"
#include "lifecycle/queueing.h"
#include "text/text.h"

namespace kueue::python {
namespace {

using namespace py::literals;  // NOLINT(google-build-using-namespace): _a and nothing else

py::object Number(Amount amount) {
  return amount.IsUnlimited() ? py::object(py::none()) : py::object(py::int_(amount.value()));
}

// Converts facts to Python objects. The results do not refer to the state.
class Viewer {
 public:
  explicit Viewer(const State& state) : state_(state) {}

  py::dict View(const Facts& facts) const {
    py::list pod_sets, candidates;
    for (const PodSetFacts& pod_set : facts.pod_sets) pod_sets.append(View(pod_set));
    for (const CandidateFacts& candidate : facts.candidates) candidates.append(View(candidate));
    py::dict counts;
    for (size_t i = 0; i < facts.counts.size(); ++i) {
      if (facts.counts[i] > 0) counts[Names<CandidateVerdict>::kAll[i]] = facts.counts[i];
    }
    return py::dict("workload"_a = Key(facts.workload), "cluster_queue"_a = Node(facts.queue),
                    "priority"_a = state_.At(facts.workload).priority, "nominated"_a = facts.entry.nominated,
                    "pod_sets"_a = pod_sets, "contested"_a = Cells(facts.contested),
                    "candidates"_a = candidates, "counts"_a = counts, "shares"_a = ViewShares(facts.shares),
                    "strict_fifo"_a = IsStrictFifo(facts.queue));
  }

  py::list ViewShares(const std::vector<ShareFacts>& shares) const {
    py::list view;
    for (const ShareFacts& facts : shares) view.append(View(facts));
    return view;
  }

 private:
  std::string Key(WorkloadId id) const { return state_.At(id).Key(); }
  std::string Node(NodeId node) const { return node == kNoId ? "" : state_.forest().Name(node); }
  const char* Kind(NodeId node) const {
    return state_.forest().IsClusterQueue(node) ? "ClusterQueue" : "Cohort";
  }
  bool IsStrictFifo(NodeId queue) const {
    return queue != kNoId && state_.Queue(queue).spec.queueing_strategy == QueueingStrategy::kStrictFIFO;
  }
  std::string Flavor(FlavorId id) const { return id == kNoId ? "" : state_.flavor_names.Name(id); }
  std::string Resource(ResourceId id) const { return id == kNoId ? "" : state_.resource_names.Name(id); }
  py::tuple Cell(FlavorResourceId fr) const {
    const auto& [flavor, resource] = state_.flavor_resources[fr];
    return py::make_tuple(Flavor(flavor), Resource(resource));
  }
  py::list Cells(const std::vector<FlavorResourceId>& frs) const {
    py::list view;
    for (FlavorResourceId fr : frs) view.append(Cell(fr));
    return view;
  }

  py::dict View(const PodSetFacts& facts) const {
    py::dict requests;
    for (const auto& [resource, amount] : facts.requests) requests[py::str(Resource(resource))] = amount;
    py::list undeclared, flavors;
    for (ResourceId resource : facts.undeclared) undeclared.append(Resource(resource));
    for (const FlavorFacts& flavor : facts.flavors) flavors.append(View(flavor));
    return py::dict("name"_a = facts.name, "count"_a = facts.count, "requests"_a = requests,
                    "undeclared"_a = undeclared, "flavors"_a = flavors);
  }

  py::dict View(const FlavorFacts& facts) const {
    py::list frs;
    for (const FlavorResourceFacts& fr : facts.frs) frs.append(View(fr));
    py::list ineligible;
    for (const Refusal& refusal : facts.ineligible) ineligible.append(View(refusal));
    const bool tried = facts.tried;
    return py::dict(
        "flavor"_a = Flavor(facts.flavor), "resource_group"_a = facts.resource_group, "tried"_a = tried,
        "chosen"_a = facts.chosen, "mode"_a = tried ? NameOf(facts.attempt.mode) : "",
        "borrowing_level"_a = tried ? facts.attempt.borrow : 0,
        "reason"_a = tried ? state_.reasons.Name(facts.attempt.no_fit_reason) : "",
        "ineligible"_a = ineligible, "cells"_a = frs,
        "place"_a = facts.place ? py::object(ViewPlace(state_, *facts.place)) : py::object(py::none()));
  }

  py::dict View(const Refusal& refusal) const {
    py::object taint = py::none();
    if (refusal.kind == RefusalKind::kUntoleratedTaint) {
      taint = py::make_tuple(refusal.taint().key, refusal.taint().value, refusal.taint().effect);
    }
    return py::dict("kind"_a = refusal.kind, "message"_a = Render(state_, refusal), "taint"_a = taint);
  }

  py::dict View(const FlavorResourceFacts& facts) const {
    py::list path, quota_users, sufficient_alone, shortages;
    for (const NodeFacts& node : facts.path) path.append(View(node));
    for (const QuotaUserFacts& quota_user : facts.quota_users) quota_users.append(View(quota_user));
    for (WorkloadId id : facts.sufficient_alone) sufficient_alone.append(Key(id));
    const auto& [flavor, resource] = state_.flavor_resources[facts.fr];
    for (const Shortage& shortage : facts.shortages) {
      shortages.append(py::make_tuple(Node(shortage.node), shortage.limit, Number(shortage.amount)));
    }
    return py::dict("flavor"_a = Flavor(flavor), "resource"_a = Resource(resource),
                    "before"_a = Number(facts.before), "asked"_a = Number(facts.asked),
                    "available"_a = Number(facts.available), "potential"_a = Number(facts.potential),
                    "short"_a = facts.IsShort(), "where"_a = Node(facts.where), "limit"_a = facts.limit,
                    "missing"_a = Number(facts.missing), "shortages"_a = shortages,
                    "may_preempt"_a = facts.may_preempt, "path"_a = path, "quota_users"_a = quota_users,
                    "sufficient_alone"_a = sufficient_alone);
  }

  py::dict View(const QuotaUserFacts& facts) const {
    return py::dict("name"_a = Node(facts.node), "kind"_a = Kind(facts.node), "meets"_a = Node(facts.meets),
                    "nominal"_a = Number(facts.nominal), "usage"_a = Number(facts.usage),
                    "borrowed"_a = Number(facts.borrowed), "lends"_a = Number(facts.lends));
  }

  py::dict View(const NodeFacts& facts) const {
    return py::dict("name"_a = Node(facts.node), "kind"_a = Kind(facts.node),
                    "nominal"_a = Number(facts.nominal), "subtree"_a = Number(facts.subtree),
                    "usage"_a = Number(facts.usage), "guaranteed"_a = Number(facts.guaranteed),
                    "borrowing_limit"_a = Number(facts.borrowing_limit),
                    "lending_limit"_a = Number(facts.lending_limit), "available"_a = Number(facts.available));
  }

  py::dict View(const CandidateFacts& facts) const {
    py::dict holds;
    for (const FlavorResourceAmount& entry : facts.holds) holds[Cell(entry.fr)] = Number(entry.amount);
    py::list comparisons;
    for (const FairComparison& made : facts.comparisons) {
      comparisons.append(py::dict("strategy"_a = made.strategy, "ours"_a = Node(made.ours),
                                  "theirs"_a = Node(made.theirs), "our_share"_a = made.our_share.Weighted(),
                                  "their_share"_a = made.their_share.Weighted(),
                                  "final_share"_a = made.final_share.Weighted(), "holds"_a = made.holds));
    }
    py::object reason = py::none();
    if (facts.verdict == CandidateVerdict::kTaken) reason = py::cast(facts.reason);
    return py::dict(
        "workload"_a = Key(facts.workload), "cluster_queue"_a = Node(facts.queue),
        "verdict"_a = facts.verdict, "reason"_a = reason, "leaving"_a = state_.At(facts.workload).IsEvicted(),
        "priority"_a = state_.At(facts.workload).priority, "holds"_a = holds, "comparisons"_a = comparisons);
  }

  py::dict View(const ShareFacts& facts) const {
    return py::dict("name"_a = Node(facts.node), "kind"_a = Kind(facts.node), "weight"_a = facts.share.weight,
                    "share"_a = facts.share.Weighted(), "rounded"_a = facts.share.Rounded(),
                    "resource"_a = Resource(facts.share.dominant), "borrowed"_a = Number(facts.borrowed),
                    "lendable"_a = Number(facts.lendable), "borrowing"_a = facts.share.borrowing);
  }

  const State& state_;
};

// Returns reason, message and causes (kind and names) of an inactive queue, or None if it is active.
py::object Inactive(const State& state, NodeId queue) {
  if (queue == kNoId || state.Queue(queue).inactivity.IsActive()) return py::none();
  const Inactivity& inactivity = state.Queue(queue).inactivity;
  py::list causes;
  for (const InactivityCause& cause : inactivity.causes) {
    causes.append(py::make_tuple(cause.kind, cause.names));
  }
  return py::dict("reason"_a = ReasonName(inactivity), "message"_a = Render(inactivity), "causes"_a = causes);
}

// Returns the obstacle that excludes the workload from every cycle, or None.
py::object View(const State& state, const Obstacle& obstacle) {
  if (obstacle.IsNone()) return py::none();
  return py::dict("kind"_a = obstacle.kind, "queue"_a = obstacle.queue,
                  "reason"_a = state.reasons.Name(obstacle.reason),
                  "message"_a = Render(state, obstacle.message));
}

// Adds the position of the workload in its queue and the key of the first workload of that queue. Both are
// None if the workload is in no queue.
void AddPosition(State& state, WorkloadId id, py::dict& view) {
  const Workload& workload = state.At(id);
  view["position"] = py::none();
  view["first"] = "";
  if (workload.place == QueuePlace::kNowhere) return;
  const PendingQueue& pending = state.Queue(workload.queued).pending;
  view["position"] = pending.PositionOf(state.workloads, *state.ledger_usage, id);
  view["first"] = state.At(pending.First(state.workloads, *state.ledger_usage)).Key();
}

// The next decision, and whether a scan from the first flavor would lead to a different decision.
struct NextAnswer {
  DecisionRecord record;
  bool goes_on = false;

  NextAnswer(const State& state, const Facts& facts) {
    if (facts.entry.workload != kNoId) record = Asked(state, facts.next ? *facts.next : facts.entry);
    goes_on = facts.next && record.verdict != Asked(state, facts.entry).verdict;
  }
};

void AddAnswer(const State& state, const NextAnswer& answer, py::dict& view) {
  view["goes_on"] = answer.goes_on;
  view["verdict"] = answer.record.verdict;
  view["reason"] = state.reasons.Name(answer.record.reason);
  view["message"] = Render(state, answer.record.message);
}

py::dict Explain(SharedEngine& shared, Serial serial) {
  py::dict view;
  const py::gil_scoped_release release;
  shared.Change([serial, &view](Engine& engine) {
    State& state = engine.state();
    const WorkloadId id = PlaceOf(state, serial);
    const TemporaryClass cls(state, id);
    const bool holds = state.At(id).charged != kNoId;
    const Facts facts = holds ? ExplainHolding(state, id) : ExplainWaiting(state, id);
    const NextAnswer answer(state, facts);
    const Obstacle obstacle = ObstacleOf(state, state.At(id));
    const WorkloadId preemptor = PreemptorOf(state, id);
    const py::gil_scoped_acquire acquire;  // Convert now, while all ids are valid.
    view = Viewer(state).View(facts);
    AddPosition(state, id, view);
    view["holds"] = holds;
    view["obstacle"] = View(state, obstacle);
    view["inadmissibility"] = facts.entry.inadmissibility;
    view["inactivity"] = Inactive(state, facts.queue);
    view["preemptor"] = preemptor == kNoId ? "" : state.At(preemptor).Key();
    AddAnswer(state, answer, view);
  });
  return view;
}

// Returns the shares of all active queues and of the Cohorts above them.
py::list AllShares(SharedEngine& shared) {
  py::list view;
  const py::gil_scoped_release release;
  shared.Change([&view](Engine& engine) {
    const std::vector<ShareFacts> shares = ExplainAllShares(engine.state());
    const py::gil_scoped_acquire acquire;
    view = Viewer(engine.state()).ViewShares(shares);
  });
  return view;
}

}  // namespace

void BindExplain(py::module_& module) {
  AddMethod(module, "explain", &Explain, py::arg("id"));
  AddMethod(module, "share_facts", &AllShares);
}

}  // namespace kueue::python
