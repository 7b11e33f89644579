#include "simulation/simulation.h"

#include <algorithm>
#include <atomic>

#include "bindings/engine.h"
#include "bindings/names.h"
#include "bindings/pybind.h"
#include "bindings/read.h"
#include "bindings/run_tables.h"
#include "bindings/threads.h"
#include "objects/kinds.h"
#include "objects/workload.h"
#include "state/names.h"
#include "state/rebuild.h"

namespace kueue::python {
namespace {

using namespace py::literals;

// Number of heads and events between two checks for signals. Corresponds to a few milliseconds of work.
constexpr int64_t kWork = 4096;

template <typename T>
absl::Span<const T> ReadColumn(const py::dict& columns, const char* name, size_t size,
                               std::vector<py::object>& kept) {
  if (!columns.contains(name)) return {};
  const auto array = columns[name].cast<py::array_t<T, py::array::c_style>>();
  if (static_cast<size_t>(array.size()) != size) {
    ThrowIfError(absl::InvalidArgumentError(
        absl::StrCat("column ", name, ": is of length ", array.size(), "; it must be ", size, " long")));
  }
  kept.push_back(array);
  return {array.data(), size};
}

Draws ReadDraws(const py::handle& values) {
  auto draws = values.cast<std::vector<Time>>();
  if (draws.empty())
    ThrowIfError(absl::InvalidArgumentError("draws: is empty; it must contain at least one value"));
  return Draws(std::move(draws));
}

Provisioning ReadProvisioning(const py::handle& given) {
  Provisioning provisioning{given["check"].cast<std::string>(),
                            ReadDraws(given["delay"]),
                            ReadDraws(given["fails"]),
                            given["failing"].cast<Time>(),
                            {},
                            {},
                            {},
                            {},
                            {}};
  if (!given["revoked"].is_none()) provisioning.revoked = ReadDraws(given["revoked"]);
  if (!given["expires"].is_none()) provisioning.expires = ReadDraws(given["expires"]);
  if (!given["config"].is_none()) {
    const auto [managed, waits, limit] =
        given["config"].cast<std::tuple<std::vector<std::string>, std::vector<int64_t>, int64_t>>();
    provisioning.config = ProvisioningConfig{managed, waits, limit};
  }
  for (const py::handle& item : given["capacity"]) {
    const Value object = ValueOf(item);
    provisioning.capacity.push_back(ReadObject(object, /*changed=*/true));
    AddIfQueue(object, provisioning.queues);
  }
  return provisioning;
}

Startup ReadStartup(const py::handle& given) {
  return {given["flavor"].cast<std::string>(), ReadDraws(given["delay"])};
}

Failures ReadFailures(const py::handle& given) {
  return {given["flavor"].cast<std::string>(), given["resource"].cast<std::string>(),
          given["unit"].cast<int64_t>(),       ReadDraws(given["gap"]),
          ReadDraws(given["place"]),           ReadDraws(given["repair"]),
          given["mtbf"].cast<Time>(),          given["lowers_quota"].cast<bool>()};
}

std::function<void(Engine&)> ReadDeletion(const py::handle& item) {
  const auto named = item.cast<py::tuple>();
  return [kind = named[0].cast<std::string>(), ns = named[1].cast<std::string>(),
          name = named[2].cast<std::string>()](Engine& engine) { DeleteObject(engine, kind, ns, name); };
}

// Sets the threads of an engine from a pair (count, least number of heads).
void ReadThreads(const py::handle& given, Engine& engine) {
  const auto [count, least_heads] = given.cast<std::pair<int, size_t>>();
  engine.SetThreads(count, least_heads);
}

// Reads (time, what, object or job, value): `apply` an object, `delete` (kind, namespace, name), or `finish`,
// `evict` or `priority` of a job.
TimedChange ReadChange(const py::handle& item) {
  const auto fields = item.cast<py::tuple>();
  TimedChange change;
  change.at = fields[0].cast<Time>();
  const auto what = fields[1].cast<std::string>();
  if (what == "apply") {
    const Value object = ValueOf(fields[2]);
    change.apply = ReadObject(object, /*changed=*/true);
    AddIfQueue(object, change.queues);
  } else if (what == "delete") {
    change.apply = ReadDeletion(fields[2]);
    const auto named = fields[2].cast<py::tuple>();
    if (named[0].cast<std::string>() == "ClusterQueue") change.queues = {named[2].cast<std::string>()};
  } else {
    change.what = what == "finish"  ? TimedChange::What::kFinish
                  : what == "evict" ? TimedChange::What::kEvict
                                    : TimedChange::What::kPriority;
    change.job = fields[2].cast<int32_t>();
    change.value = fields[3].cast<int64_t>();
  }
  return change;
}

SimulationOptions ReadOptions(const py::dict& given) {
  SimulationOptions options;
  const auto time = [&](const char* name) { return given[name].cast<Time>(); };
  options.model = {Named(given["on_eviction"].cast<std::string>(), OnEviction::kRestart), time("every"),
                   time("cost"), time("restore"), time("grace")};
  options.clock = {time("cycle"), time("per_head")};
  options.delays = {ReadItems(given["checks"], &ReadProvisioning), ReadItems(given["startups"], &ReadStartup),
                    ReadItems(given["failures"], &ReadFailures)};
  options.changes = ReadItems(given["changes"], &ReadChange);
  options.until = time("until");
  options.warmup = time("warmup");
  options.on_loop = given["on_loop"].cast<std::string>() == "hold" ? OnLoop::kHold : OnLoop::kStop;
  options.record = {given["decisions"].cast<bool>(), given["runs"].cast<bool>(), given["usage"].cast<bool>(),
                    given["cycles"].cast<bool>()};
  options.has_controllers = given["controllers"].cast<bool>();
  if (given.contains("site")) {
    options.site = given["site"].cast<int32_t>();
  }
  if (given.contains("start")) options.start = time("start");
  if (given.contains("metrics")) options.record.metrics = given["metrics"].cast<bool>();
  return options;
}

}  // namespace

// A simulation on its own engine. Raises StateError if two threads call its methods at the same time.
class VirtualRun {
 public:
  VirtualRun(SharedEngine& shared, const py::list& shapes, const py::dict& columns, const py::dict& options) {
    Engine engine = shared.Read([](const Engine& shared_engine) { return shared_engine; });
    EnsureBuilt(engine.state());
    SimulationOptions read = ReadOptions(options);
    ThrowIfError(CheckFailures(engine.state(), read.delays.failures));
    if (options.contains("threads")) ReadThreads(options["threads"], engine);
    simulation_ = std::make_shared<Simulation>(std::move(engine), ReadJobs(shapes, columns), std::move(read));
  }
  VirtualRun(const VirtualRun&) = delete;
  // For one cluster of a fleet. The fleet controls the simulation.
  explicit VirtualRun(std::shared_ptr<Simulation> simulation) : simulation_(std::move(simulation)) {}
  VirtualRun& operator=(const VirtualRun&) = delete;
  ~VirtualRun() {
    // The thread that used the simulation exists only in the parent process. The objects that this thread
    // left incomplete cannot be destroyed safely, so they are leaked.
    if (turn_.IsLost()) static_cast<void>(new std::shared_ptr<Simulation>(std::move(simulation_)));
  }

  std::unique_ptr<VirtualRun> Copy() {
    const Alone alone(turn_, kWhat, is_over_);
    std::unique_ptr<VirtualRun> copy(new VirtualRun);
    copy->kept_ = kept_;
    copy->templates_ = templates_;
    copy->is_over_ = is_over_.load();
    copy->simulation_ = std::make_shared<Simulation>(*simulation_);
    return copy;
  }
  bool Advance(int64_t work, Time until) {
    const Alone alone(turn_, kWhat, is_over_);
    RequireOpen();
    const py::gil_scoped_release release;
    return simulation_->Run(work, until);
  }
  // Returns 0 if no events are left, 1 if events at the current time are left, and 2 if all events at the
  // current time were processed.
  int Step(int64_t work, Time until) {
    const Alone alone(turn_, kWhat, is_over_);
    RequireOpen();
    const py::gil_scoped_release release;
    return static_cast<int>(simulation_->RunMoment(work, until));
  }
  void Plan(Time time, const std::string& kind, const py::object& subject, int64_t value) {
    const Alone alone(turn_, kWhat, is_over_);
    RequireOpen();
    TimedChange change = ReadChange(py::make_tuple(time, kind, subject, value));
    if (change.what != TimedChange::What::kApply) RequireJob(change.job);
    simulation_->Plan(std::move(change));
  }
  // Adds jobs, and shapes that are not known yet.
  void Extend(const py::list& shapes, const py::dict& columns) {
    const Alone alone(turn_, kWhat, is_over_);
    RequireOpen();
    simulation_->Extend(*ReadJobs(shapes, columns));
    kept_.clear();  // The simulation now owns its columns.
  }
  void Adopt(const py::list& known) {
    const Alone alone(turn_, kWhat, is_over_);
    RequireOpen();
    for (const py::handle& item : known) {
      const auto pair = item.cast<std::pair<int32_t, std::string>>();
      const WorkloadId workload = FindByKey(simulation_->data().engine.state(), pair.second);
      if (workload == kNoId)
        ThrowIfError(
            absl::NotFoundError(absl::StrCat("Workload \"", pair.second, "\": there is no such workload")));
      RequireJob(pair.first);
      simulation_->runs().Adopt(pair.first, workload);
    }
  }
  void Close() {
    const Alone alone(turn_, kWhat, is_over_);
    simulation_->Close();
    is_over_ = true;
  }
  std::unique_ptr<SharedEngine> Fork() {
    const Alone alone(turn_, kWhat, is_over_);
    return ForkOf(*simulation_);
  }
  // Calls `make` with the simulation to build a table.
  template <typename Make>
  auto Read(Make make) {
    const Alone alone(turn_, kWhat, is_over_);
    return make(simulation_);
  }
  // Same as above, for tables whose columns share memory with the simulation. The simulation must be closed.
  template <typename Make>
  auto ReadFinal(Make make) {
    const Alone alone(turn_, kWhat, is_over_);
    if (!simulation_->closed())
      ThrowIfError(absl::FailedPreconditionError("this Simulation is not closed; call close() first"));
    return make(simulation_);
  }
  const std::shared_ptr<Simulation>& simulation() const { return simulation_; }

 private:
  static constexpr const char* kWhat = "this Simulation";

  VirtualRun() = default;
  void RequireOpen() const {
    if (simulation_->closed()) {
      ThrowIfError(absl::FailedPreconditionError(
          "this Simulation is closed and cannot continue; result() returns results without closing it"));
    }
  }
  void RequireJob(int32_t job) const {
    if (job < 0 || job >= simulation_->data().jobs.columns().size())
      ThrowIfError(
          absl::InvalidArgumentError(absl::StrCat("job: is ", job, "; it must be an index of a job")));
  }
  std::shared_ptr<JobColumns> ReadJobs(const py::list& shapes, const py::dict& columns) {
    auto jobs = std::make_shared<JobColumns>();
    for (const py::handle& item : shapes)
      jobs->shapes.push_back(WithSharedTemplates(item, *ReadWorkload(ValueOf(item)).spec));
    ReadColumns(columns, *jobs);
    return jobs;
  }
  void ReadColumns(const py::dict& columns, JobColumns& jobs) {
    const auto size = static_cast<size_t>(py::len(columns["submit"]));
    jobs.submit = ReadColumn<int64_t>(columns, "submit", size, kept_);
    jobs.runtime = ReadColumn<int64_t>(columns, "runtime", size, kept_);
    jobs.shape = ReadColumn<int32_t>(columns, "shape", size, kept_);
    jobs.row = ReadColumn<int32_t>(columns, "row", size, kept_);
    jobs.created = ReadColumn<int64_t>(columns, "created", size, kept_);
    jobs.every = ReadColumn<int64_t>(columns, "every", size, kept_);
    jobs.cost = ReadColumn<int64_t>(columns, "cost", size, kept_);
    jobs.restore = ReadColumn<int64_t>(columns, "restore", size, kept_);
    jobs.grace = ReadColumn<int64_t>(columns, "grace", size, kept_);
    jobs.elastic = ReadColumn<uint8_t>(columns, "elastic", size, kept_);
    jobs.known = ReadColumn<uint8_t>(columns, "known", size, kept_);
    jobs.cluster = ReadColumn<int32_t>(columns, "cluster", size, kept_);
    ReadNames(columns, jobs);
    const size_t before = simulation_ ? simulation_->data().jobs.columns().shapes.size() : 0;
    RequireWhole(jobs, size, before + jobs.shapes.size());
  }
  // Reads the names, or the values from which they are generated.
  static void ReadNames(const py::dict& columns, JobColumns& jobs) {
    if (columns.contains("names")) jobs.names = columns["names"].cast<std::vector<std::string>>();
    if (columns.contains("uids")) jobs.uids = columns["uids"].cast<std::vector<std::string>>();
    if (columns.contains("prefix")) jobs.prefix = columns["prefix"].cast<std::string>();
    if (columns.contains("digits")) jobs.digits = columns["digits"].cast<int>();
    if (columns.contains("uid_digits")) jobs.uid_digits = columns["uid_digits"].cast<int>();
  }
  static void RequireWhole(const JobColumns& jobs, size_t size, size_t shapes) {
    for (int32_t shape : jobs.shape) {
      if (shape < 0 || static_cast<size_t>(shape) >= shapes) {
        ThrowIfError(absl::InvalidArgumentError(
            absl::StrCat("shape: is ", shape, "; it must be an index of a shape")));
      }
    }
    if (jobs.runtime.size() != size || jobs.shape.size() != size ||
        (!jobs.names.empty() && jobs.names.size() != size) ||
        (!jobs.uids.empty() && jobs.uids.size() != size))
      ThrowIfError(absl::InvalidArgumentError(
          "jobs: submit, runtime, shape, names and uids must each have one value per job"));
  }
  // Shares one template between all pod sets that are the same Python object.
  std::shared_ptr<const WorkloadSpec> WithSharedTemplates(const py::handle& object, WorkloadSpec spec) {
    size_t i = 0;
    for (const py::handle& pod_set : object.attr("pod_sets")) {
      std::shared_ptr<const PodTemplate>& mine = spec.pod_sets[i++].pod_template;
      // Keeps the Python object alive, so that its address is not reused.
      const auto known = py::reinterpret_borrow<py::object>(pod_set);
      mine = templates_.try_emplace(pod_set.ptr(), known, mine).first->second.second;
    }
    return std::make_shared<const WorkloadSpec>(std::move(spec));
  }

  std::vector<py::object> kept_;  // Arrays that the simulation reads.
  std::map<PyObject*, std::pair<py::object, std::shared_ptr<const PodTemplate>>> templates_;
  std::shared_ptr<Simulation> simulation_;
  Turn turn_;
  std::atomic<bool> is_over_{false};  // The simulation is closed. From then on, all calls are short.
};

namespace {

using BoundRun = py::class_<VirtualRun>;

void BindRecords(BoundRun& bound) {
  const auto add = [&bound](const char* name, auto make) {
    bound.def(name, [make](VirtualRun& run) { return run.Read(make); });
  };
  add("jobs", &JobColumnsOf);
  add("figures", [](const SharedRun& run) {
    return TotalsOf(run->data().engine.state(), run->data().figures, run->data().start);
  });
  add("assigned", [](const SharedRun& run) { return AssignedOf(*run); });
  add("loops", [](const SharedRun& run) { return LoopsOf(*run); });
  const auto add_property = [&bound](const char* name, auto get) {
    bound.def_property_readonly(name, [get](VirtualRun& run) { return run.Read(get); });
  };
  add_property("stats", [](const SharedRun& run) { return run->data().stats; });
  add_property("now", [](const SharedRun& run) { return run->data().now(); });
  add_property("start", [](const SharedRun& run) { return run->data().start; });
  add_property("stopped", [](const SharedRun& run) { return run->stopped(); });
  add_property("fruitless", [](const SharedRun& run) { return run->fruitless(); });
  const auto add_final = [&bound](const char* name, auto make) {
    bound.def(name, [make](VirtualRun& run) { return run.ReadFinal(make); });
  };
  add_final("runs", &RunColumnsOf);
  add_final("decisions", &DecisionColumnsOf);
  add_final("usage", &UsageColumnsOf);
  add_final("idle", &IdleColumnsOf);
  add_final("blocked", &BlockedColumnsOf);
  add_final("consumed", &ConsumedColumnsOf);
  add_final("cycles", &CycleColumnsOf);
}

}  // namespace

void BindSimulation(py::module_& module) {
  BoundRun bound(module, "VirtualRun");
  bound
      .def(py::init<SharedEngine&, const py::list&, const py::dict&, const py::dict&>(), "engine"_a,
           "shapes"_a, "columns"_a, "options"_a)
      .def_static(
          "of", [](std::shared_ptr<Simulation> run) { return std::make_unique<VirtualRun>(std::move(run)); },
          "run"_a)
      .def("advance", &VirtualRun::Advance, "work"_a = kWork, "until"_a = INT64_MAX)
      .def("step", &VirtualRun::Step, "work"_a = kWork, "until"_a = INT64_MAX)
      .def("plan", &VirtualRun::Plan, "time"_a, "kind"_a, "subject"_a, "value"_a)
      .def("extend", &VirtualRun::Extend, "shapes"_a, "columns"_a)
      .def("adopt", &VirtualRun::Adopt, "known"_a)
      .def("close", &VirtualRun::Close)
      .def("fork", &VirtualRun::Fork)
      .def("copy", &VirtualRun::Copy)
      .def_property_readonly("simulation", &VirtualRun::simulation);
  BindRecords(bound);
}

}  // namespace kueue::python
