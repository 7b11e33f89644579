// One reconciliation by the MultiKueue controller. Mirrors workload.go:Reconcile, reconcileGroup.
#include "absl/strings/str_cat.h"
#include "fleet/dispatcher.h"
#include "lifecycle/conditions.h"
#include "lifecycle/controllers.h"
#include "lifecycle/dispatched.h"
#include "lifecycle/second_pass.h"
#include "text/text.h"

namespace kueue {
namespace {

const char* NameOf(CheckState state) {
  static constexpr const char* kNames[] = {"Pending", "Ready", "Retry", "Rejected"};
  return kNames[static_cast<int>(state)];
}

const OpenGate* OpenGateOf(const Workload& workload) {
  for (const OpenGate& gate : workload.Status().dispatched.open_gates) {
    if (gate.name == kMultiKueueGate) return &gate;
  }
  return nullptr;
}

// Conditions are compared with a resolution of one second.
Time SecondOf(const Condition& condition) { return condition.transition / kSecond; }

}  // namespace

bool Dispatcher::Reconcile(Local& local) {
  const WorkloadCheck* check = CheckOf(WorkloadOf(local));
  local.config = ConfigOf(WorkloadOf(local));
  if (local.config == kNoId || !checks_[static_cast<size_t>(local.config)].has_config) return false;
  if (WorkloadOf(local).Status().dispatched.job == JobPlace::kHere) {
    manager().EditStatus(WorkloadOf(local)).dispatched.job = JobPlace::kElsewhere;
    check = CheckOf(WorkloadOf(local));
  }
  Group group{local, check->state, checks_[static_cast<size_t>(local.config)].clusters};
  See(group);
  return ReconcileGroup(group);
}

bool Dispatcher::ReconcileGroup(Group& group) {
  Local& local = group.local;
  if (WorkloadOf(local).IsFinished() || !WorkloadOf(local).HasQuotaReservation()) {
    const bool removed = RemoveJobs(local);
    return RemoveAllBut(group, kNoId) || removed;
  }
  const FirstTrue first = FindFirstTrue(group);
  if (first.finished != kNoId) return FinishAs(group, *CopyOn(local, first.finished));
  if (first.evicted != kNoId) {
    if (const auto followed = FollowEviction(group, *CopyOn(local, first.evicted))) return *followed;
  }
  bool changed = SyncSpecs(group);
  const int32_t admitting = changed ? FindFirstTrue(group).admitted : first.admitted;
  if (admitting == kNoId && group.check == CheckState::kReady) return LoseAdmitting(group) || changed;
  if (admitting != kNoId) return Converge(group, *CopyOn(local, admitting)) || changed;
  if (manager().config.gates.multi_kueue_orchestrated_preemption && OpenNextGate(group)) changed = true;
  const bool is_over =
      group.check != CheckState::kPending || WorkloadOf(local).Status().dispatched.cluster != kNoId;
  if (is_over && !manager().config.rules.multi_kueue_nominates_during_retries) return changed;
  return NominateAndSync(group) || changed;
}

Dispatcher::FirstTrue Dispatcher::FindFirstTrue(const Group& group) const {
  struct {
    ConditionType type;
    int32_t cluster = kNoId;
    Time since = 0;
  } firsts[] = {{ConditionType::kFinished}, {ConditionType::kEvicted}, {ConditionType::kAdmitted}};
  if (!manager().config.gates.multi_kueue_wait_for_workload_admitted)
    firsts[2].type = ConditionType::kQuotaReserved;
  for (int32_t cluster : group.visible) {
    const Copy* copy = CopyOn(group.local, cluster);
    if (copy == nullptr || copy->deferred) continue;
    for (const Condition& condition : WorkloadOf(*copy).conditions) {
      if (!condition.status) continue;
      for (auto& first : firsts) {
        if (condition.type != first.type) continue;
        if (first.cluster != kNoId && SecondOf(condition) >= first.since) continue;
        first.cluster = cluster;
        first.since = SecondOf(condition);
      }
    }
  }
  return {firsts[0].cluster, firsts[1].cluster, firsts[2].cluster};
}

void Dispatcher::SetCheck(const Group& group, CheckState state, std::string message) {
  manager_->SetCheckState(group.local.id, checks_[static_cast<size_t>(group.local.config)].check, state,
                          std::move(message));
}

bool Dispatcher::FinishAs(const Group& group, const Copy& copy) {
  // A copy, because SyncJob() may submit a workload to the worker.
  const Condition finished = *WorkloadOf(copy).Find(ConditionType::kFinished);
  const State& there = EngineOf(copy).state();
  const std::string reason = there.reasons.Name(finished.reason);
  if (reason == "OutOfSync") {
    if (group.check != CheckState::kReady) return false;
    SetCheck(group, CheckState::kRetry,
             absl::StrCat("Remote workload on worker cluster \"", At(copy.cluster).name,
                          "\" is out of sync with its user job, resetting for re-dispatch, Previously: \"",
                          NameOf(group.check), "\""));
    return true;
  }
  if (!OwnsJob(copy)) return false;
  SyncJob(group, copy);
  manager_->Finish(group.local.id, InternReason(manager(), reason.c_str()), Render(there, finished.message));
  return true;
}

// Returns nullopt if the reconciliation continues.
std::optional<bool> Dispatcher::FollowEviction(const Group& group, const Copy& copy) {
  const Workload& workload = WorkloadOf(group.local);
  if (workload.IsEvicted()) return OwnsJob(copy) && SyncJob(group, copy);
  if (group.check != CheckState::kReady ||
      !manager().config.gates.multi_kueue_redo_admission_on_eviction_in_worker) {
    return std::nullopt;
  }
  const int32_t cluster = workload.Status().dispatched.cluster;
  SetCheck(group, CheckState::kRetry,
           absl::StrCat("Workload evicted on worker cluster: \"", cluster == kNoId ? "" : At(cluster).name,
                        "\", resetting for re-admission. Previously: \"", NameOf(group.check), "\""));
  return true;
}

bool Dispatcher::SyncSpecs(Group& group) {
  bool changed = false;
  for (int32_t cluster : group.visible) {
    Copy& copy = *CopyOn(group.local, cluster);
    if (IsInSync(copy, WorkloadOf(group.local).spec)) continue;
    changed = true;
    if (!UpdatePriority(group, copy)) Remove(group.local, cluster);
  }
  return changed;
}

// Called if the check is Ready but no admitted copy is visible.
bool Dispatcher::LoseAdmitting(const Group& group) {
  const int32_t cluster = WorkloadOf(group.local).Status().dispatched.cluster;
  const bool reserving = manager().config.rules.multi_kueue_texts_of_v0_18;
  std::string message = reserving ? "Reserving remote no longer exists or is not admitted"
                                  : "Admitting remote no longer exists";
  if (cluster == kNoId) {
    message = absl::StrCat("Admission check is Ready but no ", reserving ? "reserving" : "admitting",
                           " cluster is recorded; this is unexpected, please report it");
  } else if (!IsConnected(cluster) && RankOf(group.local, cluster) != kNoId) {
    // Without a MultiKueueCluster, Kueue has no record of the loss, and counts from now.
    const Time since = At(cluster).declared ? At(cluster).lost_since : manager().now;
    const Time due = since + options_.worker_lost_timeout;
    if (due > manager().now) {
      Again(group.local, due);
      return false;
    }
    message = reserving ? "Reserving remote lost" : "Admitting remote lost";
  }
  SetCheck(group, CheckState::kRetry, absl::StrCat(message, ", Previously: \"", NameOf(group.check), "\""));
  return true;
}

bool Dispatcher::Converge(const Group& group, const Copy& copy) {
  const int32_t cluster = copy.cluster;
  bool changed = RemoveAllBut(group, cluster);
  const Copy& kept = *CopyOn(group.local, cluster);
  if (WorkloadOf(group.local).IsEvicted()) return Deactivate(group, kept) || changed;
  if (!OwnsJob(kept)) return changed;
  if (SyncJob(group, kept)) changed = true;
  return Admit(group, cluster) || changed;
}

// Mirrors workload.go:syncAdmittingRemoteState.
bool Dispatcher::Admit(const Group& group, int32_t cluster) {
  if (group.check == CheckState::kRetry) return SyncTopology(group, cluster);
  const Dispatched& known = WorkloadOf(group.local).Status().dispatched;
  // An error in Kueue: the cluster must not change.
  if (known.cluster != kNoId && known.cluster != cluster) return false;
  const bool placed = SyncTopology(group, cluster);
  const bool reserving = manager().config.rules.multi_kueue_texts_of_v0_18;
  std::string message = absl::StrCat("The workload ", reserving ? "got reservation" : "was admitted",
                                     " on \"", At(cluster).name, "\"");
  const bool is_known = group.check == CheckState::kReady && known.cluster == cluster &&
                        CheckOf(WorkloadOf(group.local))->message == message;
  if (is_known && known.nominated.empty()) return placed;
  Dispatched& dispatched = manager().EditStatus(WorkloadOf(group.local)).dispatched;
  dispatched.cluster = cluster;
  dispatched.nominated.clear();
  SetCheck(group, CheckState::kReady, std::move(message));
  return true;
}

// Marks the delayed topology requests of the manager's workload as ready if its copy has topology
// assignments. Mirrors workload.go:updateDelayedTopologyRequest.
bool Dispatcher::SyncTopology(const Group& group, int32_t cluster) {
  const std::shared_ptr<const Admission>& here = WorkloadOf(group.local).admission;
  const std::shared_ptr<const Admission>& there = WorkloadOf(*CopyOn(group.local, cluster)).admission;
  if (here == nullptr || there == nullptr || !HasPendingTopology(WorkloadOf(group.local))) return false;
  auto admission = std::make_shared<Admission>(*here);
  bool changed = false;
  for (const PodSetAdmission& remote : there->pod_sets) {
    if (remote.topology == nullptr) continue;
    for (PodSetAdmission& local : admission->pod_sets) {
      if (local.name != remote.name || local.delayed != DelayedTopology::kPending) continue;
      local.delayed = DelayedTopology::kReady;
      changed = true;
    }
  }
  if (!changed) return false;
  WorkloadOf(group.local).admission = std::move(admission);
  manager().Record(EventKind::kAssigned, group.local.id);
  manager().MarkDirty(group.local.id);
  return true;
}

bool Dispatcher::Deactivate(const Group& group, const Copy& copy) {
  Need(copy.cluster);
  State& there = EngineOf(copy).state();
  const Condition& evicted = *WorkloadOf(group.local).Find(ConditionType::kEvicted);
  const std::string why = absl::StrCat("Evicted on manager: ", Render(manager(), evicted.message));
  if (!SetCondition(there, there.At(copy.id), ConditionType::kDeactivationTarget, true,
                    InternReason(there, "EvictedOnManagerCluster"), Quote(why))) {
    return false;
  }
  there.MarkDirty(copy.id);
  AfterWrite(there, copy.id);
  Report(Move::kDeactivating, group.local, copy);
  return true;
}

// Returns false if the worker has a job of this name that a user created there. The reconciliation then ends
// with an error.
// Mirrors pkg/controller/jobframework/utils.go:ValidateRemoteObjectOwnership.
bool Dispatcher::OwnsJob(const Copy& copy) const {
  const Workload& remote = WorkloadOf(copy);
  return remote.Status().dispatched.job != JobPlace::kHere || remote.spec->job_uid.empty();
}

// Creates the job on the worker, or copies its status. Returns whether the manager must act immediately.
// Neither change requires another reconciliation.
// Mirrors job_multikueue_adapter.go:SyncJob.
bool Dispatcher::SyncJob(const Group& group, const Copy& copy) {
  State& there = EngineOf(copy).state();
  const Workload& remote = there.At(copy.id);
  const JobPlace place = remote.Status().dispatched.job;
  // A workload that a user created on the worker without a job gets a job like a copy.
  if (place == JobPlace::kHere || place == JobPlace::kNone) {
    Need(copy.cluster, /*queues_stay=*/!remote.IsEvicted());
    there.EditStatus(there.At(copy.id)).dispatched.job = JobPlace::kCopied;
    CopyOn(group.local, copy.cluster)->has_job = true;
    there.MarkDirty(copy.id);
    AfterWrite(there, copy.id);
    Report(Move::kStarted, group.local, copy);
    return false;
  }
  const Dispatched& job = WorkloadOf(group.local).Status().dispatched;
  const Dispatched& running = remote.Status().dispatched;
  // In virtual time, the manager's job is active from the start of the run until this function reports that
  // it has no pods. The difference is a few seconds.
  if (options_.is_virtual_time && (running.active || !remote.IsEvicted()) && !remote.IsFinished())
    return false;
  if (job.suspended && !running.suspended && !remote.IsFinished()) return false;
  const bool active = running.active && !remote.IsFinished();
  // The readiness of the pods is a part of the job's status, too.
  const bool copies_ready = manager().config.wait_for_pods_ready && !options_.is_virtual_time;
  const bool was_ready = WorkloadOf(group.local).Status().pods_ready;
  const bool ready = copies_ready ? active && remote.Status().pods_ready : was_ready;
  if (job.active == active && was_ready == ready) return false;
  StatusDetails& status = manager().EditStatus(WorkloadOf(group.local));
  status.dispatched.active = active;
  status.pods_ready = ready;
  manager().MarkDirty(group.local.id);
  return options_.is_virtual_time;
}

// Mirrors workload.go:workloadToOpenPreemptionGate.
bool Dispatcher::OpenNextGate(const Group& group) {
  std::optional<Time> opened;
  int32_t blocked = kNoId;
  Time since = 0;
  for (int32_t cluster : group.visible) {
    const Copy* copy = CopyOn(group.local, cluster);
    if (copy == nullptr || copy->deferred) continue;
    const Workload& remote = WorkloadOf(*copy);
    if (const OpenGate* gate = OpenGateOf(remote)) {
      opened = std::max(opened.value_or(gate->since), gate->since);
      continue;
    }
    if (!remote.IsTrue(ConditionType::kBlockedOnPreemptionGates)) continue;
    const Time second = SecondOf(*remote.Find(ConditionType::kBlockedOnPreemptionGates));
    if (blocked != kNoId && second >= since) continue;
    blocked = cluster;
    since = second;
  }
  if (blocked == kNoId) return false;
  if (opened && *opened + options_.gate_timeout > manager().now) {
    Again(group.local, *opened + options_.gate_timeout);
    return false;
  }
  Need(blocked);
  const Copy& copy = *CopyOn(group.local, blocked);
  OpenPreemptionGate(EngineOf(copy).state(), copy.id, kMultiKueueGate);
  Again(group.local, manager().now + options_.gate_timeout);
  Report(Move::kOpened, group.local, copy);
  return true;
}

}  // namespace kueue
