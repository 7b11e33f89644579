#include "simulation/simulation.h"

#include "bindings/engine.h"
#include "bindings/pybind.h"
#include "bindings/read.h"

namespace kueue::python {
namespace {

using namespace py::literals;

// How many moments pass before signals are looked at: a few milliseconds' worth.
constexpr int64_t kMomentsAtOnce = 256;

// (time, creation time, runtime, index of the prototype, name, UID): nanoseconds.
Arrival ReadArrival(const py::handle& item) {
  const auto fields = py::reinterpret_borrow<py::tuple>(item);
  return {fields[0].cast<Time>(),    fields[1].cast<Time>(), fields[2].cast<Time>(),
          fields[3].cast<int32_t>(), Text(fields[4]),        Text(fields[5])};
}

// A run of virtual time on an engine of its own.
class VirtualRun {
 public:
  VirtualRun(SharedEngine& shared, const py::list& prototypes, const py::list& arrivals)
      : engine_(shared.Read([](const Engine& engine) { return engine; })) {
    std::vector<std::shared_ptr<const WorkloadSpec>> specs;
    for (const py::handle& item : prototypes) {
      specs.push_back(WithSharedTemplates(item, *ReadWorkload(item).spec));
    }
    std::vector<Arrival> read;
    read.reserve(arrivals.size());
    for (const py::handle& item : arrivals) {
      read.push_back(ReadArrival(item));
      const int32_t prototype = read.back().prototype;
      if (prototype < 0 || static_cast<size_t>(prototype) >= specs.size()) {
        ThrowIfError(absl::InvalidArgumentError("an arrival names a prototype that does not exist"));
      }
    }
    simulation_ = std::make_unique<Simulation>(engine_, std::move(specs), std::move(read));
  }

  // Runs for a while, not beyond a time; whether anything is left until then.
  bool Advance(Time until) {
    const py::gil_scoped_release release;
    return simulation_->Run(kMomentsAtOnce, until);
  }
  void Run() {
    while (Advance(INT64_MAX)) {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    }
  }
  py::dict Stats() const {
    const SimulationStats& stats = simulation_->stats();
    return py::dict("workloads"_a = stats.workloads, "cycles"_a = stats.cycles,
                    "admissions"_a = stats.admissions, "evictions"_a = stats.evictions,
                    "finished"_a = stats.finished, "end"_a = stats.end, "first_wait"_a = stats.first_wait,
                    "first_admitted"_a = stats.first_admitted);
  }
  std::unique_ptr<SharedEngine> Fork() const {
    return std::make_unique<SharedEngine>(std::make_shared<Engine>(engine_));
  }

 private:
  // One template for all pod sets that are one object in Python.
  std::shared_ptr<const WorkloadSpec> WithSharedTemplates(const py::handle& object, WorkloadSpec spec) {
    size_t i = 0;
    for (const py::handle& pod_set : object.attr("pod_sets")) {
      std::shared_ptr<const PodTemplate>& mine = spec.pod_sets[i++].pod_template;
      mine = templates_.try_emplace(pod_set.ptr(), mine).first->second;
    }
    return std::make_shared<const WorkloadSpec>(std::move(spec));
  }

  Engine engine_;
  std::map<PyObject*, std::shared_ptr<const PodTemplate>> templates_;
  std::unique_ptr<Simulation> simulation_;
};

}  // namespace

void BindSimulation(py::module_& module) {
  py::class_<VirtualRun>(module, "VirtualRun")
      .def(py::init<SharedEngine&, const py::list&, const py::list&>(), "engine"_a, "prototypes"_a,
           "arrivals"_a)
      .def("run", &VirtualRun::Run)
      .def("advance", &VirtualRun::Advance, "until"_a = INT64_MAX)
      .def("fork", &VirtualRun::Fork)
      .def_property_readonly("stats", &VirtualRun::Stats);
}

}  // namespace kueue::python
