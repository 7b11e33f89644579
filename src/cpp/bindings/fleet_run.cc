// Python classes of a manager and its workers: separate engines with a dispatcher between them (Dispatch),
// and a fleet in virtual time (FleetRun).
#include "fleet/fleet_run.h"

#include <functional>
#include <limits>
#include <mutex>

#include "bindings/columns.h"
#include "bindings/method.h"
#include "bindings/read.h"
#include "bindings/run_tables.h"

namespace kueue::python {

namespace {

using namespace py::literals;

DispatcherOptions ReadDispatcher(const py::dict& options) {
  DispatcherOptions read;
  read.kind = Named(options["kind"].cast<std::string>(), DispatcherKind::kAllAtOnce);
  read.step = options["step"].cast<int32_t>();
  read.round = options["round"].cast<Time>();
  read.in_config_order = options["in_config_order"].cast<bool>();
  read.worker_lost_timeout = options["worker_lost_timeout"].cast<Time>();
  return read;
}

// Reads the MultiKueue checks from pairs (name of the check, indexes of its clusters). The indexes are None
// if the check has no MultiKueueConfig.
std::vector<CheckClusters> ReadCheckClusters(const py::handle& checks) {
  return ReadItems(checks, [](const py::handle& item) -> CheckClusters {
    const auto [name, clusters] = item.cast<std::pair<std::string, std::optional<std::vector<int32_t>>>>();
    return {name, clusters.value_or(std::vector<int32_t>()), clusters.has_value()};
  });
}

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

// Records (what, cluster, workload) in the order of occurrence.
class MoveList : public DispatchListener {
 public:
  explicit MoveList(const std::vector<WorkerCluster>& clusters) : clusters_(clusters) {}
  void Moved(Move move, const Local& local, const Copy& copy) override {
    moves.append(py::make_tuple(move, clusters_[static_cast<size_t>(copy.cluster)].name, local.key));
  }
  py::list moves;

 private:
  const std::vector<WorkerCluster>& clusters_;
};

// Locks engines in a fixed order: the manager, then the workers.
class Dispatch {
 public:
  Dispatch(py::object manager, const py::list& clusters, const py::list& checks, const py::dict& options)
      : dispatcher_(WithNames(ReadDispatcher(options)), ReadCheckClusters(checks)) {
    engines_.push_back({std::move(manager), -1});
    for (const py::handle& item : clusters) {
      const auto fields = item.cast<py::tuple>();
      if (!fields[1].is_none())
        engines_.push_back({fields[1].cast<py::object>(), static_cast<int>(clusters_.size())});
      WorkerCluster cluster;
      cluster.name = fields[0].cast<std::string>();
      cluster.connected = !fields[1].is_none();
      clusters_.push_back(cluster);
    }
  }

  py::list LookAtAll() {
    return Do([this] { dispatcher_.LookAtAll(); });
  }
  py::list Collect() {
    return Do([this] { dispatcher_.CollectGarbage(); });
  }
  void SetConnected(int32_t cluster, bool connected) {
    Do([=] { dispatcher_.SetConnected(cluster, connected); });
  }
  void RefreshChecks() {
    Do([this] { dispatcher_.RefreshChecks(); });
  }
  // Clusters that are not known yet are added without an engine, and are never connected.
  void SetClusters(const std::vector<std::string>& names, const py::list& checks) {
    for (size_t i = clusters_.size(); i < names.size(); ++i) {
      WorkerCluster& added = clusters_.emplace_back();
      added.name = names[i];
      added.connected = false;
    }
    std::vector<CheckClusters> read = ReadCheckClusters(checks);
    Do([&] { dispatcher_.SetClusters(std::move(read)); });
  }
  void SetDeclared(const std::vector<bool>& declared) {
    Do([&] { dispatcher_.SetDeclared(declared); });
  }
  void Nominate(Serial serial, const std::vector<int32_t>& clusters) {
    Do([&] { dispatcher_.Nominate(PlaceOf(manager_->state(), serial), clusters); });
  }

  std::optional<DispatchView> StatusOf(Serial serial) {
    std::optional<DispatchView> status;
    Do([&] { status = dispatcher_.StatusOf(WorkloadOf(manager_->state(), serial)); });
    return status;
  }
  std::vector<CopyView> CopiesOf(Serial serial) {
    std::vector<CopyView> copies;
    Do([&] { copies = dispatcher_.CopiesOf(serial); });
    return copies;
  }

  // Returns a dispatcher with the same records for forks of these engines.
  std::unique_ptr<Dispatch> Fork(const py::object& manager, const py::list& workers) {
    auto twin = std::make_unique<Dispatch>(*this);
    size_t next = 0;
    for (Held& held : twin->engines_) {
      held.engine = held.cluster < 0 ? manager : workers[next++].cast<py::object>();
    }
    return twin;
  }

 private:
  struct Held {
    py::object engine;
    int cluster;  // -1 for the manager.
  };

  static DispatcherOptions WithNames(DispatcherOptions options) {
    options.finds_by_name = true;
    return options;
  }

  py::list Do(const std::function<void()>& use) {
    MoveList moves(clusters_);
    Nest(0, [&] {
      dispatcher_.Attach(manager_, &clusters_, &moves);
      use();
    });
    return std::move(moves.moves);
  }

  void Nest(size_t at, const std::function<void()>& use) {
    if (at == engines_.size()) return use();
    engines_[at].engine.cast<SharedEngine&>().Change([&](Engine& engine) {
      const int cluster = engines_[at].cluster;
      (cluster < 0 ? manager_ : clusters_[static_cast<size_t>(cluster)].engine) = &engine;
      Nest(at + 1, use);
    });
  }

  Dispatcher dispatcher_;
  std::vector<Held> engines_;
  std::vector<WorkerCluster> clusters_;
  Engine* manager_ = nullptr;
};

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
    const py::gil_scoped_release release;
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    return run_->Run(work, until);
  }
  // Returns 0 if no events are left, and 2 if all events at one time were processed.
  int Step(int64_t, Time until) {
    const py::gil_scoped_release release;
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    return run_->RunMoment(until) ? 2 : 0;
  }
  void Close() {
    const Lock lock(*this);
    run_->Close();
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
};

void BindFleetRun(py::module_& module) {
  py::class_<Dispatch>(module, "Dispatch")
      .def(py::init<py::object, const py::list&, const py::list&, const py::dict&>(), "manager"_a,
           "clusters"_a, "checks"_a, "options"_a)
      .def("look", &Dispatch::LookAtAll)
      .def("collect", &Dispatch::Collect)
      .def("set_connected", &Dispatch::SetConnected, "cluster"_a, "connected"_a)
      .def("refresh_checks", &Dispatch::RefreshChecks)
      .def("set_clusters", &Dispatch::SetClusters, "names"_a, "checks"_a)
      .def("set_declared", &Dispatch::SetDeclared, "declared"_a)
      .def("nominate", &Dispatch::Nominate, "id"_a, "clusters"_a)
      .def("status", &Dispatch::StatusOf, "id"_a)
      .def("copies", &Dispatch::CopiesOf, "id"_a)
      .def("fork", &Dispatch::Fork, "manager"_a, "workers"_a);
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
