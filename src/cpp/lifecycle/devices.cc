// Mirrors pkg/controller/core/workload_controller.go:handleDRA,markDRAInadmissible and
// pkg/dra/extended_resources.go:NeedsDRAReconcile (kueue ff69552e79).
#include "lifecycle/devices.h"

#include <algorithm>

#include "lifecycle/conditions.h"
#include "lifecycle/controllers.h"
#include "lifecycle/queueing.h"

namespace kueue {
bool NeedsDevices(const State& state, const Workload& workload) {
  return AsksForDevices(state, *workload.spec) && !IsOnHold(workload);
}

bool NeedsDevices(const State& state, const Workload& workload, const std::vector<PodTemplate>& templates) {
  if (NeedsDevices(state, workload)) return true;
  if (!CountsExtendedResources(state) || IsOnHold(workload)) return false;
  return std::any_of(templates.begin(), templates.end(),
                     [&](const PodTemplate& pod) { return RequestsDevices(state, pod); });
}

std::shared_ptr<const DeviceOutcome> CountDevices(State& state, const Workload& workload) {
  const NamespaceId ns = state.Local(workload.local_queue).namespace_id;
  const Namespace& space = state.namespaces[ns];
  const std::vector<PodSetSpec>& pod_sets = workload.spec->pod_sets;
  std::vector<PodTemplate> adjusted;
  adjusted.reserve(pod_sets.size());
  std::vector<DevicePodSet> counted;
  for (const PodSetSpec& pod_set : pod_sets) {
    adjusted.push_back(Adjust(*pod_set.pod_template, state.runtime_classes, space.limit_ranges));
    counted.push_back({pod_set.name, &adjusted.back()});
  }
  DeviceCounts& known = state.caches.devices;
  std::string key = CountingKey(space.name, counted);
  std::shared_ptr<const DeviceOutcome> outcome = known.Find(key);
  if (outcome != nullptr) return outcome;
  static const DeviceObjects* const none = new DeviceObjects;
  const DeviceContext context{state.devices != nullptr ? *state.devices : *none, state.config};
  outcome = std::make_shared<const DeviceOutcome>(ResolveDevices(context, space.name, counted));
  known.Add(std::move(key), outcome);
  return outcome;
}

const DeviceCharge* ChargeOf(const Workload& workload, size_t pod_set) {
  if (workload.devices == nullptr || workload.devices->charges == nullptr) return nullptr;
  const std::vector<DeviceCharge>& charges = workload.devices->charges->pod_sets;
  return pod_set < charges.size() ? &charges[pod_set] : nullptr;
}

DeviceQueueing& EditDevices(Workload& workload) {
  auto own = workload.devices ? std::make_shared<DeviceQueueing>(*workload.devices)
                              : std::make_shared<DeviceQueueing>();
  DeviceQueueing& edited = *own;
  workload.devices = std::move(own);
  return edited;
}

void NoteChange(Workload& workload) {
  if (workload.devices == nullptr || !workload.devices->changed) EditDevices(workload).changed = true;
}

void ForgetDevices(Workload& workload) { workload.devices = nullptr; }

void TakeCopyOfApi(Workload& workload) {
  if (workload.devices == nullptr) return;
  const bool failed = HasCheckIn(workload, CheckState::kRetry) || HasCheckIn(workload, CheckState::kRejected);
  if (!workload.devices->ignores_requeued && workload.devices->failed_checks == failed) return;
  DeviceQueueing& devices = EditDevices(workload);
  devices.ignores_requeued = false;
  devices.failed_checks = failed;
}

bool HasFailedChecks(const Workload& workload) {
  const bool has_copy = workload.devices != nullptr && workload.devices->charges != nullptr;
  if (has_copy && !workload.HasQuotaReservation()) return workload.devices->failed_checks;
  if (workload.status == nullptr) return false;
  return HasCheckIn(workload, CheckState::kRetry) || HasCheckIn(workload, CheckState::kRejected);
}

namespace {

Reason RefusalReason(const State& state) {
  return state.config.gates.unadmitted_workloads_observability ? Reason::kMisconfigured
                                                               : Reason::kInadmissible;
}

// Writes the reason for the refusal to the workload's conditions. The workload's place in a queue does not
// change.
bool Refuse(State& state, WorkloadId id, const Message& message, const Message& requeued, bool says_always) {
  bool changed = UnsetQuotaReservation(state, id, RefusalReason(state), message);
  if (changed || says_always) {
    const Write write =
        SetCondition(state, state.At(id), ConditionType::kRequeued, false, Reason::kInadmissible, requeued);
    changed = changed || write != Write::kNone;
  }
  if (changed) AfterWrite(state, id);
  return changed;
}

bool RefuseForFault(State& state, WorkloadId id, const std::string& fault) {
  const Workload& workload = state.At(id);
  const auto by_name = [](const PodResourceClaim& claim) { return claim.claim_name.has_value(); };
  const Message message = Say(Sentence::kDevicesRefused, {fault});
  for (const PodSetSpec& pod_set : workload.spec->pod_sets) {
    const std::vector<PodResourceClaim>& claims = pod_set.pod_template->resource_claims;
    if (std::any_of(claims.begin(), claims.end(), by_name))
      return Refuse(state, id, message, Say(Sentence::kResourceClaimsUnsupported), false);
  }
  return Refuse(state, id, message, message, false);
}

void RemoveFalse(Workload& workload, ConditionType type) {
  if (workload.IsFalse(type)) RemoveCondition(workload, type);
}

}  // namespace

DeviceLook LookAtDevices(State& state, WorkloadId id) {
  if (!state.config.gates.dra_integration) {
    const Message& off = Say(Sentence::kDevicesOff);
    return {true, Refuse(state, id, off, off, true)};
  }
  const std::shared_ptr<const DeviceOutcome> outcome = CountDevices(state, state.At(id));
  if (outcome->charges == nullptr) return {true, RefuseForFault(state, id, outcome->refusal)};
  if (IsAdmissible(state, state.At(id)) && !AddOrUpdateCounted(state, id, outcome->charges))
    return {true, false};
  RemoveFalse(state.At(id), ConditionType::kQuotaReserved);
  RemoveFalse(state.At(id), ConditionType::kRequeued);
  return {};
}

void CountForQuestion(State& state, WorkloadId id) {
  Message refusal = Say(Sentence::kDevicesOff);
  if (state.config.gates.dra_integration) {
    const std::shared_ptr<const DeviceOutcome> outcome = CountDevices(state, state.At(id));
    if (outcome->charges != nullptr) {
      EditDevices(state.At(id)).charges = outcome->charges;
      return;
    }
    refusal = Say(Sentence::kDevicesRefused, {outcome->refusal});
  }
  state.At(id).conditions.push_back({ConditionType::kQuotaReserved, false, RefusalReason(state),
                                     std::move(refusal), state.now, state.At(id).generation});
}

bool IsDeviceRefusal(const Message& message) {
  const auto* said = message == nullptr ? nullptr : std::get_if<Said>(message.get());
  if (said == nullptr) return false;
  return said->sentence == Sentence::kDevicesRefused || said->sentence == Sentence::kDevicesOff;
}

void MarkDevicesDirty(State& state, bool all) {
  if (!state.devices_changed && !all) return;
  state.devices_changed = false;
  for (WorkloadId id : state.Living()) {
    const Workload& workload = state.At(id);
    if (!workload.HasQuotaReservation() && !workload.IsFinished() && NeedsDevices(state, workload))
      state.MarkDirty(id);
  }
}

}  // namespace kueue
