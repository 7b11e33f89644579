#include "questions/ask.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "lifecycle/conditions.h"
#include "lifecycle/devices.h"
#include "lifecycle/queueing.h"
#include "model/poll.h"
#include "state/names.h"
#include "state/rebuild.h"

namespace kueue {

HypotheticalWorkload::HypotheticalWorkload(State& state, const WorkloadObject& object)
    : state_(state), classes_(state.classes.size()), id_(state.workloads.AddGuest()) {
  Workload& workload = state.At(id_);
  workload.local_queue = LocalQueueOf(state, *object.spec);
  workload.created = object.created.value_or(state.now);
  workload.queue_time = workload.created;
  workload.name = object.name;
  workload.uid = object.uid;
  workload.spec = object.spec;
  if (NeedsDevices(state, workload)) CountForQuestion(state, id_);
  ClassifyHypothetical(state, id_);
}

HypotheticalWorkload::~HypotheticalWorkload() {
  state_.workloads.RemoveGuest(id_);
  if (state_.classes.size() > classes_) state_.classes.pop_back();
}

namespace {

// A blocked cycle has already nominated its heads and will be replayed from its start state.
const std::shared_ptr<const ScanProgress>& ProgressOf(const State& state, WorkloadId id) {
  const bool in_waiting_cycle = state.waiting.start != nullptr && state.At(id).place == QueuePlace::kInflight;
  return (in_waiting_cycle ? *state.waiting.start : state).At(id).progress;
}

}  // namespace

bool IsSearchUnderWay(const State& state, WorkloadId id) { return ProgressOf(state, id) != nullptr; }

Entry Nominated(State& state, WorkloadId id, Search search) {
  std::shared_ptr<const ScanProgress> progress = state.At(id).progress;
  state.At(id).progress = search == Search::kGoesOn ? ProgressOf(std::as_const(state), id) : nullptr;
  Entry entry = Cycle(state).Nominate(id, state.QueueOf(state.At(id)));
  state.At(id).progress = std::move(progress);
  return entry;
}

namespace {

// Checks whether all required checks are ready. They depend on the flavors that the workload would be
// assigned.
bool WouldBeAdmitted(State& state, WorkloadId id, const DecisionRecord& decision) {
  std::shared_ptr<const Admission> admission = decision.admission;
  Workload& workload = state.At(id);
  workload.admission.swap(admission);
  const bool admitted = HasAllRequiredChecks(state, decision.queue, workload);
  workload.admission.swap(admission);
  return admitted;
}

}  // namespace

DecisionRecord Answer(State& state, WorkloadId id, Search search) {
  if (const Obstacle obstacle = ObstacleOf(state, state.At(id)); !obstacle.IsNone()) {
    DecisionRecord decision;
    decision.workload = state.At(id).Key();
    decision.queue = state.QueueOf(state.At(id));
    decision.reason = obstacle.reason;
    decision.message = obstacle.message;
    return decision;
  }
  const Entry entry = Nominated(state, id, search);
  DecisionRecord decision = Asked(state, entry);
  if (decision.verdict == Verdict::kAdmitted) decision.admitted = WouldBeAdmitted(state, id, decision);
  return decision;
}

namespace {

bool WouldDo(State& state, WorkloadObject object, size_t pod_set, int64_t count, bool preempting) {
  auto spec = std::make_shared<WorkloadSpec>(*object.spec);
  spec->pod_sets[pod_set].count = count;
  spec->pod_sets[pod_set].min_count.reset();
  object.spec = std::move(spec);
  const HypotheticalWorkload hypothetical(state, object);
  const Verdict verdict = Answer(state, hypothetical.id()).verdict;
  return verdict == Verdict::kAdmitted || (preempting && verdict == Verdict::kPreempting);
}

}  // namespace

int64_t LargestCount(State& state, const WorkloadObject& object, size_t pod_set, bool preempting) {
  constexpr int64_t most = INT32_MAX;
  const auto does = [&](int64_t count) {
    PollAtOnce();
    return WouldDo(state, object, pod_set, count, preempting);
  };
  EnsureBuilt(state);
  int64_t low = 0, high = 1;
  while (high <= most && does(high)) {
    low = high;
    high *= 2;
  }
  high = std::min(high, most + 1);
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (does(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace kueue
