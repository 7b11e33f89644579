// Mirrors pkg/controller/core/workload_controller.go and pkg/controller/jobframework/reconciler.go
// (kueue ff69552e79).
#include "lifecycle/controllers.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "fairness/ledger.h"
#include "lifecycle/conditions.h"
#include "lifecycle/devices.h"
#include "lifecycle/dispatched.h"
#include "lifecycle/holding.h"
#include "lifecycle/nodes.h"
#include "lifecycle/queueing.h"
#include "lifecycle/returning.h"
#include "lifecycle/second_pass.h"
#include "lifecycle/waiting.h"
#include "model/poll.h"
#include "state/rebuild.h"
#include "state/variants.h"
#include "text/text.h"

namespace kueue {
namespace {

// Returns whether the workload may need a reconciliation even if the workload itself does not change: because
// time advances or another workload fails.
bool NeedsWatching(const State& state, const Workload& workload) {
  if (workload.deleted || workload.IsFinished()) return false;
  if (workload.Status().requeue_at || workload.HasQuotaReservation()) {
    return workload.Status().requeue_at || state.config.wait_for_pods_ready ||
           workload.spec->maximum_execution_time_seconds || workload.IsEvicted();
  }
  const Condition* reserved = workload.Find(ConditionType::kQuotaReserved);
  return reserved != nullptr && IsStale(reserved->reason);
}

// Returns the time at which the retention of the workload is over, if it is finished or Kueue deactivated it.
std::optional<Time> RetainedUntil(const State& state, const Workload& workload) {
  const WorkloadRetention& retention = state.config.retention;
  const auto after = [](const Condition* condition, const std::optional<Time>& time) {
    return time ? std::optional(SaturatingAdd(condition->transition, *time)) : std::nullopt;
  };
  if (workload.IsFinished()) return after(workload.Find(ConditionType::kFinished), retention.after_finished);
  if (workload.spec->active || !workload.IsEvicted()) return std::nullopt;
  const Condition* evicted = workload.Find(ConditionType::kEvicted);
  if (!absl::StartsWith(state.reasons.Name(evicted->reason), "DeactivatedDueTo")) return std::nullopt;
  return after(evicted, retention.after_deactivated_by_kueue);
}

}  // namespace

void NoteRetention(State& state, WorkloadId id) {
  if (!state.caches.retained->has_value()) return;
  const std::optional<Time> until = RetainedUntil(state, std::as_const(state).At(id));
  if (until) state.caches.retained.Edit()->emplace(*until, id);
}

void AfterAdmission(State& state, WorkloadId id) {
  const NodeId node = state.At(id).admission->cluster_queue;
  // With pooled penalties, only immediate admissions are settled.
  if (state.config.rules.pooled_entry_penalties) return;
  if (UsesAdmissionFairSharing(state, node)) SettlePenalty(state, id);
}

void AfterWrite(State& state, WorkloadId id) {
  const Workload& workload = state.At(id);
  if (workload.IsFinished() || !workload.spec->active) {
    LeaveEverything(state, id);
  } else if (workload.charged != kNoId) {
    ReplaceCharge(state, id);
    QueueSecondPass(state, id);
  } else if (!workload.HasQuotaReservation()) {
    AddOrUpdate(state, id, /*changed=*/false);
  }
}

void LeaveEverything(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  RemoveFromQueue(state, id);
  workload.listed = false;
  if (workload.devices != nullptr) AssignLocalQueue(state, id);
  ForgetDevices(workload);
  ForgetSecondPass(state, id);
  DischargeAdmission(state, id);
  NotifyRetryFor(state, workload);
  if (!workload.HasQuotaReservation() || workload.IsFinished() || workload.deleted) DropPenalty(state, id);
  NoteRetention(state, id);
  state.MarkDirty(id);
}

void ReturnToPending(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  DischargeAdmission(state, id);
  ForgetSecondPass(state, id);
  workload.queue_time = QueueOrderTime(state, workload);
  workload.progress = nullptr;
  ForgetDevices(workload);
  const std::optional<Time>& requeue_at = workload.Status().requeue_at;
  if (!requeue_at || *requeue_at <= state.now) {
    if (IsParent(state, workload)) ListIfAdmissible(state, workload);
    AddOrUpdate(state, id, /*changed=*/true);
  }
  NotifyRetryFor(state, workload);
  if (!workload.spec->active) DropPenalty(state, id);
  state.MarkDirty(id);
}

void ReleaseEvicted(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  const Condition evicted = *workload.Find(ConditionType::kEvicted);
  const bool by_pod =
      state.config.gates.skip_reassignment_for_pod_owned_workloads && workload.owned_by_single_pod;
  const bool requeued =
      (evicted.reason == Reason::kPreempted || evicted.reason == Reason::kNodeFailures) && !by_pod;
  SetCondition(state, workload, ConditionType::kRequeued, requeued, evicted.reason, evicted.message);
  if (workload.Status().dispatched.active) state.EditStatus(workload).dispatched.active = false;
  const Reason reason =
      state.config.gates.unadmitted_workloads_observability ? Reason::kPendingEvaluation : Reason::kPending;
  UnsetQuotaReservation(state, id, reason, evicted.message);
  if (workload.Status().job_stops_at) state.EditStatus(workload).job_stops_at.reset();
  ReturnToPending(state, id);
}

namespace {

// Updates QuotaReserved and Admitted of a workload that is not admitted. Returns whether anything changed.
bool SyncPending(State& state, WorkloadId id) {
  const Workload& workload = state.At(id);
  bool changed = !workload.HasQuotaReservation() && SyncQuotaReservedFalse(state, id);
  if (SyncAdmitted(state, id)) {
    changed = true;
    if (workload.IsAdmitted()) AfterAdmission(state, id);
  }
  if (changed) AfterWrite(state, id);
  return changed;
}

}  // namespace

namespace {

// Reconciles a workload after its devices were counted, or if it has none.
bool ReconcileCounted(State& state, WorkloadId id) {
  const Reconciled outcome =
      state.At(id).spec->active ? ReconcileActive(state, id) : ReconcileInactive(state, id);
  if (outcome != Reconciled::kGoOn) return outcome == Reconciled::kChanged;
  Workload& workload = state.At(id);
  const LocalQueue& local = state.Local(workload.local_queue);
  if (local.IsRunning() && IsRequeuedFalseBecause(workload, Reason::kLocalQueueStopped)) {
    return SetRequeued(state, id, true, Reason::kLocalQueueRestarted, Say(Sentence::kLocalQueueRestarted));
  }
  if (ReconcileGate(state, id)) return true;
  const NodeId node = ManagedQueue(state, workload);
  if (node != kNoId && state.forest().IsDeclared(node)) {
    if (IsRequeuedFalseBecause(workload, Reason::kClusterQueueStopped) &&
        state.Queue(node).spec.stop_policy == StopPolicy::kNone) {
      return SetRequeued(state, id, true, Reason::kClusterQueueRestarted,
                         Say(Sentence::kClusterQueueRestarted));
    }
    if (!IsLabelledParent(state, workload) && SyncChecks(state, id, node)) return true;
  }
  const bool changed = !workload.IsAdmitted() && SyncPending(state, id);
  if (!workload.HasQuotaReservation()) return changed;
  const bool is_parent = IsLabelledParent(state, state.At(id));  // It has no checks.
  if ((!is_parent && EvictByChecks(state, id)) || ActOnQueues(state, id)) {
    AfterWrite(state, id);
    return true;
  }
  const bool timed_out = ReconcilePodsReadyTimeout(state, id), exceeded = ReconcileExecutionTime(state, id);
  if (timed_out || exceeded) AfterWrite(state, id);
  return changed || timed_out || exceeded;
}

// Compares the fields that the reconciliation of a pending workload may change.
bool SameStatus(const State& state, const Workload& workload,
                const std::shared_ptr<const StatusDetails>& status,
                const absl::InlinedVector<Condition, 3>& conditions) {
  if (workload.status != status || workload.conditions.size() != conditions.size()) return false;
  return std::all_of(conditions.begin(), conditions.end(), [&](const Condition& before) {
    const Condition* now = workload.Find(before.type);
    return now != nullptr && now->status == before.status && now->reason == before.reason &&
           now->transition == before.transition && now->generation == before.generation &&
           SameMessage(state, now->message, before.message);
  });
}

// After counting the devices, Kueue's controller continues with an object without the conditions
// QuotaReserved=False and Requeued=False. The API object keeps them unless another change writes the status.
bool ReconcileWithDevices(State& state, WorkloadId id) {
  const absl::InlinedVector<Condition, 3> before = state.At(id).conditions;
  const std::shared_ptr<const StatusDetails> status = state.At(id).status;
  const DeviceLook look = LookAtDevices(state, id);
  if (look.is_over) return look.changed;
  const absl::InlinedVector<Condition, 3> without = state.At(id).conditions;
  const bool changed = ReconcileCounted(state, id);
  Workload& workload = state.At(id);
  const bool wrote = !SameStatus(state, workload, status, without);
  if (wrote && !SameStatus(state, workload, status, before)) return changed;
  workload.conditions = before;
  return changed && !wrote;
}

bool IsPending(const Workload& workload) { return !workload.HasQuotaReservation() && !workload.IsAdmitted(); }

}  // namespace

bool ReconcileWorkload(State& state, WorkloadId id) {
  if (state.At(id).deleted || state.At(id).IsFinished()) return false;
  if (PropagateRetryTime(state, id)) return true;
  const bool devices = IsPending(state.At(id)) && NeedsDevices(state, state.At(id));
  return devices ? ReconcileWithDevices(state, id) : ReconcileCounted(state, id);
}

namespace {

// Reason of PodsReady while it is not True: the pods have not started yet, or have not recovered.
Reason NotReadyReason(const Workload& workload, const Condition* known) {
  if (!workload.IsAdmitted() || known == nullptr) return Reason::kWaitForStart;
  const bool recovers = known->status || known->reason == Reason::kWaitForRecovery;
  return recovers ? Reason::kWaitForRecovery : Reason::kWaitForStart;
}

Reason ReadyReason(const Condition* known) {
  const bool recovered =
      known != nullptr && (known->reason == Reason::kWaitForRecovery || known->reason == Reason::kRecovered);
  return recovered ? Reason::kRecovered : Reason::kStarted;
}

// Updates PodsReady from the job's pods. Returns whether it changed.
bool SyncPodsReady(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  const Condition* known = workload.Find(ConditionType::kPodsReady);
  const bool ready = workload.IsAdmitted() && workload.Status().pods_ready;
  const Reason reason = ready ? ReadyReason(known) : NotReadyReason(workload, known);
  if (known != nullptr && known->status == ready && known->reason == reason) return false;
  const bool starting = reason == Reason::kWaitForStart;
  const Sentence unready = starting ? Sentence::kPodsNotReady : Sentence::kPodFailed;
  SetCondition(state, workload, ConditionType::kPodsReady, ready, reason,
               Say(ready ? Sentence::kPodsReady : unready));
  if (ready) state.Record(EventKind::kPodsReady, id);
  AfterWrite(state, id);
  state.MarkDirty(id);
  return true;
}

// Returns whether the pods of an evicted workload's job have terminated.
bool HasJobStopped(const State& state, const Workload& workload) {
  if (const std::optional<Time>& stops_at = workload.Status().job_stops_at) return *stops_at <= state.now;
  return state.now - workload.Find(ConditionType::kEvicted)->transition >= state.stop_delay;
}

}  // namespace

bool ReconcileJob(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  if (workload.deleted || workload.IsFinished() || IsVariant(state, workload)) return false;
  const bool has_job = workload.Status().dispatched.job != JobPlace::kNone;
  if (state.config.wait_for_pods_ready && has_job && SyncPodsReady(state, id)) return true;
  if (workload.Status().dispatched.job != JobPlace::kHere) return ReconcileDispatchedJob(state, id);
  if (!workload.IsEvicted()) return false;
  // PodsReady stays true until the job has stopped.
  if (workload.HasQuotaReservation() && !HasJobStopped(state, workload)) return false;
  if (workload.Status().pods_ready) state.EditStatus(workload).pods_ready = false;
  if (!workload.HasQuotaReservation()) return false;
  RemovePodsOf(state, workload);
  ReleaseEvicted(state, id);
  return true;
}

bool AllPodsReady(const State& state) {
  for (NodeId node : state.forest().Queues()) {
    for (WorkloadId id : state.Queue(node).workloads) {
      if (!state.At(id).IsTrue(ConditionType::kPodsReady)) return false;
    }
  }
  return true;
}

void ReleaseWaitingCycle(State& state) {
  WaitingCycle& waiting = state.waiting;
  if (waiting.start != nullptr && !waiting.released) waiting.released = AllPodsReady(state);
}

namespace {

// The rounds of one settle. If the settle ends early, for example because of an exception, the remaining
// workloads are reconciled by the next settle.
class Rounds {
 public:
  explicit Rounds(State& state) : state_(state) {}
  ~Rounds() {
    for (; next_ < round_.size(); ++next_) state_.MarkDirty(round_[next_]);
    // Reuse the memory in the next settle.
    if (state_.dirty.empty() && state_.dirty.capacity() < round_.capacity()) {
      round_.clear();
      state_.dirty.swap(round_);
    }
    for (WorkloadId id : watched_) state_.MarkDirty(id);
  }
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;

  void Run() {
    // Normally a few rounds are sufficient. If the limit is reached, the controllers would loop indefinitely
    // in Kueue too.
    for (int round = 0; round < kMostRounds && !state_.dirty.empty(); ++round) {
      Begin();
      for (; next_ < round_.size(); ++next_) {
        Poll();
        LookAt(round_[next_]);
      }
    }
  }

 private:
  static constexpr int kMostRounds = 1000;

  // Sorts the workloads of the round by `namespace/name`. The start of the name, as a number, decides most
  // comparisons without access to the workloads.
  void Begin() {
    round_.clear();
    round_.swap(state_.dirty);
    next_ = 0;
    struct Turn {
      const std::string* ns;
      uint64_t start;
      WorkloadId id;
    };
    std::vector<Turn> turns;
    turns.reserve(round_.size());
    for (WorkloadId id : round_) {
      Workload& workload = state_.At(id);
      workload.dirty_place = -1;
      // Equal namespaces in a row are one string here, so that the sort need not compare their letters.
      const std::string* ns = &workload.spec->ns;
      if (!turns.empty() && *turns.back().ns == *ns) ns = turns.back().ns;
      turns.push_back({ns, StartOf(workload.name), id});
    }
    std::sort(turns.begin(), turns.end(), [this](const Turn& a, const Turn& b) {
      if (a.ns != b.ns && *a.ns != *b.ns) return *a.ns + "/" < *b.ns + "/";
      if (a.start != b.start) return a.start < b.start;
      const Workload &left = std::as_const(state_).At(a.id), &right = std::as_const(state_).At(b.id);
      return left.name != right.name ? left.name < right.name : left.serial < right.serial;
    });
    std::transform(turns.begin(), turns.end(), round_.begin(), [](const Turn& turn) { return turn.id; });
  }

  // Returns the first eight bytes, in the order of strings.
  static uint64_t StartOf(const std::string& name) {
    uint64_t start = 0;
    for (size_t i = 0; i < sizeof(start); ++i)
      start = start << 8 | (i < name.size() ? static_cast<unsigned char>(name[i]) : 0);
    return start;
  }

  void LookAt(WorkloadId id) {
    if (WaitsUnchanged(state_, state_.At(id))) return;
    const bool by_workload = ReconcileWorkload(state_, id);
    const bool by_job = ReconcileJob(state_, id);
    if (by_workload || by_job) {
      ReleaseWaitingCycle(state_);
      state_.MarkDirty(id);
    } else if (NeedsWatching(state_, state_.At(id))) {
      watched_.push_back(id);
    }
  }

  State& state_;
  std::vector<WorkloadId> round_, watched_;
  size_t next_ = 0;
};

}  // namespace

std::vector<WorkloadId> ExpiredWorkloads(State& state) {
  auto& retained = state.caches.retained;
  if (!retained->has_value()) {
    retained.Edit().emplace();
    for (WorkloadId id : state.Living()) NoteRetention(state, id);
  }
  std::vector<WorkloadId> expired;
  if ((*retained)->empty() || (*retained)->begin()->first > state.now) return expired;
  auto& entries = *retained.Edit();
  for (auto next = entries.begin(); next != entries.end() && next->first <= state.now;) {
    const auto& [time, id] = *next;
    // The workload may have been deleted or activated since, and its slot may be used by another one.
    const bool exists = !state.workloads.IsFree(id) && !std::as_const(state).At(id).deleted;
    const bool stays = exists && RetainedUntil(state, std::as_const(state).At(id)) == time;
    if (stays) expired.push_back(id);
    next = stays ? std::next(next) : entries.erase(next);
  }
  return expired;
}

void Settle(State& state, bool all_devices) {
  EnsureBuilt(state);
  ReleaseWaitingCycle(state);
  MarkDevicesDirty(state, all_devices);
  Rounds(state).Run();
  if (state.config.admission_fair_sharing) Sample(state);
}

}  // namespace kueue
