// Python class of a fleet in virtual time.
#include "fleet/fleet_run.h"

#include <functional>
#include <limits>
#include <mutex>
#include <type_traits>

#include "absl/cleanup/cleanup.h"
#include "bindings/columns.h"
#include "bindings/dispatch.h"
#include "bindings/read.h"
#include "bindings/run_tables.h"

namespace kueue::python {
namespace {

using namespace py::literals;

FleetOptions ReadFleetOptions(const py::dict& given) {
  FleetOptions options;
  options.dispatcher = ReadDispatcher(given);
  options.dispatcher.is_virtual_time = true;
  options.checks = ReadCheckClusters(given["checks"]);
  options.names = given["names"].cast<std::vector<std::string>>();
  options.sync = given["sync"].cast<std::vector<Time>>();
  options.until = given["until"].cast<Time>();
  options.connections = ReadItems(given["connections"], [](const py::handle& item) -> ConnectionChange {
    const auto [at, cluster, connected] = item.cast<std::tuple<Time, int32_t, bool>>();
    return {at, cluster, connected};
  });
  return options;
}

}  // namespace

// Result of one of the manager's jobs, in seconds.
struct FateRow {
  double dispatched, admitted_on_worker, first_start, end, closed, idle, held, lost, overhead;
  int32_t copies, starts, retries, rounds, cluster;
  bool runs_now;
};
KUEUE_COLUMNS(FateRow, dispatched, admitted_on_worker, first_start, end, closed, idle, held, lost, overhead,
              copies, starts, retries, rounds, cluster, runs_now);
KUEUE_COLUMNS(CopyTable, job, cluster, made, reserved, admitted, removed, outcome, preempted, preempted_lost,
              held, assigned);

class FleetHandle {
 public:
  // `runs` contains the VirtualRuns of the manager and the workers. They keep their arrays alive.
  FleetHandle(const py::list& runs, const py::dict& options) : kept_(runs) {
    std::vector<std::shared_ptr<Simulation>> sites;
    for (const py::handle& run : runs)
      sites.push_back(run.attr("simulation").cast<std::shared_ptr<Simulation>>());
    run_ = std::make_unique<FleetRun>(std::move(sites), ReadFleetOptions(options));
    if (!options["external"].is_none()) SetExternal(options["external"]);
  }
  FleetHandle(const FleetHandle& other) : kept_(other.kept_) {
    const Lock lock(other);
    run_ = std::make_unique<FleetRun>(*other.run_);
  }
  FleetHandle& operator=(const FleetHandle&) = delete;

  bool Advance(int64_t work, Time until) {
    return AdvanceBy([&] { return run_->Run(work, until); });
  }
  // Returns 0 if no events are left, and 2 if all events at one time were processed.
  int Step(int64_t, Time until) {
    return AdvanceBy([&] { return run_->RunMoment(until) ? 2 : 0; });
  }
  void Close() {
    AdvanceBy([&] { run_->Close(); });
  }
  py::list Sites() const {
    const Lock lock(*this);
    py::list sites;
    for (const auto& site : run_->sites()) sites.append(py::cast(site));
    return sites;
  }
  // Calls `get` with the fleet.
  template <typename Get>
  auto Read(Get get) const {
    const Lock lock(*this);
    return get(*run_);
  }
  // Returns the results of the manager's jobs, by row.
  py::dict Fates() const {
    const Lock lock(*this);
    const JobColumns& columns = run_->manager().data().jobs.columns();
    const auto size = static_cast<size_t>(columns.size());
    const auto seconds = [this](Time at) {
      return at < 0 ? std::numeric_limits<double>::quiet_NaN() : run_->manager().data().recorder.Seconds(at);
    };
    const auto length = [](Time time) { return static_cast<double>(time) / 1e9; };
    Rows<FateRow> rows(size);
    for (int32_t job = 0; job < columns.size(); ++job) {
      const Fate fate = run_->results().FateOf(job, run_->now());
      rows.Set(static_cast<size_t>(columns.Row(job)),
               {seconds(fate.dispatched), seconds(fate.admitted), seconds(fate.first_start),
                seconds(fate.end), seconds(fate.closed), length(fate.idle),
                length(fate.done + fate.lost + fate.overhead), length(fate.lost), length(fate.overhead),
                fate.copies, fate.starts, fate.retries, fate.rounds, fate.cluster, fate.runs});
    }
    return rows.Take();
  }
  py::dict Copies() const {
    const Lock lock(*this);
    const auto table = std::make_shared<const CopyTable>(run_->results().copies());
    return ColumnsOf(*table, table);
  }
  // Returns the rows of jobs in a dispatch loop.
  std::vector<int32_t> Loops() const {
    const Lock lock(*this);
    std::vector<int32_t> rows;
    for (int32_t job : run_->results().loops())
      rows.push_back(run_->manager().data().jobs.columns().Row(job));
    return rows;
  }
  std::unique_ptr<SharedEngine> Fork(size_t site) const {
    const Lock lock(*this);
    return ForkOf(*run_->sites().at(site));
  }

 private:
  // Advances the run. The External, which is called in the meantime, may only read it.
  template <typename Call>
  std::invoke_result_t<Call> AdvanceBy(const Call& call) {
    const py::gil_scoped_release release;
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    if (is_advancing_) {
      ThrowIfError(absl::FailedPreconditionError(
          "this Simulation is in use by a function that it called, which may only read it"));
    }
    is_advancing_ = true;
    const absl::Cleanup over = [this] { is_advancing_ = false; };
    return call();
  }

  // Acquires the mutex without holding the GIL, which a running External needs.
  class Lock {
   public:
    explicit Lock(const FleetHandle& handle) : handle_(handle) {
      if (handle_.mutex_.try_lock()) return;
      const py::gil_scoped_release release;
      handle_.mutex_.lock();
    }
    ~Lock() { handle_.mutex_.unlock(); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    const FleetHandle& handle_;
  };

  void SetExternal(const py::object& choose) {
    run_->SetExternal([choose](const FleetRun& run, int32_t job,
                               std::vector<int32_t> clusters) -> std::optional<std::vector<int32_t>> {
      const py::gil_scoped_acquire acquire;
      const py::object chosen = choose(run.manager().data().jobs.columns().Row(job), clusters, run.now());
      if (chosen.is_none()) return std::nullopt;
      return chosen.cast<std::vector<int32_t>>();
    });
  }

  py::list kept_;
  std::unique_ptr<FleetRun> run_;
  mutable std::recursive_mutex mutex_;
  bool is_advancing_ = false;
};

void BindFleetRun(py::module_& module) {
  py::class_<FleetHandle> bound(module, "FleetRun");
  bound.def(py::init<const py::list&, const py::dict&>(), "runs"_a, "options"_a)
      .def("advance", &FleetHandle::Advance, "work"_a = 4096, "until"_a = INT64_MAX)
      .def("step", &FleetHandle::Step, "work"_a = 4096, "until"_a = INT64_MAX)
      .def("close", &FleetHandle::Close)
      .def("copy", [](const FleetHandle& run) { return std::make_unique<FleetHandle>(run); })
      .def("fork", &FleetHandle::Fork, "site"_a)
      .def("fates", &FleetHandle::Fates)
      .def("copies", &FleetHandle::Copies)
      .def("dispatch_loops", &FleetHandle::Loops)
      .def_property_readonly("sites", &FleetHandle::Sites);
  const auto add = [&bound](const char* name, auto get) {
    bound.def_property_readonly(name, [get](const FleetHandle& run) { return run.Read(get); });
  };
  add("stats", std::mem_fn(&FleetRun::stats));
  add("now", std::mem_fn(&FleetRun::now));
  add("start", [](const FleetRun& run) { return run.manager().data().start; });
  add("stopped", std::mem_fn(&FleetRun::stopped));
  add("fruitless", std::mem_fn(&FleetRun::fruitless));
  add("dispatch_wait", [](const FleetRun& run) { return run.results().dispatch_wait(); });
}

}  // namespace kueue::python
