// Follows the rules of virtual time for Kueue's generator files (test/performance/scheduler, kueue
// ff69552e79).
#include "simulation/simulation.h"

#include <algorithm>

namespace kueue {

Simulation::Simulation(Engine& engine, std::vector<std::shared_ptr<const WorkloadSpec>> prototypes,
                       std::vector<Arrival> arrivals)
    : engine_(engine), prototypes_(std::move(prototypes)), arrivals_(std::move(arrivals)) {
  std::stable_sort(arrivals_.begin(), arrivals_.end(),
                   [](const Arrival& a, const Arrival& b) { return a.at < b.at; });
  engine_.state().workloads.Reserve(arrivals_.size());
  engine_.state().workload_of_key.reserve(arrivals_.size());
  runs_.reserve(arrivals_.size());
  stats_.first_wait.resize(prototypes_.size());
  stats_.first_admitted.resize(prototypes_.size());
}

Simulation::Progress& Simulation::RunOf(WorkloadId id) {
  if (runs_.size() <= static_cast<size_t>(id)) runs_.resize(static_cast<size_t>(id) + 1);
  return runs_[static_cast<size_t>(id)];
}

std::optional<Time> Simulation::Next() const {
  std::optional<Time> next;
  if (!ends_.empty()) next = ends_.top().at;
  if (next_ < arrivals_.size()) next = std::min(next.value_or(INT64_MAX), arrivals_[next_].at);
  return next;
}

bool Simulation::Run(int64_t moments, Time until) {
  for (; moments > 0; --moments) {
    const std::optional<Time> next = Next();
    if (!next || *next > until) return false;
    const Time now = *next;
    engine_.SetNow(now);
    for (; !ends_.empty() && ends_.top().at == now; ends_.pop()) {
      const End end = ends_.top();
      if (RunOf(end.workload).admissions != end.admission) continue;
      engine_.Finish(end.workload);
      ++stats_.finished;
      stats_.end = now;
    }
    for (; next_ < arrivals_.size() && arrivals_[next_].at == now; ++next_) {
      Submit(static_cast<int32_t>(next_));
      stats_.end = now;
    }
    RunCycles();
  }
  const std::optional<Time> next = Next();
  return next && *next <= until;
}

void Simulation::Submit(int32_t index) {
  Arrival& arrival = arrivals_[static_cast<size_t>(index)];
  WorkloadObject object;
  object.name = std::move(arrival.name);
  object.uid = std::move(arrival.uid);
  object.created = arrival.created;
  object.spec = prototypes_[static_cast<size_t>(arrival.prototype)];
  const WorkloadId id = engine_.Submit(std::move(object));
  RunOf(id).arrival = index;
  ++stats_.workloads;
}

void Simulation::RunCycles() {
  for (;;) {
    const CycleResult result = engine_.RunCycle();
    if (result.idle) return;
    ++stats_.cycles;
    for (WorkloadId id : result.admitted_workloads) {
      Progress& run = RunOf(id);
      const Arrival& arrival = arrivals_[static_cast<size_t>(run.arrival)];
      ++run.admissions;
      ends_.push({engine_.state().now + arrival.runtime, sequence_++, id, run.admissions});
      if (run.admitted_before) continue;
      run.admitted_before = true;
      stats_.first_wait[static_cast<size_t>(arrival.prototype)] += engine_.state().now - arrival.at;
      ++stats_.first_admitted[static_cast<size_t>(arrival.prototype)];
    }
    for (WorkloadId id : result.evicted_workloads) ++RunOf(id).admissions;  // its end is void
    stats_.admissions += result.admitted;
    stats_.evictions += result.evicted;
    engine_.ReleaseEvictedNow(result.evicted_workloads);
    if (result.admitted == 0 && result.evicted == 0) return;
  }
}

}  // namespace kueue
