#include "lifecycle/dispatched.h"

#include <algorithm>

#include "lifecycle/conditions.h"
#include "lifecycle/controllers.h"
#include "lifecycle/nodes.h"
#include "lifecycle/queueing.h"

namespace kueue {

Reason InternReason(State& state, const char* name) {
  return static_cast<Reason>(state.reasons.Intern(name));
}

bool HasClosedPreemptionGate(const State& state, const Workload& workload) {
  const FeatureGates& enabled = state.config.gates;
  if (!enabled.multi_kueue_orchestrated_preemption && !enabled.concurrent_admission) return false;
  const std::vector<OpenGate>& open = workload.Status().dispatched.open_gates;
  const std::vector<std::string>& gates = workload.spec->preemption_gates;
  return std::any_of(gates.begin(), gates.end(), [&open](const std::string& gate) {
    return std::none_of(open.begin(), open.end(), [&](const OpenGate& one) { return one.name == gate; });
  });
}

void OpenPreemptionGate(State& state, WorkloadId id, const std::string& gate) {
  Workload& workload = state.At(id);
  state.EditStatus(workload).dispatched.open_gates.push_back({gate, state.now});
  state.MarkDirty(id);
  if (workload.HasQuotaReservation()) return AfterWrite(state, id);
  AddOrUpdate(state, id, /*changed=*/!HasClosedPreemptionGate(state, workload));
}

bool BlockOnPreemptionGates(State& state, WorkloadId id) {
  return SetCondition(state, state.At(id), ConditionType::kBlockedOnPreemptionGates, true,
                      InternReason(state, "PreemptionGated"),
                      Say(Sentence::kPreemptionGated)) != Write::kNone;
}

void ForgetDispatch(State& state, Workload& workload, Reason reason, const Message& message) {
  if (workload.IsTrue(ConditionType::kBlockedOnPreemptionGates))
    SetCondition(state, workload, ConditionType::kBlockedOnPreemptionGates, false, reason, message);
  const Dispatched& known = workload.Status().dispatched;
  if (known.nominated.empty() && known.cluster == kNoId && known.open_gates.empty()) return;
  Dispatched& dispatched = state.EditStatus(workload).dispatched;
  dispatched.nominated.clear();
  dispatched.cluster = kNoId;
  dispatched.open_gates.clear();
}

namespace {

// Suspends or unsuspends the job. The pods of a job in this cluster follow immediately, except that
// terminating pods take time. Returns whether anything changed.
bool Suspend(State& state, WorkloadId id, bool suspended) {
  const Dispatched& known = state.At(id).Status().dispatched;
  if (known.suspended == suspended) return false;
  Dispatched& job = state.EditStatus(state.At(id)).dispatched;
  job.suspended = suspended;
  if (job.job != JobPlace::kCopied) return true;
  if (!suspended || state.stop_delay == 0) job.active = !suspended;
  if (suspended) state.EditStatus(state.At(id)).pods_ready = false;
  return true;
}

}  // namespace

bool ReconcileDispatchedJob(State& state, WorkloadId id) {
  const Workload& workload = state.At(id);
  const JobPlace place = workload.Status().dispatched.job;
  if (place == JobPlace::kNone) return false;
  if (!workload.IsEvicted()) {
    // A running elastic job runs on while its new slice waits.
    const bool runs = !workload.Status().dispatched.suspended && IsElastic(state, *workload.spec);
    return Suspend(state, id, !workload.IsAdmitted() && !runs);
  }
  const bool suspended = Suspend(state, id, true);
  if (!workload.HasQuotaReservation()) return suspended;
  if (place == JobPlace::kElsewhere) {
    if (workload.Status().dispatched.active) return suspended;
  } else if (workload.Status().dispatched.active) {
    if (state.now - workload.Find(ConditionType::kEvicted)->transition < state.stop_delay) return suspended;
  }
  ReleaseEvicted(state, id);
  return true;
}

}  // namespace kueue
