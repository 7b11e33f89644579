#include "fleet/reconciliation.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lifecycle/conditions.h"
#include "lifecycle/controllers.h"
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

Reconciliation::Result Reconciliation::Run() {
  if (workload().Status().dispatched.job == JobPlace::kHere)
    manager().EditStatus(workload()).dispatched.job = JobPlace::kElsewhere;
  // The job of a replaced slice, and of one that waits to replace another, runs on.
  if (IsElastic() &&
      (workload().IsFinished()
           ? workload().Find(ConditionType::kFinished)->reason == Reason::kWorkloadSliceReplaced
           : !workload().HasQuotaReservation() && !workload().spec->replaces.empty())) {
    return {};
  }
  state_ = Check().state;
  See();
  if (workload().IsFinished() || !workload().HasQuotaReservation()) {
    const bool removed = copies_.RemoveJobs(local_, ranks_);
    return {copies_.RemoveAllBut(local_, visible_, kNoId) || removed};
  }
  const FirstTrue first = FindFirstTrue();
  if (first.finished != kNoId) return {FinishAs(*CopyOn(first.finished))};
  if (first.evicted != kNoId) {
    if (const auto followed = FollowEviction(*CopyOn(first.evicted))) return {*followed};
  }
  bool changed = SyncSpecs();
  const int32_t admitting = changed ? FindFirstTrue().admitted : first.admitted;
  if (admitting == kNoId && state_ == CheckState::kReady) return {LoseAdmitting() || changed};
  if (admitting != kNoId) return {Converge(*CopyOn(admitting)) || changed};
  if (manager().config.gates.multi_kueue_orchestrated_preemption && OpenNextGate()) changed = true;
  const bool is_over =
      state_ != CheckState::kPending || (workload().Status().dispatched.cluster != kNoId && !IsElastic());
  return {changed, !is_over || manager().config.rules.multi_kueue_nominates_during_retries};
}

void Reconciliation::See() {
  copies_.ForgetMissing(local_);
  if (options_.finds_by_name) copies_.FindByName(local_, check_.clusters);
  const auto rank = [this](int32_t cluster) { return ranks_[static_cast<size_t>(cluster)]; };
  bool in_order = true;
  for (const Copy& copy : local_.copies) {
    if (rank(copy.cluster) == kNoId || !copies_.IsConnected(copy.cluster)) continue;
    in_order = in_order && (visible_.empty() || rank(visible_.back()) < rank(copy.cluster));
    visible_.push_back(copy.cluster);
  }
  if (in_order) return;
  std::sort(visible_.begin(), visible_.end(), [&rank](int32_t a, int32_t b) { return rank(a) < rank(b); });
}

const WorkloadCheck& Reconciliation::Check() const {
  const std::vector<WorkloadCheck>& checks = workload().status->checks;
  return *std::find_if(checks.begin(), checks.end(),
                       [this](const WorkloadCheck& check) { return check.check == id_; });
}

Reconciliation::FirstTrue Reconciliation::FindFirstTrue() const {
  struct {
    ConditionType type;
    int32_t cluster = kNoId;
    Time since = 0;
  } firsts[] = {{ConditionType::kFinished}, {ConditionType::kEvicted}, {ConditionType::kAdmitted}};
  if (!manager().config.gates.multi_kueue_wait_for_workload_admitted)
    firsts[2].type = ConditionType::kQuotaReserved;
  for (int32_t cluster : visible_) {
    const Copy* copy = CopyOn(cluster);
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

void Reconciliation::SetCheck(CheckState state, std::string message) {
  copies_.engine().SetCheckState(local_.id, check_.check, state, std::move(message));
}

bool Reconciliation::FinishAs(const Copy& copy) {
  // A copy, because SyncJob() may submit a workload to the worker.
  const Condition finished = *WorkloadOf(copy).Find(ConditionType::kFinished);
  const State& there = copies_.EngineOf(copy).state();
  const std::string reason = there.reasons.Name(finished.reason);
  if (reason == "OutOfSync" && !IsElastic()) {
    if (state_ != CheckState::kReady) return false;
    SetCheck(CheckState::kRetry,
             absl::StrCat("Remote workload on worker cluster \"", At(copy.cluster).name,
                          "\" is out of sync with its user job, resetting for re-dispatch, Previously: \"",
                          NameOf(state_), "\""));
    return true;
  }
  if (!OwnsJob(copy)) return false;
  SyncJob(copy);
  copies_.engine().Finish(local_.id, InternReason(manager(), reason.c_str()),
                          Render(there, finished.message));
  return true;
}

// Returns nullopt if the reconciliation continues.
std::optional<bool> Reconciliation::FollowEviction(const Copy& copy) {
  if (workload().IsEvicted()) return OwnsJob(copy) && SyncJob(copy);
  if (state_ != CheckState::kReady ||
      !manager().config.gates.multi_kueue_redo_admission_on_eviction_in_worker) {
    return std::nullopt;
  }
  const int32_t cluster = workload().Status().dispatched.cluster;
  SetCheck(CheckState::kRetry,
           absl::StrCat("Workload evicted on worker cluster: \"", cluster == kNoId ? "" : At(cluster).name,
                        "\", resetting for re-admission. Previously: \"", NameOf(state_), "\""));
  return true;
}

bool Reconciliation::SyncSpecs() {
  bool changed = false;
  for (int32_t cluster : visible_) {
    Copy& copy = *CopyOn(cluster);
    if (copies_.IsInSync(copy, workload().spec)) continue;
    changed = true;
    if (!copies_.UpdateInPlace(local_, copy)) copies_.Remove(local_, cluster);
  }
  return changed;
}

// Called if the check is Ready but no admitted copy is visible.
bool Reconciliation::LoseAdmitting() {
  const int32_t cluster = workload().Status().dispatched.cluster;
  const bool reserving = manager().config.rules.multi_kueue_texts_of_v0_18;
  std::string message = reserving ? "Reserving remote no longer exists or is not admitted"
                                  : "Admitting remote no longer exists";
  if (cluster == kNoId) {
    message = absl::StrCat("Admission check is Ready but no ", reserving ? "reserving" : "admitting",
                           " cluster is recorded; this is unexpected, please report it");
  } else if (!copies_.IsConnected(cluster) && ranks_[static_cast<size_t>(cluster)] != kNoId) {
    // Without a MultiKueueCluster, Kueue has no record of the loss, and counts from now.
    const Time since = At(cluster).declared ? At(cluster).lost_since : manager().now;
    const Time due = since + options_.worker_lost_timeout;
    if (due > manager().now) {
      local_.LookAgain(due);
      return false;
    }
    message = reserving ? "Reserving remote lost" : "Admitting remote lost";
  }
  SetCheck(CheckState::kRetry, absl::StrCat(message, ", Previously: \"", NameOf(state_), "\""));
  return true;
}

bool Reconciliation::Converge(const Copy& copy) {
  const int32_t cluster = copy.cluster;
  bool changed = copies_.RemoveAllBut(local_, visible_, cluster);
  const Copy& kept = *CopyOn(cluster);
  if (workload().IsEvicted()) return Deactivate(kept) || changed;
  if (!OwnsJob(kept)) return changed;
  if (SyncJob(kept)) changed = true;
  return Admit(cluster) || changed;
}

// Mirrors workload.go:syncAdmittingRemoteState.
bool Reconciliation::Admit(int32_t cluster) {
  if (state_ == CheckState::kRetry) return SyncTopology(cluster);
  const Dispatched& known = workload().Status().dispatched;
  // An error in Kueue: the cluster must not change.
  if (known.cluster != kNoId && known.cluster != cluster) return false;
  const bool placed = SyncTopology(cluster);
  const bool reserving = manager().config.rules.multi_kueue_texts_of_v0_18;
  std::string message = absl::StrCat("The workload ", reserving ? "got reservation" : "was admitted",
                                     " on \"", At(cluster).name, "\"");
  const bool is_known =
      state_ == CheckState::kReady && known.cluster == cluster && Check().message == message;
  if (is_known && known.nominated.empty()) return placed;
  Dispatched& dispatched = manager().EditStatus(workload()).dispatched;
  dispatched.cluster = cluster;
  dispatched.nominated.clear();
  SetCheck(CheckState::kReady, std::move(message));
  return true;
}

// Marks the delayed topology requests of the manager's workload as ready if its copy has topology
// assignments. Mirrors workload.go:updateDelayedTopologyRequest.
bool Reconciliation::SyncTopology(int32_t cluster) {
  const std::shared_ptr<const Admission>& here = workload().admission;
  const std::shared_ptr<const Admission>& there = WorkloadOf(*CopyOn(cluster)).admission;
  if (here == nullptr || there == nullptr || !HasPendingTopology(workload())) return false;
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
  workload().admission = std::move(admission);
  manager().Record(EventKind::kAssigned, local_.id);
  manager().MarkDirty(local_.id);
  return true;
}

bool Reconciliation::Deactivate(const Copy& copy) {
  copies_.Need(copy.cluster);
  State& there = copies_.EngineOf(copy).state();
  const Condition& evicted = *workload().Find(ConditionType::kEvicted);
  const std::string why = absl::StrCat("Evicted on manager: ", Render(manager(), evicted.message));
  if (SetCondition(there, there.At(copy.id), ConditionType::kDeactivationTarget, true,
                   InternReason(there, "EvictedOnManagerCluster"), Quote(why)) == Write::kNone) {
    return false;
  }
  there.MarkDirty(copy.id);
  AfterWrite(there, copy.id);
  copies_.Report(Move::kDeactivating, local_, copy);
  return true;
}

// Returns false if the worker has a job of this name that a user created there. The reconciliation then ends
// with an error.
// Mirrors pkg/controller/jobframework/utils.go:ValidateRemoteObjectOwnership.
bool Reconciliation::OwnsJob(const Copy& copy) const {
  const Workload& remote = WorkloadOf(copy);
  return remote.Status().dispatched.job != JobPlace::kHere || remote.spec->job_uid.empty();
}

// Creates the job on the worker, or copies its status. Returns whether the manager must act immediately.
// Neither change requires another reconciliation.
// Mirrors job_multikueue_adapter.go:SyncJob and, for the other kinds of jobs, the adapters of
// pkg/controller/jobs.
bool Reconciliation::SyncJob(const Copy& copy) {
  State& there = copies_.EngineOf(copy).state();
  const Workload& remote = there.At(copy.id);
  const JobPlace place = remote.Status().dispatched.job;
  // A workload that a user created on the worker without a job gets a job like a copy.
  if (place == JobPlace::kHere || place == JobPlace::kNone) {
    copies_.Need(copy.cluster, /*queues_stay=*/!remote.IsEvicted());
    // The job of an elastic job's earlier slice now belongs to this one.
    const bool is_there = copies_.SharesJob(local_, copy.cluster);
    const auto gets_job = [](State& at, WorkloadId id) {
      at.EditStatus(at.At(id)).dispatched.job = JobPlace::kCopied;
      at.MarkDirty(id);
      AfterWrite(at, id);
    };
    CopyOn(copy.cluster)->has_job = true;
    gets_job(there, copy.id);
    if (local_.role != GroupRole::kAlone) copies_.ForKin(local_, copy.cluster, gets_job);
    if (!is_there) {
      copies_.Report(Move::kStarted, local_, copy);
      return false;
    }
  }
  if (local_.status_copy == StatusCopy::kNever) return false;
  const Dispatched& job = workload().Status().dispatched;
  const Dispatched& running = remote.Status().dispatched;
  // In virtual time, the manager's job is active from the start of the run until this function reports that
  // it has no pods. The difference is a few seconds.
  if (options_.is_virtual_time && (running.active || !remote.IsEvicted()) && !remote.IsFinished())
    return false;
  const bool copies_always = local_.status_copy == StatusCopy::kAlways;
  if (!copies_always && job.suspended && !running.suspended && !remote.IsFinished()) return false;
  const bool active = running.active && !remote.IsFinished();
  // The readiness of the pods is a part of the job's status, too.
  const bool copies_ready = manager().config.wait_for_pods_ready && !options_.is_virtual_time;
  const bool was_ready = workload().Status().pods_ready;
  const bool ready = copies_ready ? active && remote.Status().pods_ready : was_ready;
  if (job.active == active && was_ready == ready) return false;
  StatusDetails& status = manager().EditStatus(workload());
  status.dispatched.active = active;
  status.pods_ready = ready;
  manager().MarkDirty(local_.id);
  return options_.is_virtual_time;
}

// Mirrors workload.go:workloadToOpenPreemptionGate.
bool Reconciliation::OpenNextGate() {
  std::optional<Time> opened;
  int32_t blocked = kNoId;
  Time since = 0;
  for (int32_t cluster : visible_) {
    const Copy* copy = CopyOn(cluster);
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
    local_.LookAgain(*opened + options_.gate_timeout);
    return false;
  }
  copies_.Need(blocked);
  const Copy& copy = *CopyOn(blocked);
  OpenPreemptionGate(copies_.EngineOf(copy).state(), copy.id, kMultiKueueGate);
  local_.LookAgain(manager().now + options_.gate_timeout);
  copies_.Report(Move::kOpened, local_, copy);
  return true;
}

}  // namespace kueue
