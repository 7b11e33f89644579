#include "bindings/run_tables.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "bindings/columns.h"
#include "state/names.h"
#include "text/text.h"

namespace kueue::python {
namespace {

using namespace py::literals;

py::list QueueNames(const Simulation& run) {
  py::list names;
  for (NodeId queue : run.data().recorder.queues())
    names.append(run.data().engine.state().forest().Name(queue));
  return names;
}

py::list CellNames(const State& state) {
  py::list names;
  for (FlavorResourceId fr : state.flavor_resources.Ids()) names.append(FlavorResourceName(state, fr));
  return names;
}

// Returns the distinct flavors of each admission code.
py::list FlavorSets(const Simulation& run) {
  const State& state = run.data().engine.state();
  py::list names;
  for (const Assigned& assigned : run.data().recorder.assigned()) {
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
int64_t After(const Simulation& run, Time at) { return at < 0 ? -1 : at - run.data().start; }

// Returns the reason of QuotaReserved for a pending job, the reason of the deactivation for a deactivated
// job, and 0 for any other job.
Reason ReasonOf(const State& state, const Job& job) {
  if (job.state == JobState::kDeactivated) return job.outcome_reason;
  if (job.state != JobState::kWaiting) return Reason::kEmpty;
  const Condition* reserved = state.At(job.workload).Find(ConditionType::kQuotaReserved);
  return reserved == nullptr ? Reason::kEmpty : reserved->reason;
}

}  // namespace

// Results of a job. Times after the start are in nanoseconds, because they can be subtracted exactly; -1
// means never. Other times are in seconds.
struct JobRow {
  int64_t first_start, end, held;
  double lost, overhead;
  int32_t cluster_queue, flavor, state, evictions, runs, reason;
  bool borrowed, promised;
};
KUEUE_COLUMNS(JobRow, first_start, end, held, lost, overhead, cluster_queue, flavor, state, evictions, runs,
              reason, borrowed, promised);
KUEUE_COLUMNS(RunTable, job, run, reserved, start, end, flavors, outcome, progress, lost, overhead, preemptor,
              rule);
KUEUE_COLUMNS(DecisionTable, seconds, cycle, job, cluster_queue, kind, reason, rule, preemptor);
KUEUE_COLUMNS(UsageTable, seconds, cluster_queue, flavor_resource, used, nominal, borrowed, waiting, share);
KUEUE_COLUMNS(IdleTable, seconds, tree, flavor_resource, idle);
KUEUE_COLUMNS(BlockedTable, seconds, cluster_queue, blocked);
KUEUE_COLUMNS(ConsumedTable, seconds, local_queue, resource, consumed);
KUEUE_COLUMNS(CycleTable, seconds, cycle, heads, admitted, evicted);

namespace {

JobRow RowOf(const Simulation& run, const Job& job, int32_t cluster_queue) {
  const auto reason = static_cast<int32_t>(ReasonOf(run.data().engine.state(), job));
  return {After(run, job.first_start),
          After(run, job.end),
          job.held + (job.reserved >= 0 ? run.data().now() - job.reserved : 0),
          static_cast<double>(job.lost) / 1e9,
          static_cast<double>(job.overhead) / 1e9,
          cluster_queue,
          job.flavor.value(),
          static_cast<int32_t>(job.state),
          job.evictions,
          job.runs,
          reason == 0 ? -1 : reason,
          job.borrowed,
          job.promised};
}

}  // namespace

py::dict JobColumnsOf(const SharedRun& run) {
  const JobColumns& columns = run->data().jobs.columns();
  Rows<JobRow> rows(static_cast<size_t>(columns.size()));
  // ClusterQueues that admitted jobs already have codes; other queues with pending jobs are numbered after
  // them.
  Recorder& recorder = run->data().recorder;
  for (int32_t number = 0; number < columns.size(); ++number) {
    if (!run->data().jobs.IsOwn(number)) continue;
    if (run->data().jobs.PlaceOf(number) >= run->data().jobs.jobs().size())
      continue;  // The job has not arrived in this cluster.
    const Job& job = run->data().jobs.At(number);
    rows.Set(static_cast<size_t>(columns.Row(number)), RowOf(*run, job, recorder.CodeOf(job.queue)));
  }
  const State& state = run->data().engine.state();
  return rows.Take({{"cluster_queue", QueueNames(*run)},
                    {"flavor", NameList(state.flavor_names)},
                    {"state", Words("ToCome", "Waiting", "Running", "Finished", "Deactivated")},
                    {"reason", NameList(state.reasons)}});
}

py::dict RunColumnsOf(const SharedRun& run) {
  return ColumnsOf(run->data().recorder.runs(), run,
                   {{"flavors", FlavorSets(*run)},
                    {"outcome", Words("Finished", "Preempted", "Evicted", "Running")},
                    {"rule", NameList(run->data().engine.state().reasons)}});
}

py::dict DecisionColumnsOf(const SharedRun& run) {
  const py::list reasons = NameList(run->data().engine.state().reasons);
  const py::list kinds = Words("QuotaReserved", "Admitted", "Evicted", "Finished", "Requeued", "Deactivated");
  return ColumnsOf(
      run->data().recorder.decisions(), run,
      {{"cluster_queue", QueueNames(*run)}, {"kind", kinds}, {"reason", reasons}, {"rule", reasons}});
}

py::dict UsageColumnsOf(const SharedRun& run) {
  return ColumnsOf(
      run->data().recorder.usage(), run,
      {{"cluster_queue", QueueNames(*run)}, {"flavor_resource", CellNames(run->data().engine.state())}});
}

py::dict IdleColumnsOf(const SharedRun& run) {
  const State& state = run->data().engine.state();
  py::list nodes;
  for (NodeId node : state.forest().Nodes()) nodes.append(state.forest().Name(node));
  return ColumnsOf(run->data().recorder.idle(), run,
                   {{"tree", nodes}, {"flavor_resource", CellNames(state)}});
}

py::dict BlockedColumnsOf(const SharedRun& run) {
  return ColumnsOf(run->data().recorder.blocked(), run, {{"cluster_queue", QueueNames(*run)}});
}

py::dict ConsumedColumnsOf(const SharedRun& run) {
  const State& state = run->data().engine.state();
  py::list queues;
  for (const LocalQueue& queue : state.local_queues) queues.append(absl::StrCat(queue.ns, "/", queue.name));
  return ColumnsOf(run->data().recorder.consumed(), run,
                   {{"local_queue", queues}, {"resource", NameList(state.resource_names)}});
}

py::dict CycleColumnsOf(const SharedRun& run) { return ColumnsOf(run->data().recorder.cycles(), run); }

std::vector<std::vector<AssignedFlavor>> AssignedOf(const Simulation& run) {
  const State& state = run.data().engine.state();
  std::vector<std::vector<AssignedFlavor>> found;
  for (const Assigned& assigned : run.data().recorder.assigned()) {
    std::vector<AssignedFlavor>& given = found.emplace_back();
    for (const auto& [pod_set, resource, flavor, amount] : assigned) {
      given.push_back(
          {pod_set, state.resource_names.Name(resource), state.flavor_names.Name(flavor), amount});
    }
  }
  return found;
}

std::unique_ptr<SharedEngine> ForkOf(const Simulation& run) {
  auto engine = std::make_shared<Engine>(run.data().engine);
  State& state = engine->state();
  RestoreKeys(state);
  state.followed = Followed();
  engine->SetStopDelay(0);
  return std::make_unique<SharedEngine>(std::move(engine));
}

std::vector<DetectedLoop> LoopsOf(const Simulation& run) {
  std::vector<DetectedLoop> found;
  for (const Loop& loop : run.loops()) {
    found.push_back({static_cast<double>(After(run, loop.at)) / 1e9, loop.period, loop.times, loop.jobs});
  }
  return found;
}

}  // namespace kueue::python
