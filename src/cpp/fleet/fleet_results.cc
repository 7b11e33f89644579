#include "fleet/fleet_results.h"

#include <algorithm>
#include <limits>

namespace kueue {
namespace {

constexpr Time kDispatchLoop = 3600 * kSecond;
// Maximum number of retries of one workload within kDispatchLoop without progress.
constexpr int32_t kMostRetries = 64;

}  // namespace

FleetResults::FleetResults(const Sites& sites)
    : sites_(&sites),
      fates_(static_cast<size_t>(sites[0]->data().jobs.columns().size())),
      open_(sites.size()) {}

void FleetResults::HappenedOnManager(EventKind kind, int32_t job, Time now) {
  Fate& fate = fates_[static_cast<size_t>(job)];
  switch (kind) {
    case EventKind::kReserved:
      fate.reserved = now;
      if (!fate.runs) fate.idle_since = now;
      return;
    case EventKind::kReleased:
      StopIdling(fate, now);
      fate.reserved = -1;
      return;
    case EventKind::kFinished:
      StopIdling(fate, now);
      fate.reserved = -1;
      fate.closed = now;
      return;
    case EventKind::kEvicted: {
      const State& state = Site(kManager).engine.state();
      const Workload& workload = state.At(Site(kManager).jobs.At(job).workload);
      const Condition* evicted = workload.Find(ConditionType::kEvicted);
      if (evicted != nullptr && evicted->reason == Reason::kAdmissionCheck) Retried(job, now);
      return;
    }
    default:
      return;
  }
}

void FleetResults::HappenedOnWorker(int32_t site, EventKind kind, int32_t job, int32_t by, Time now) {
  const RunData& run = Site(site);
  const auto is_copy = [&run](int32_t other) { return !run.jobs.IsOwn(other) && run.jobs.Has(other); };
  if (kind == EventKind::kEvicted && by >= 0 && is_copy(by)) {
    OpenCopy& preemptor = CopyAt(site, by);
    ++preemptor.preempted;
    preemptor.preempted_lost += run.jobs.At(job).last.lost;
  }
  if (!is_copy(job)) return;
  OpenCopy& open = CopyAt(site, job);
  switch (kind) {
    case EventKind::kReserved:
      if (open.reserved < 0) open.reserved = now;
      return;
    case EventKind::kAdmitted:
      if (open.admitted < 0) open.admitted = now;
      return;
    case EventKind::kEvicted:
      return Stopped(job, now);
    case EventKind::kFinished:
      fates_[static_cast<size_t>(job)].end = now;
      return Stopped(job, now);
    default:
      return;
  }
}

void FleetResults::Created(int32_t site, int32_t job, Time now) {
  OpenCopy& open = CopyAt(site, job);
  open = OpenCopy();
  open.made = now;
  Fate& fate = fates_[static_cast<size_t>(job)];
  if (fate.dispatched < 0) fate.dispatched = now;
  ++fate.copies;
  ++created_;
}

void FleetResults::Started(int32_t site, int32_t job, Time now) {
  Fate& fate = fates_[static_cast<size_t>(job)];
  StopIdling(fate, now);
  if (fate.first_start < 0) fate.first_start = now;
  ++fate.starts;
  fate.runs = true;
  fate.cluster = site - 1;
  if (fate.reserved >= 0) dispatch_wait_ += now - fate.reserved;
  OpenCopy& open = CopyAt(site, job);
  open.ran = true;
  fate.admitted = open.admitted;
}

void FleetResults::Stopped(int32_t job, Time now) {
  Fate& fate = fates_[static_cast<size_t>(job)];
  if (!fate.runs) return;
  fate.runs = false;
  if (fate.reserved >= 0) fate.idle_since = now;
}

void FleetResults::Ended(int32_t job, const OpenCopy& open, const Job& ended) {
  Fate& fate = fates_[static_cast<size_t>(job)];
  if (open.ran) fate.done = ended.done;
  fate.lost += ended.lost;
  fate.overhead += ended.overhead;
}

void FleetResults::Continued(int32_t site, int32_t job) {
  Fate& fate = fates_[static_cast<size_t>(job)];
  fate.runs = true;
  fate.cluster = site - 1;
  fate.idle_since = -1;
}

void FleetResults::Record(int32_t site, int32_t job, const OpenCopy& open, const Job& ended,
                          CopyOutcome outcome, Time now) {
  const auto seconds = [this](Time at) {
    return at < 0 ? std::numeric_limits<double>::quiet_NaN() : Site(kManager).recorder.Seconds(at);
  };
  const bool present = outcome == CopyOutcome::kPresent;
  table_.job.push_back(Site(kManager).jobs.columns().Row(job));
  table_.cluster.push_back(site - 1);
  table_.made.push_back(seconds(open.made));
  table_.reserved.push_back(seconds(open.reserved));
  table_.admitted.push_back(seconds(open.admitted));
  table_.removed.push_back(seconds(present ? -1 : now));
  table_.outcome.push_back(static_cast<int32_t>(present && open.ran ? CopyOutcome::kWon : outcome));
  table_.preempted.push_back(open.preempted);
  table_.preempted_lost.push_back(static_cast<double>(open.preempted_lost) / 1e9);
  const Time held = ended.held + (present && ended.reserved >= 0 ? now - ended.reserved : 0);
  table_.held.push_back(static_cast<double>(held) / 1e9);
  table_.assigned.push_back(ended.assigned);
}

void FleetResults::Close(Time now) {
  for (int32_t site = 1; site < static_cast<int32_t>(sites_->size()); ++site) {
    const RunData& run = Site(site);
    for (int32_t job = 0; job < run.jobs.columns().size(); ++job) {
      if (run.jobs.IsOwn(job) || !run.jobs.Has(job)) continue;
      Record(site, job, CopyAt(site, job), run.jobs.At(job), CopyOutcome::kPresent, now);
    }
  }
}

OpenCopy& FleetResults::CopyAt(int32_t site, int32_t job) {
  std::vector<OpenCopy>& open = open_[static_cast<size_t>(site)];
  const size_t place = Site(site).jobs.PlaceOf(job);
  if (open.size() <= place) open.resize(place + 1);
  return open[place];
}

Fate FleetResults::FateOf(int32_t job, Time now) const {
  Fate fate = At(job);
  for (int32_t site = 1; site < static_cast<int32_t>(sites_->size()); ++site) {
    const RunData& run = Site(site);
    if (run.jobs.IsOwn(job) || !run.jobs.Has(job)) continue;
    const Job& copy = run.jobs.At(job);
    fate.lost += copy.lost;
    fate.overhead += copy.overhead;
    if (fate.cluster != site - 1) continue;
    fate.done = copy.done;
    if (copy.started >= 0 && !copy.losing) fate.done += now - copy.started;
  }
  if (fate.idle_since >= 0) fate.idle += now - fate.idle_since;
  return fate;
}

void FleetResults::StopIdling(Fate& fate, Time now) {
  if (fate.idle_since >= 0) fate.idle += now - fate.idle_since;
  fate.idle_since = -1;
}

// Detects workloads that are dispatched repeatedly without progress.
void FleetResults::Retried(int32_t job, Time now) {
  Fate& fate = fates_[static_cast<size_t>(job)];
  ++fate.retries;
  if (fate.retried_since < 0 || now - fate.retried_since > kDispatchLoop) {
    fate.retried_since = now;
    fate.retries_since = 0;
  }
  if (++fate.retries_since <= kMostRetries || fate.loops) return;
  fate.loops = true;
  loops_.push_back(job);
}

}  // namespace kueue
