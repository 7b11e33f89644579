#include "simulation/job_store.h"

#include <algorithm>

#include "lifecycle/devices.h"
#include "lifecycle/queueing.h"
#include "simulation/options.h"

namespace kueue {

JobStore::JobStore(std::shared_ptr<const JobColumns> columns, int32_t site)
    : columns_(std::move(columns)),
      site_(site),
      is_partial_(site > kManager),
      jobs_(is_partial_ ? 0 : static_cast<size_t>(columns_->size())),
      slots_(is_partial_ ? static_cast<size_t>(columns_->size()) : 0, -1),
      asks_(columns_->shapes.size()),
      has_asks_(columns_->shapes.size()) {}

void JobStore::Take(int32_t job) {
  if (!is_partial_) return;
  int32_t& slot = slots_[static_cast<size_t>(job)];
  if (free_slots_.empty()) {
    slot = static_cast<int32_t>(jobs_.size());
    jobs_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
    jobs_[static_cast<size_t>(slot)] = Job();
  }
  jobs_[static_cast<size_t>(slot)].term = next_term_;
}

Job JobStore::Remove(int32_t number) {
  Job& job = At(number);
  next_term_ = std::max(next_term_, job.term + 1);
  if (job.workload != kNoId) job_of_[job.workload] = -1;
  int32_t& slot = slots_[static_cast<size_t>(number)];
  free_slots_.push_back(slot);
  slot = -1;
  return job;
}

void JobStore::Append(JobColumns jobs) {
  columns_.Append(std::move(jobs));
  asks_.resize(columns_->shapes.size());
  has_asks_.resize(columns_->shapes.size());
  if (is_partial_) {
    slots_.resize(static_cast<size_t>(columns_->size()), -1);
  } else {
    jobs_.resize(static_cast<size_t>(columns_->size()));
  }
}

void JobStore::Assign(int32_t job, WorkloadId workload) {
  At(job).workload = workload;
  job_of_.GrowTo(workload, -1);
  job_of_[workload] = job;
}

// If the devices of the workload are not counted yet, counts them first.
void JobStore::NoteAsks(State& state, int32_t job) {
  const WorkloadId id = At(job).workload;
  const size_t shape = ShapeOf(job);
  const std::shared_ptr<const DeviceQueueing> kept = state.At(id).devices;
  if (state.At(id).cls == kNoId) {
    if (!NeedsDevices(state, state.At(id)) || !state.config.gates.dra_integration) return;
    const std::shared_ptr<const DeviceOutcome> outcome = CountDevices(state, state.At(id));
    if (outcome->charges == nullptr) return;
    EditDevices(state.At(id)).charges = outcome->charges;
  }
  const TemporaryClass cls(state, id);
  for (const PodSetTotals& totals : state.Class(state.At(id).cls).totals) {
    for (const auto& [resource, amount] : totals.requests) asks_[shape].emplace_back(resource, amount);
  }
  state.At(id).devices = kept;
  has_asks_[shape] = true;
}

std::vector<int32_t> JobStore::Holding(const std::vector<int32_t>& arrived) const {
  std::vector<int32_t> found;
  const auto add = [&](int32_t job) {
    if (At(job).reserved >= 0) found.push_back(job);
  };
  if (!is_partial_) std::for_each(arrived.begin(), arrived.end(), add);
  for (int32_t job = 0; job < static_cast<int32_t>(slots_.size()); ++job) {
    if (Has(job)) add(job);
  }
  return found;
}

void JobStore::NoteFirstStart(int32_t job, Time now) {
  if (At(job).first_start < 0) At(job).first_start = now;
}

RunModel JobStore::ModelOf(int32_t job, RunModel model) const {
  const auto own = [job](Times column, Time& value) {
    if (!column.empty() && column[static_cast<size_t>(job)] >= 0) value = column[static_cast<size_t>(job)];
  };
  own(columns_->every, model.every);
  own(columns_->cost, model.cost);
  own(columns_->restore, model.restore);
  own(columns_->grace, model.grace);
  if (!columns_->every.empty() && columns_->every[static_cast<size_t>(job)] > 0)
    model.on_eviction = OnEviction::kCheckpoint;
  return model;
}

// The runtime of an elastic job is extended in proportion if it has fewer pods than requested.
Time JobStore::RuntimeOf(int32_t job, const Workload& workload) const {
  const Time runtime = columns_->runtime[static_cast<size_t>(job)];
  if (columns_->elastic.empty() || columns_->elastic[static_cast<size_t>(job)] == 0 || !workload.admission)
    return runtime;
  int64_t wanted = 0, given = 0;
  for (const PodSetSpec& pod_set : workload.spec->pod_sets) wanted += pod_set.count;
  for (const PodSetAdmission& pod_set : workload.admission->pod_sets) given += pod_set.count;
  if (given <= 0 || given == wanted) return runtime;
  const Int128 longer = static_cast<Int128>(runtime) * wanted / given;
  return longer > INT64_MAX ? INT64_MAX : static_cast<Time>(longer);
}

}  // namespace kueue
