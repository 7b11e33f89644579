#include "bindings/run_tables.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kueue::python {
namespace {

using namespace py::literals;

// A column in memory that `owner` keeps alive.
template <typename T, typename Owner>
py::array View(const std::vector<T>& values, const std::shared_ptr<Owner>& owner) {
  auto* held = new std::shared_ptr<const void>(owner);
  const py::capsule base(held,
                         [](void* pointer) { delete static_cast<std::shared_ptr<const void>*>(pointer); });
  py::array array(py::dtype::of<T>(), {values.size()}, {sizeof(T)}, values.data(), base);
  array.attr("setflags")("write"_a = false);
  return array;
}

// A column that owns its values.
template <typename T>
py::array Made(std::vector<T> values) {
  const auto held = std::make_shared<const std::vector<T>>(std::move(values));
  return View(*held, held);
}

py::list QueueNames(const Simulation& run) {
  py::list names;
  for (NodeId queue : run.recorder().queues()) names.append(run.engine().state().forest().Name(queue));
  return names;
}

std::string CellName(const State& state, FlavorResourceId cell) {
  const auto& [flavor, resource] = state.flavor_resources[cell];
  return absl::StrCat(state.flavor_names.Name(flavor), "/", state.resource_names.Name(resource));
}

py::list CellNames(const State& state) {
  py::list names;
  for (FlavorResourceId cell : state.flavor_resources.Ids()) names.append(CellName(state, cell));
  return names;
}

template <typename IdT>
py::list NamesOf(const Interner<IdT>& interner) {
  py::list names;
  for (IdT id : interner.Ids()) names.append(interner.Name(id));
  return names;
}

// Returns the distinct flavors of each admission code.
py::list FlavorSets(const Simulation& run) {
  const State& state = run.engine().state();
  py::list names;
  for (const Assigned& assigned : run.recorder().assigned()) {
    std::vector<std::string> flavors;
    for (const auto& given : assigned) {
      const std::string& flavor = state.flavor_names.Name(std::get<2>(given));
      if (std::find(flavors.begin(), flavors.end(), flavor) == flavors.end()) flavors.push_back(flavor);
    }
    names.append(absl::StrJoin(flavors, ","));
  }
  return names;
}

template <typename... Text>
py::list Words(Text... text) {
  py::list words;
  (words.append(text), ...);
  return words;
}

// Returns the time after the start in nanoseconds, or -1 for never. Unlike seconds, nanoseconds can be
// subtracted exactly.
int64_t After(const Simulation& run, Time at) { return at < 0 ? -1 : at - run.start(); }

// Returns the reason of QuotaReserved for a pending job, the reason of the deactivation for a deactivated
// job, and 0 for any other job.
Reason ReasonOf(const State& state, const Job& job) {
  if (job.state == JobState::kDeactivated) return job.outcome_reason;
  if (job.state != JobState::kWaiting) return Reason::kEmpty;
  const Condition* reserved = state.At(job.workload).Find(ConditionType::kQuotaReserved);
  return reserved == nullptr ? Reason::kEmpty : reserved->reason;
}

// Results of the jobs, one row per job.
class JobTable {
 public:
  explicit JobTable(size_t size)
      : first_start_(size),
        end_(size),
        held_(size),
        lost_(size),
        overhead_(size),
        queue_(size),
        flavor_(size),
        status_(size),
        evictions_(size),
        runs_(size),
        reason_(size),
        borrowed_(size),
        promised_(size) {}

  void Write(size_t row, const Simulation& run, const Job& job) {
    first_start_[row] = After(run, job.first_start);
    end_[row] = After(run, job.end);
    held_[row] = job.held + (job.reserved >= 0 ? run.now() - job.reserved : 0);
    lost_[row] = static_cast<double>(job.lost) / 1e9;
    overhead_[row] = static_cast<double>(job.overhead) / 1e9;
    flavor_[row] = job.flavor.value();
    status_[row] = static_cast<int32_t>(job.state);
    evictions_[row] = job.evictions;
    runs_[row] = job.runs;
    const auto why = static_cast<int32_t>(ReasonOf(run.engine().state(), job));
    reason_[row] = why == 0 ? -1 : why;
    borrowed_[row] = job.borrowed ? 1 : 0;
    promised_[row] = job.promised ? 1 : 0;
  }
  void WriteQueue(size_t row, int32_t code) { queue_[row] = code; }

  // Moves the values into columns.
  py::dict Columns(const Simulation& run) {
    const State& state = run.engine().state();
    const py::list states = Words("ToCome", "Waiting", "Running", "Finished", "Deactivated");
    return py::dict("first_start"_a = Made(std::move(first_start_)), "end"_a = Made(std::move(end_)),
                    "held"_a = Made(std::move(held_)), "lost"_a = Made(std::move(lost_)),
                    "overhead"_a = Made(std::move(overhead_)),
                    "cluster_queue"_a = py::make_tuple(Made(std::move(queue_)), QueueNames(run)),
                    "flavor"_a = py::make_tuple(Made(std::move(flavor_)), NamesOf(state.flavor_names)),
                    "state"_a = py::make_tuple(Made(std::move(status_)), states),
                    "evictions"_a = Made(std::move(evictions_)), "runs"_a = Made(std::move(runs_)),
                    "reason"_a = py::make_tuple(Made(std::move(reason_)), NamesOf(state.reasons)),
                    "borrowed"_a = Made(std::move(borrowed_)).view("bool"),
                    "promised"_a = Made(std::move(promised_)).view("bool"));
  }

 private:
  std::vector<int64_t> first_start_, end_, held_;  // Nanoseconds.
  std::vector<double> lost_, overhead_;
  std::vector<int32_t> queue_, flavor_, status_, evictions_, runs_, reason_;
  std::vector<uint8_t> borrowed_, promised_;
};

}  // namespace

py::dict JobColumnsOf(const SharedRun& run) {
  const JobColumns& columns = run->columns();
  JobTable table(static_cast<size_t>(columns.size()));
  // ClusterQueues that admitted jobs already have codes; other queues with pending jobs are numbered after
  // them.
  Recorder& recorder = run->recorder();
  for (int32_t number = 0; number < columns.size(); ++number) {
    if (!run->IsOwn(number)) continue;
    if (run->PlaceOf(number) >= run->jobs().size()) continue;  // The job has not arrived in this cluster.
    const Job& job = run->JobAt(number);
    const auto row = static_cast<size_t>(columns.Row(number));
    table.Write(row, *run, job);
    table.WriteQueue(row, recorder.CodeOf(job.queue));
  }
  return table.Columns(*run);
}

py::dict RunColumnsOf(const SharedRun& run) {
  const RunTable& table = run->recorder().runs();
  const py::list reasons = NamesOf(run->engine().state().reasons);
  return py::dict("job"_a = View(table.job, run), "run"_a = View(table.run, run),
                  "reserved"_a = View(table.reserved, run), "start"_a = View(table.start, run),
                  "end"_a = View(table.end, run),
                  "flavors"_a = py::make_tuple(View(table.assigned, run), FlavorSets(*run)),
                  "outcome"_a = py::make_tuple(View(table.outcome, run),
                                               Words("Finished", "Preempted", "Evicted", "Running")),
                  "progress"_a = View(table.progress, run), "lost"_a = View(table.lost, run),
                  "overhead"_a = View(table.overhead, run), "preemptor"_a = View(table.preemptor, run),
                  "rule"_a = py::make_tuple(View(table.rule, run), reasons));
}

py::dict DecisionColumnsOf(const SharedRun& run) {
  const DecisionTable& table = run->recorder().decisions();
  const py::list reasons = NamesOf(run->engine().state().reasons);
  return py::dict(
      "seconds"_a = View(table.seconds, run), "cycle"_a = View(table.cycle, run),
      "job"_a = View(table.job, run),
      "cluster_queue"_a = py::make_tuple(View(table.cluster_queue, run), QueueNames(*run)),
      "kind"_a = py::make_tuple(View(table.kind, run), Words("QuotaReserved", "Admitted", "Evicted",
                                                             "Finished", "Requeued", "Deactivated")),
      "reason"_a = py::make_tuple(View(table.reason, run), reasons),
      "rule"_a = py::make_tuple(View(table.rule, run), reasons), "preemptor"_a = View(table.preemptor, run));
}

py::dict UsageColumnsOf(const SharedRun& run) {
  const UsageTable& table = run->recorder().usage();
  return py::dict(
      "seconds"_a = View(table.seconds, run),
      "cluster_queue"_a = py::make_tuple(View(table.cluster_queue, run), QueueNames(*run)),
      "flavor_resource"_a = py::make_tuple(View(table.cell, run), CellNames(run->engine().state())),
      "used"_a = View(table.used, run), "nominal"_a = View(table.nominal, run),
      "borrowed"_a = View(table.borrowed, run), "waiting"_a = View(table.waiting, run),
      "share"_a = View(table.share, run));
}

py::dict IdleColumnsOf(const SharedRun& run) {
  const IdleTable& table = run->recorder().idle();
  const State& state = run->engine().state();
  py::list nodes;
  for (NodeId node : state.forest().Nodes()) nodes.append(state.forest().Name(node));
  return py::dict("seconds"_a = View(table.seconds, run),
                  "tree"_a = py::make_tuple(View(table.tree, run), nodes),
                  "flavor_resource"_a = py::make_tuple(View(table.cell, run), CellNames(state)),
                  "idle"_a = View(table.idle, run));
}

py::dict BlockedColumnsOf(const SharedRun& run) {
  const BlockedTable& table = run->recorder().blocked();
  return py::dict("seconds"_a = View(table.seconds, run),
                  "cluster_queue"_a = py::make_tuple(View(table.cluster_queue, run), QueueNames(*run)),
                  "blocked"_a = View(table.blocked, run));
}

py::dict ConsumedColumnsOf(const SharedRun& run) {
  const ConsumedTable& table = run->recorder().consumed();
  const State& state = run->engine().state();
  py::list queues;
  for (const LocalQueue& queue : state.local_queues) queues.append(absl::StrCat(queue.ns, "/", queue.name));
  return py::dict("seconds"_a = View(table.seconds, run),
                  "local_queue"_a = py::make_tuple(View(table.local_queue, run), queues),
                  "resource"_a = py::make_tuple(View(table.resource, run), NamesOf(state.resource_names)),
                  "consumed"_a = View(table.consumed, run));
}

py::dict CycleColumnsOf(const SharedRun& run) {
  const CycleTable& table = run->recorder().cycles();
  return py::dict("seconds"_a = View(table.seconds, run), "cycle"_a = View(table.cycle, run),
                  "heads"_a = View(table.heads, run), "admitted"_a = View(table.admitted, run),
                  "evicted"_a = View(table.evicted, run));
}

namespace {

py::dict ViewQueue(const State& state, const QueueFigures& queue) {
  py::dict cells;
  for (const auto& [cell, use] : queue.cells) {
    cells[py::str(CellName(state, cell))] =
        py::make_tuple(use.used.total(), use.nominal.total(), use.borrowed.total(), use.use.used);
  }
  return py::dict("waits"_a = queue.waits.total(),
                  "most_waiting"_a = static_cast<int64_t>(queue.waits.most()),
                  "blocked"_a = queue.blocked.total(), "somebody_waits"_a = queue.somebody_waits.total(),
                  "cells"_a = cells);
}

// Includes queues that have quota or had pending jobs.
py::dict ViewQueues(const State& state, const Figures& figures) {
  py::dict queues;
  for (NodeId node : figures.queues().Ids()) {
    const QueueFigures& queue = figures.queues()[node];
    if (queue.cells.empty() && queue.waits.most() == 0) continue;
    queues[py::str(state.forest().Name(node))] = ViewQueue(state, queue);
  }
  return queues;
}

py::list ViewTrees(const State& state, const Figures& figures) {
  py::list trees;
  for (const TreeFigures& tree : figures.trees()) {
    trees.append(py::make_tuple(state.forest().Name(tree.root), CellName(state, tree.cell), tree.idle.total(),
                                tree.lent.total()));
  }
  return trees;
}

template <typename Amounts>
py::dict ByCell(const State& state, const Amounts& amounts) {
  py::dict view;
  for (const auto& [cell, amount] : amounts) view[py::str(CellName(state, cell))] = amount;
  return view;
}

py::list ViewEvictions(const State& state, const Figures& figures) {
  py::list evictions;
  const auto name = [&](NodeId node) { return node == kNoId ? "" : state.forest().Name(node); };
  for (const auto& [who, found] : figures.evictions()) {
    const auto& [victim, preemptor, rule] = who;
    evictions.append(py::make_tuple(name(victim), name(preemptor),
                                    rule == Reason::kEmpty ? "" : state.reasons.Name(rule), found.count,
                                    ByCell(state, found.lost)));
  }
  return evictions;
}

}  // namespace

// Integrals are in amounts times nanoseconds, or in nanoseconds.
py::dict FiguresOf(const Simulation& run) {
  const State& state = run.engine().state();
  const Figures& figures = run.figures();
  py::dict nominal;
  for (const auto& [cell, all] : figures.nominal()) nominal[py::str(CellName(state, cell))] = all.total();
  const SubmissionFigures& submissions = figures.submissions();
  const py::dict submitted("until"_a = submissions.until < 0 ? -1 : submissions.until - run.start(),
                           "used"_a = ByCell(state, submissions.used),
                           "nominal"_a = ByCell(state, submissions.nominal));
  return py::dict("submitted"_a = submitted, "queues"_a = ViewQueues(state, figures),
                  "trees"_a = ViewTrees(state, figures), "evictions"_a = ViewEvictions(state, figures),
                  "nominal"_a = nominal, "lost"_a = ByCell(state, figures.lost()),
                  "overhead"_a = ByCell(state, figures.overhead()), "waits"_a = figures.waits().total(),
                  "most_waiting"_a = static_cast<int64_t>(figures.waits().most()),
                  "borrowing"_a = figures.borrowing().total());
}

std::vector<std::vector<AssignedFlavor>> AssignedOf(const Simulation& run) {
  const State& state = run.engine().state();
  std::vector<std::vector<AssignedFlavor>> found;
  for (const Assigned& assigned : run.recorder().assigned()) {
    std::vector<AssignedFlavor>& given = found.emplace_back();
    for (const auto& [pod_set, resource, flavor, amount] : assigned) {
      given.push_back(
          {pod_set, state.resource_names.Name(resource), state.flavor_names.Name(flavor), amount});
    }
  }
  return found;
}

std::vector<DetectedLoop> LoopsOf(const Simulation& run) {
  std::vector<DetectedLoop> found;
  for (const Loop& loop : run.loops()) {
    found.push_back({static_cast<double>(After(run, loop.at)) / 1e9, loop.period, loop.times, loop.jobs});
  }
  return found;
}

}  // namespace kueue::python
