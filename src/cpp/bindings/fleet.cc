// A set of simulations that are controlled together, for example as vectorized environments for reinforcement
// learning.
#include <algorithm>
#include <cmath>
#include <map>

#include "absl/container/flat_hash_map.h"
#include "bindings/engine.h"
#include "bindings/pybind.h"
#include "bindings/read.h"
#include "bindings/threads.h"
#include "model/pool.h"
#include "simulation/knobs.h"
#include "simulation/queue_watch.h"

namespace kueue::python {
namespace {

using namespace py::literals;

template <typename T>
using Array = py::array_t<T, py::array::c_style>;
using Setting = std::vector<int64_t>;

// Number of heads and events of a simulation between two checks for signals.
constexpr int64_t kWorkOfTurn = 1 << 16;
constexpr int kColumns = 9;
constexpr double kMost = 1e6, kSeconds = 1e9, kDay = 86400, kTurn = 6.283185307179586, kLostCounts = 0.1;

}  // namespace

// A function that applies an object. `queues` contains the object's name if it is a ClusterQueue.
struct Applying {
  std::function<void(Engine&)> apply;
  std::vector<std::string> queues;
};

// One simulation and its parameters.
struct Seat {
  py::object kept;  // The Python object of the simulation. It keeps the arrays alive.
  std::shared_ptr<Simulation> run;
  std::unique_ptr<QueueWatch> watch;
  Setting values, wanted;
  Time zero = 0, time = 0;
  bool moves = false;  // The simulation has not reached the end of the interval yet.
  std::vector<double> sums;
};

class Fleet {
 public:
  Fleet(size_t size, const std::vector<std::string>& queues, const py::dict& options)
      : queues_(queues),
        interval_(options["interval"].cast<Time>()),
        episode_(options["episode"].cast<Time>()),
        step_(options["step"].cast<double>()),
        knobs_{options["low"].cast<std::vector<int64_t>>(), options["high"].cast<std::vector<int64_t>>(),
               options["sums"].cast<std::vector<int32_t>>()},
        objects_(options["objects"].cast<std::vector<std::vector<size_t>>>()),
        seats_(size) {
    for (Seat& at : seats_) at.values = options["start"].cast<Setting>();
  }
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;
  ~Fleet() {
    // The threads that used the simulations exist only in the parent process. Their incomplete objects cannot
    // be destroyed safely, so they are leaked.
    if (turn_.IsLost()) static_cast<void>(new std::vector<Seat>(std::move(seats_)));
  }

  // Starts a simulation. `values` are the values of its parameters at the start.
  void Begin(size_t seat, const py::object& run, Time zero, Setting values) {
    const Alone alone(turn_, kWhat);
    Seat& at = seats_.at(seat);
    if (values.size() != at.values.size())
      ThrowIfError(absl::InvalidArgumentError("values: there must be one value for each setting"));
    at = Seat();
    at.kept = run;
    at.run = run.attr("simulation").cast<std::shared_ptr<Simulation>>();
    at.watch = std::make_unique<QueueWatch>(queues_);
    at.values = values;
    at.wanted = std::move(values);
    at.zero = zero;
    at.moves = true;
    at.sums.assign(5, 0);
  }

  // Computes the parameters of the simulations for the next interval. Returns the required objects that are
  // not known yet, without duplicates.
  py::list Plan(const std::vector<size_t>& seats, const Array<double>& moves, const Array<int64_t>& choices) {
    const Alone alone(turn_, kWhat);
    if (moves.ndim() != 2 || choices.ndim() != 2)
      ThrowIfError(
          absl::InvalidArgumentError("actions: must be a two-dimensional array with one row for each run"));
    if (known_.size() >= kMostKnown) known_.clear();
    std::map<std::pair<size_t, Setting>, bool> missing;
    for (size_t i = 0; i < seats.size(); ++i) {
      Seat& at = seats_.at(seats[i]);
      if (at.run == nullptr || at.moves)
        ThrowIfError(
            absl::FailedPreconditionError("no episode is waiting for an action; call reset() first"));
      at.wanted = Wanted(at.values, static_cast<py::ssize_t>(i), moves, choices);
      for (size_t object : Changed(at)) {
        auto key = std::make_pair(object, Of(object, at.wanted));
        if (!known_.contains(key)) missing.emplace(std::move(key), true);
      }
    }
    py::list found;
    for (const auto& [key, unused] : missing) found.append(py::make_tuple(key.first, key.second));
    return found;
  }

  void Learn(size_t object, Setting values, const py::object& made) {
    const Alone alone(turn_, kWhat);
    auto apply = std::make_shared<Applying>();
    apply->apply = ReadObject(made, /*changed=*/true);
    AddIfQueue(made, apply->queues);
    known_[{object, std::move(values)}] = std::move(apply);
  }

  // Starts the next interval: applies the changed objects and sets the end of the interval.
  void Start(const std::vector<size_t>& seats) {
    const Alone alone(turn_, kWhat);
    for (size_t seat : seats) {
      Seat& at = seats_.at(seat);
      std::vector<std::shared_ptr<const Applying>> changes;
      for (size_t object : Changed(at)) {
        const auto known = known_.find({object, Of(object, at.wanted)});
        if (known == known_.end())
          ThrowIfError(absl::FailedPreconditionError("start() requires a call of plan() before it"));
        changes.push_back(known->second);
      }
      if (!changes.empty()) {
        TimedChange change;
        change.at = SaturatingAdd(at.zero, at.time);
        for (const auto& object : changes)
          change.queues.insert(change.queues.end(), object->queues.begin(), object->queues.end());
        change.apply = [changes = std::move(changes)](Engine& engine) {
          for (const auto& object : changes) object->apply(engine);
        };
        at.run->Plan(std::move(change));
      }
      at.values = at.wanted;
      at.time = std::min(SaturatingAdd(at.time, interval_), episode_);
      at.moves = true;
    }
  }

  // Advances all simulations. Each simulation that reaches the end of its interval writes its rows. Returns
  // whether all simulations have reached it.
  bool Go(int threads, Array<float> observations, Array<double> facts) {
    const Alone alone(turn_, kWhat);
    RequireRows(observations, width());
    RequireRows(facts, kFacts);
    std::vector<size_t> moving;
    for (size_t seat = 0; seat < seats_.size(); ++seat) {
      if (seats_[seat].moves) moving.push_back(seat);
    }
    float* told = observations.mutable_data();
    double* sums = facts.mutable_data();
    const auto wide = static_cast<size_t>(width());
    const py::gil_scoped_release release;
    pool_.Do(threads, moving.size(), [&](size_t i) {
      Seat& at = seats_[moving[i]];
      if (at.run->Run(kWorkOfTurn, SaturatingAdd(at.zero, at.time))) return;
      at.moves = false;
      Tell(at, {told + moving[i] * wide, wide}, {sums + moving[i] * kFacts, kFacts});
    });
    return std::none_of(moving.begin(), moving.end(), [&](size_t seat) { return seats_[seat].moves; });
  }

  // Returns a row of parameters for each simulation.
  Array<int64_t> Values() {
    const Alone alone(turn_, kWhat);
    const size_t wide = seats_.empty() ? 0 : seats_.front().values.size();
    Array<int64_t> found({seats_.size(), wide});
    for (size_t seat = 0; seat < seats_.size(); ++seat)
      std::copy(seats_[seat].values.begin(), seats_[seat].values.end(), found.mutable_data() + seat * wide);
    return found;
  }
  // Returns the time since the start of each simulation's episode.
  Array<int64_t> Times() {
    const Alone alone(turn_, kWhat);
    Array<int64_t> found(static_cast<py::ssize_t>(seats_.size()));
    for (size_t seat = 0; seat < seats_.size(); ++seat) found.mutable_data()[seat] = seats_[seat].time;
    return found;
  }
  py::ssize_t width() const { return static_cast<py::ssize_t>(queues_.size()) * kColumns + 2; }

  static constexpr int kFacts = 12;

 private:
  template <typename T>
  void RequireRows(const Array<T>& rows, py::ssize_t wide) const {
    const auto seats = static_cast<py::ssize_t>(seats_.size());
    if (rows.ndim() != 2 || rows.shape(1) != wide || rows.shape(0) < seats)
      ThrowIfError(
          absl::InvalidArgumentError("rows: must be a two-dimensional array with one row for each run"));
  }

  // Returns the parameters after applying a row of actions.
  Setting Wanted(const Setting& values, py::ssize_t row, const Array<double>& moves,
                 const Array<int64_t>& choices) const {
    const auto numbers = static_cast<py::ssize_t>(knobs_.low.size());
    if (moves.shape(1) != numbers || row >= moves.shape(0) || row >= choices.shape(0) ||
        numbers + choices.shape(1) != static_cast<py::ssize_t>(values.size()))
      ThrowIfError(
          absl::InvalidArgumentError("actions: their shape differs from the shape of the action space"));
    Setting wanted = values;
    if (numbers > 0) Move(moves.data(row, 0), wanted);
    for (py::ssize_t place = 0; place < choices.shape(1); ++place)
      wanted[static_cast<size_t>(numbers + place)] = choices.at(row, place);
    return wanted;
  }

  void Move(const double* action, Setting& values) const {
    std::vector<double> by(knobs_.low.size());
    for (size_t i = 0; i < by.size(); ++i) {
      if (std::isnan(action[i]))
        ThrowIfError(absl::InvalidArgumentError("actions: is nan; it must be a number"));
      by[i] = std::clamp(action[i], -1.0, 1.0) * step_;
    }
    knobs_.Move(by, absl::MakeSpan(values).subspan(0, by.size()));
  }

  // Returns the objects with a changed parameter.
  std::vector<size_t> Changed(const Seat& at) const {
    std::vector<size_t> found;
    for (size_t object = 0; object < objects_.size(); ++object) {
      const std::vector<size_t>& places = objects_[object];
      if (std::any_of(places.begin(), places.end(), [&](size_t i) { return at.values[i] != at.wanted[i]; }))
        found.push_back(object);
    }
    return found;
  }

  Setting Of(size_t object, const Setting& values) const {
    Setting found;
    for (size_t place : objects_[object]) found.push_back(values[place]);
    return found;
  }

  // Writes the rows of a simulation that has reached the end of its interval.
  void Tell(Seat& at, absl::Span<float> observation, absl::Span<double> facts) const {
    const Time now = SaturatingAdd(at.zero, at.time);
    const std::vector<QueueView> before = at.watch->views();
    const std::vector<QueueView>& views = at.watch->Look(*at.run, now);
    for (size_t i = 0; i < views.size(); ++i) {
      WriteQueue(views[i], before[i], now, observation.subspan(i * kColumns, kColumns));
    }
    const double angle = kTurn * static_cast<double>(at.time) / kSeconds / kDay;
    observation[observation.size() - 2] = static_cast<float>(std::sin(angle));
    observation[observation.size() - 1] = static_cast<float>(std::cos(angle));
    std::vector<double> sums = Sums(views);
    sums[4] = LostPart(*at.run) / kSeconds;
    const double interval = static_cast<double>(interval_) / kSeconds;
    facts[0] = -(sums[1] - at.sums[1]) / interval / static_cast<double>(views.size());
    facts[1] = -kLostCounts * (sums[4] - at.sums[4]) / interval;
    std::copy(at.sums.begin(), at.sums.end(), facts.begin() + 2);
    std::copy(sums.begin(), sums.end(), facts.begin() + 7);
    at.sums = std::move(sums);
  }

  void WriteQueue(const QueueView& view, const QueueView& before, Time now, absl::Span<float> row) const {
    const double episode = std::log1p(static_cast<double>(episode_) / kSeconds);
    const double age =
        view.oldest < 0 ? 0 : static_cast<double>(std::max<Time>(0, now - view.oldest)) / kSeconds;
    const auto put = [](double value) { return static_cast<float>(std::min(value, kMost)); };
    row[0] = put(std::log1p(static_cast<double>(view.waiting)));
    row[1] = put(std::log1p(static_cast<double>(view.top_waiting)));
    row[2] = put(std::log1p(age) / episode);
    row[3] = put(view.used);
    row[4] = put(view.nominal);
    row[5] = put(view.borrowed);
    row[6] = put(view.share);
    row[7] = put(std::log1p(static_cast<double>(view.arrivals - before.arrivals)));
    row[8] = put(std::log1p(static_cast<double>(view.evictions - before.evictions)));
  }

  // Sums over all queues: pending jobs, time without quota, arrivals and evictions. The last element is the
  // lost work.
  static std::vector<double> Sums(const std::vector<QueueView>& views) {
    std::vector<double> sums(5, 0);
    for (const QueueView& view : views) {
      sums[0] += static_cast<double>(view.waiting);
      sums[1] += static_cast<double>(view.waited) / kSeconds;
      sums[2] += static_cast<double>(view.arrivals);
      sums[3] += static_cast<double>(view.evictions);
    }
    return sums;
  }

  static constexpr size_t kMostKnown = 1 << 16;
  static constexpr const char* kWhat = "this environment";

  std::vector<std::string> queues_;
  Time interval_, episode_;
  double step_;
  Knobs knobs_;
  std::vector<std::vector<size_t>> objects_;  // By object: indexes of its parameters.
  std::vector<Seat> seats_;
  absl::flat_hash_map<std::pair<size_t, Setting>, std::shared_ptr<const Applying>> known_;
  Pool pool_;
  Turn turn_;
};

void BindFleet(py::module_& module) {
  py::class_<Simulation, std::shared_ptr<Simulation>>(module, "SharedRun");
  py::class_<Fleet>(module, "Fleet")
      .def(py::init<size_t, const std::vector<std::string>&, const py::dict&>(), "size"_a, "queues"_a,
           "options"_a)
      .def("begin", &Fleet::Begin, "seat"_a, "run"_a, "zero"_a, "values"_a)
      .def("plan", &Fleet::Plan, "seats"_a, "moves"_a, "choices"_a)
      .def("learn", &Fleet::Learn, "object"_a, "values"_a, "made"_a)
      .def("start", &Fleet::Start, "seats"_a)
      .def("go", &Fleet::Go, "threads"_a, py::arg("observations").noconvert(), py::arg("facts").noconvert())
      .def("values", &Fleet::Values)
      .def("times", &Fleet::Times)
      .def_property_readonly("width", &Fleet::width)
      .def_property_readonly_static("facts", [](const py::object&) { return Fleet::kFacts; });
}

}  // namespace kueue::python
