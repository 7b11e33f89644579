#include "simulation/environment.h"

#include <algorithm>
#include <cmath>

namespace kueue {
namespace {

// Number of heads and events of a simulation between two checks for signals.
constexpr int64_t kWorkOfTurn = 1 << 16;
constexpr size_t kMostKnown = 1 << 16;
constexpr size_t kColumns = 9;
constexpr double kMost = 1e6, kSeconds = 1e9, kDay = 86400, kTurn = 6.283185307179586, kLostCounts = 0.1;

// Sums over all queues: pending jobs, time without quota, arrivals and evictions. The last element is the
// lost work.
std::vector<double> Sums(const std::vector<QueueView>& views, double lost) {
  std::vector<double> sums(5, 0);
  for (const QueueView& view : views) {
    sums[0] += static_cast<double>(view.waiting);
    sums[1] += static_cast<double>(view.waited) / kSeconds;
    sums[2] += static_cast<double>(view.arrivals);
    sums[3] += static_cast<double>(view.evictions);
  }
  sums[4] = lost;
  return sums;
}

}  // namespace

Environments::Environments(size_t size, EnvironmentOptions options)
    : options_(std::move(options)), seats_(size) {
  for (Seat& at : seats_) at.values = options_.start;
}

size_t Environments::width() const { return options_.queues.size() * kColumns + 2; }

absl::Status Environments::Begin(size_t seat, std::shared_ptr<Simulation> run, Time zero, Setting values) {
  Seat& at = seats_.at(seat);
  if (values.size() != at.values.size()) {
    return absl::InvalidArgumentError("values: there must be one value for each setting");
  }
  at = Seat();
  at.run = std::move(run);
  at.watch = std::make_unique<QueueWatch>(options_.queues);
  at.values = values;
  at.wanted = std::move(values);
  at.zero = zero;
  at.moves = true;
  at.sums.assign(5, 0);
  return absl::OkStatus();
}

absl::Status Environments::Plan(const std::vector<size_t>& seats, const Actions& actions,
                                std::set<SetObject>& missing) {
  if (known_.size() >= kMostKnown) known_.clear();
  for (size_t i = 0; i < seats.size(); ++i) {
    Seat& at = seats_.at(seats[i]);
    if (at.run == nullptr || at.moves) {
      return absl::FailedPreconditionError("no episode is waiting for an action; call reset() first");
    }
    if (absl::Status status = Want(at, i, actions); !status.ok()) return status;
    at.changed = Changed(at);
    for (const SetObject& object : at.changed) {
      if (!known_.contains(object)) missing.insert(object);
    }
  }
  return absl::OkStatus();
}

void Environments::Learn(SetObject object, Applying applying) {
  known_[std::move(object)] = std::make_shared<const Applying>(std::move(applying));
}

absl::Status Environments::Start(const std::vector<size_t>& seats) {
  for (size_t seat : seats) {
    Seat& at = seats_.at(seat);
    std::vector<std::shared_ptr<const Applying>> changes;
    for (const SetObject& object : at.changed) {
      const auto known = known_.find(object);
      if (known == known_.end()) {
        return absl::FailedPreconditionError("start() requires a call of plan() before it");
      }
      changes.push_back(known->second);
    }
    if (!changes.empty()) {
      TimedChange change;
      change.at = SaturatingAdd(at.zero, at.time);
      for (const auto& object : changes) {
        change.queues.insert(change.queues.end(), object->queues.begin(), object->queues.end());
      }
      change.apply = [changes = std::move(changes)](Engine& engine) {
        for (const auto& object : changes) object->apply(engine);
      };
      at.run->Plan(std::move(change));
    }
    at.values = at.wanted;
    at.time = std::min(SaturatingAdd(at.time, options_.interval), options_.episode);
    at.moves = true;
  }
  return absl::OkStatus();
}

bool Environments::Go(int threads, float* observations, double* facts) {
  std::vector<size_t> moving;
  for (size_t seat = 0; seat < seats_.size(); ++seat) {
    if (seats_[seat].moves) moving.push_back(seat);
  }
  const size_t wide = width();
  pool_.Do(threads, moving.size(), [&](size_t i) {
    Seat& at = seats_[moving[i]];
    if (at.run->Run(kWorkOfTurn, SaturatingAdd(at.zero, at.time))) return;
    at.moves = false;
    Tell(at, {observations + moving[i] * wide, wide}, {facts + moving[i] * kFacts, kFacts});
  });
  return std::none_of(moving.begin(), moving.end(), [&](size_t seat) { return seats_[seat].moves; });
}

// Sets the parameters after a row of actions.
absl::Status Environments::Want(Seat& at, size_t row, const Actions& actions) const {
  const size_t numbers = options_.knobs.low.size();
  if (actions.numbers != numbers || row >= actions.rows || numbers + actions.places != at.values.size()) {
    return absl::InvalidArgumentError("actions: their shape differs from the shape of the action space");
  }
  at.wanted = at.values;
  std::vector<double> by;
  for (const double move : actions.moves.subspan(row * numbers, numbers)) {
    if (std::isnan(move)) return absl::InvalidArgumentError("actions: is nan; it must be a number");
    by.push_back(std::clamp(move, -1.0, 1.0) * options_.step);
  }
  if (numbers > 0) options_.knobs.Move(by, absl::MakeSpan(at.wanted).subspan(0, numbers));
  const absl::Span<const int64_t> choices = actions.choices.subspan(row * actions.places, actions.places);
  std::copy(choices.begin(), choices.end(), at.wanted.begin() + static_cast<std::ptrdiff_t>(numbers));
  return absl::OkStatus();
}

// Returns the objects with a changed parameter, and their parameters in the next interval.
std::vector<SetObject> Environments::Changed(const Seat& at) const {
  std::vector<SetObject> found;
  for (size_t object = 0; object < options_.objects.size(); ++object) {
    const std::vector<size_t>& places = options_.objects[object];
    const auto is_same = [&at](size_t i) { return at.values[i] == at.wanted[i]; };
    if (std::all_of(places.begin(), places.end(), is_same)) continue;
    Setting& values = found.emplace_back(object, Setting()).second;
    for (size_t place : places) values.push_back(at.wanted[place]);
  }
  return found;
}

// Writes the rows of a simulation that has reached the end of its interval.
void Environments::Tell(Seat& at, absl::Span<float> observation, absl::Span<double> facts) const {
  const Time now = SaturatingAdd(at.zero, at.time);
  const std::vector<QueueView> before = at.watch->views();
  const std::vector<QueueView>& views = at.watch->Look(*at.run, now);
  for (size_t i = 0; i < views.size(); ++i) {
    WriteQueue(views[i], before[i], now, observation.subspan(i * kColumns, kColumns));
  }
  const double angle = kTurn * static_cast<double>(at.time) / kSeconds / kDay;
  observation[observation.size() - 2] = static_cast<float>(std::sin(angle));
  observation[observation.size() - 1] = static_cast<float>(std::cos(angle));
  std::vector<double> sums = Sums(views, LostPart(*at.run) / kSeconds);
  const double interval = static_cast<double>(options_.interval) / kSeconds;
  facts[0] = -(sums[1] - at.sums[1]) / interval / static_cast<double>(views.size());
  facts[1] = -kLostCounts * (sums[4] - at.sums[4]) / interval;
  std::copy(at.sums.begin(), at.sums.end(), facts.begin() + 2);
  std::copy(sums.begin(), sums.end(), facts.begin() + 7);
  at.sums = std::move(sums);
}

void Environments::WriteQueue(const QueueView& view, const QueueView& before, Time now,
                              absl::Span<float> row) const {
  const double episode = std::log1p(static_cast<double>(options_.episode) / kSeconds);
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

}  // namespace kueue
