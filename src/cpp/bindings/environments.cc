// Python class of a set of simulations that are controlled together.
#include <algorithm>

#include "bindings/engine.h"
#include "bindings/pybind.h"
#include "bindings/read.h"
#include "bindings/threads.h"
#include "objects/kinds.h"
#include "simulation/environment.h"

namespace kueue::python {
namespace {

using namespace py::literals;

template <typename T>
using Array = py::array_t<T, py::array::c_style>;

EnvironmentOptions ReadEnvironment(std::vector<std::string> queues, const py::dict& options) {
  return {std::move(queues),
          options["interval"].cast<Time>(),
          options["episode"].cast<Time>(),
          options["step"].cast<double>(),
          {options["low"].cast<std::vector<int64_t>>(), options["high"].cast<std::vector<int64_t>>(),
           options["sums"].cast<std::vector<int32_t>>()},
          options["objects"].cast<std::vector<std::vector<size_t>>>(),
          options["start"].cast<Setting>()};
}

template <typename T>
void RequireRows(const Array<T>& rows, size_t least, size_t wide) {
  if (rows.ndim() != 2 || static_cast<size_t>(rows.shape(1)) != wide ||
      static_cast<size_t>(rows.shape(0)) < least) {
    ThrowIfError(
        absl::InvalidArgumentError("rows: must be a two-dimensional array with one row for each run"));
  }
}

class EnvironmentsHandle {
 public:
  EnvironmentsHandle(size_t size, std::vector<std::string> queues, const py::dict& options)
      : kept_(size),
        environments_(std::make_unique<Environments>(size, ReadEnvironment(std::move(queues), options))) {}
  EnvironmentsHandle(const EnvironmentsHandle&) = delete;
  EnvironmentsHandle& operator=(const EnvironmentsHandle&) = delete;
  ~EnvironmentsHandle() {
    // The threads that used the simulations exist only in the parent process. Their incomplete objects cannot
    // be destroyed safely, so they are leaked.
    if (!turn_.IsLost()) return;
    static_cast<void>(environments_.release());
    static_cast<void>(new std::vector<py::object>(std::move(kept_)));
  }

  void Begin(size_t seat, const py::object& run, Time zero, Setting values) {
    const Alone alone(turn_, kWhat);
    ThrowIfError(environments_->Begin(seat, run.attr("simulation").cast<std::shared_ptr<Simulation>>(), zero,
                                      std::move(values)));
    kept_[seat] = run;
  }

  std::vector<SetObject> Plan(const std::vector<size_t>& seats, const Array<double>& moves,
                              const Array<int64_t>& choices) {
    const Alone alone(turn_, kWhat);
    if (moves.ndim() != 2 || choices.ndim() != 2) {
      ThrowIfError(
          absl::InvalidArgumentError("actions: must be a two-dimensional array with one row for each run"));
    }
    const auto count = [](py::ssize_t size) { return static_cast<size_t>(size); };
    const Actions actions{{moves.data(), count(moves.size())},
                          {choices.data(), count(choices.size())},
                          count(std::min(moves.shape(0), choices.shape(0))),
                          count(moves.shape(1)),
                          count(choices.shape(1))};
    std::set<SetObject> missing;
    ThrowIfError(environments_->Plan(seats, actions, missing));
    return {missing.begin(), missing.end()};
  }

  void Learn(size_t object, Setting values, const py::object& made) {
    const Alone alone(turn_, kWhat);
    const Value value = ValueOf(made);
    Applying applying{ReadObject(value, /*changed=*/true), {}};
    AddIfQueue(value, applying.queues);
    environments_->Learn({object, std::move(values)}, std::move(applying));
  }

  void Start(const std::vector<size_t>& seats) {
    const Alone alone(turn_, kWhat);
    ThrowIfError(environments_->Start(seats));
  }

  bool Go(int threads, Array<float> observations, Array<double> facts) {
    const Alone alone(turn_, kWhat);
    RequireRows(observations, environments_->size(), environments_->width());
    RequireRows(facts, environments_->size(), Environments::kFacts);
    float* const told = observations.mutable_data();
    double* const sums = facts.mutable_data();
    const py::gil_scoped_release release;
    return environments_->Go(threads, told, sums);
  }

  // The values of each simulation, and its time at last.
  Array<int64_t> Values() {
    const Alone alone(turn_, kWhat);
    const size_t rows = environments_->size(), wide = rows == 0 ? 1 : environments_->ValuesOf(0).size() + 1;
    Array<int64_t> found({rows, wide});
    for (size_t seat = 0; seat < rows; ++seat) {
      const Setting& values = environments_->ValuesOf(seat);
      *std::copy(values.begin(), values.end(), found.mutable_data() + seat * wide) =
          environments_->TimeOf(seat);
    }
    return found;
  }
  size_t width() const { return environments_->width(); }

 private:
  static constexpr const char* kWhat = "this environment";

  std::vector<py::object> kept_;  // The Python objects of the simulations, which keep the arrays alive.
  std::unique_ptr<Environments> environments_;
  Turn turn_;
};

}  // namespace

void BindEnvironments(py::module_& module) {
  py::class_<Simulation, std::shared_ptr<Simulation>>(module, "SharedRun");
  py::class_<EnvironmentsHandle>(module, "Environments")
      .def(py::init<size_t, std::vector<std::string>, const py::dict&>(), "size"_a, "queues"_a, "options"_a)
      .def("begin", &EnvironmentsHandle::Begin, "seat"_a, "run"_a, "zero"_a, "values"_a)
      .def("plan", &EnvironmentsHandle::Plan, "seats"_a, "moves"_a, "choices"_a)
      .def("learn", &EnvironmentsHandle::Learn, "object"_a, "values"_a, "made"_a)
      .def("start", &EnvironmentsHandle::Start, "seats"_a)
      .def("go", &EnvironmentsHandle::Go, "threads"_a, py::arg("observations").noconvert(),
           py::arg("facts").noconvert())
      .def("values", &EnvironmentsHandle::Values)
      .def_property_readonly("width", &EnvironmentsHandle::width)
      .def_property_readonly_static("facts", [](const py::object&) { return Environments::kFacts; });
}

}  // namespace kueue::python
