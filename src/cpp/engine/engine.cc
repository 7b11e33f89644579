// Lifecycle of workloads. Mirrors the event handlers of pkg/controller/core/workload_controller.go (kueue
// ff69552e79).
#include "engine/engine.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/trees.h"
#include "engine/waits.h"
#include "fairness/ledger.h"
#include "lifecycle/conditions.h"
#include "lifecycle/controllers.h"
#include "lifecycle/devices.h"
#include "lifecycle/families.h"
#include "lifecycle/nodes.h"
#include "lifecycle/queueing.h"
#include "lifecycle/second_pass.h"
#include "scheduler/refusals.h"
#include "state/devices.h"
#include "state/names.h"
#include "state/rebuild.h"

namespace kueue {

Engine::Engine(Config config, RequestsConfig requests) {
  state_.config = std::move(config);
  state_.requests = std::move(requests);
  InternResource(state_, "cpu");
  InternResource(state_, "pods");
}

WorkloadId Engine::Submit(WorkloadObject&& object, const WorkloadStatus* status) {
  RemoveDeleted(state_);
  const WorkloadSpec& spec = *object.spec;
  const LocalQueueId local = LocalQueueOf(state_, spec);
  const WorkloadId id = state_.workloads.Add();
  Workload& workload = state_.At(id);
  workload.local_queue = local;
  workload.created = object.created.value_or(state_.now);
  workload.queue_time = workload.created;
  workload.priority = PriorityOf(state_, spec);
  workload.name = std::move(object.name);
  workload.uid = std::move(object.uid);
  workload.owned_by_single_pod = object.owned_by_single_pod;
  workload.spec = std::move(object.spec);
  SetKey(state_, id);
  if (status != nullptr) {
    SetStatus(id, *status);
    NoteRetention(state_, id);
  }
  state_.Record(EventKind::kCreated, id);
  state_.MarkDirty(id);
  if (workload.IsFinished()) return id;
  if (status != nullptr && state_.Local(local).IsRunning()) workload.assigned = local;
  if (IsAdmissible(state_, workload)) {
    AddOrUpdate(state_, id, /*changed=*/true);
  } else if (workload.HasQuotaReservation() && workload.admission && workload.spec->active) {
    Classify(state_, id);
    ChargeAdmission(state_, id);
    QueueSecondPass(state_, id);
  }
  return id;
}

namespace {

// Converts a pod set of an imported status, and interns its names.
PodSetAdmission PodSetFrom(State& state, const WorkloadSpec& spec,
                           const WorkloadStatus::PodSetRecord& record) {
  PodSetAdmission pod_set;
  pod_set.name = record.name;
  for (const PodSetSpec& declared : spec.pod_sets) {
    if (declared.name == record.name) pod_set.count = declared.count;
  }
  pod_set.count = record.count.value_or(pod_set.count);
  for (const auto& [resource, usage] : record.usage) {
    const auto flavor = record.flavors.find(resource);
    pod_set.resources.push_back({InternResource(state, resource),
                                 flavor == record.flavors.end() ? kNoId : InternFlavor(state, flavor->second),
                                 usage});
  }
  if (!record.levels.empty()) {
    auto topology = std::make_shared<TopologyAssignment>();
    topology->levels = record.levels;
    for (const auto& [values, pods] : record.domains) {
      topology->domains.push_back({state.topology.domains.Intern(JoinValues(values)), pods});
    }
    pod_set.topology = std::move(topology);
  }
  pod_set.delayed = record.delayed;
  return pod_set;
}

std::shared_ptr<const Admission> AdmissionFrom(State& state, const WorkloadSpec& spec,
                                               const WorkloadStatus& status) {
  auto admission = std::make_shared<Admission>();
  admission->cluster_queue = InternClusterQueue(state, status.cluster_queue);
  for (const WorkloadStatus::PodSetRecord& record : status.pod_sets)
    admission->pod_sets.push_back(PodSetFrom(state, spec, record));
  return admission;
}

}  // namespace

void Engine::SetStatus(WorkloadId id, const WorkloadStatus& status) {
  Workload& workload = state_.At(id);
  for (const WorkloadStatus::ConditionRecord& record : status.conditions) {
    const auto* const end = std::end(kConditionTypeNames);
    const auto* const name = std::find(std::begin(kConditionTypeNames), end, record.type);
    if (name == end) continue;
    const auto type = static_cast<ConditionType>(name - std::begin(kConditionTypeNames));
    workload.conditions.push_back({type, record.status, state_.reasons.Intern(record.reason),
                                   Quote(record.message), record.transition, workload.generation});
  }
  if (!status.cluster_queue.empty()) {
    workload.admission = AdmissionFrom(state_, *workload.spec, status);
  }
  StatusDetails& details = state_.EditStatus(workload);
  for (const WorkloadStatus::CheckRecord& record : status.checks) {
    details.checks.push_back({InternCheck(state_, record.name), record.state, record.message,
                              record.transition, record.requeue_after_seconds, record.retry_count,
                              record.pod_set_updates.json, record.pod_set_updates.list});
  }
  details.requeue_count = status.requeue_count;
  details.requeue_at = status.requeue_at;
  details.past_execution_seconds = status.past_execution_seconds;
  details.reclaimable = status.reclaimable;
  details.unhealthy_nodes = status.unhealthy_nodes;
  workload.queue_time = QueueOrderTime(state_, workload);
}

namespace {

// Returns whether a change of priority triggers retries. Only changes through a WorkloadPriorityClass trigger
// retries (pkg/workload/workload.go:PriorityChanged).
bool PriorityChanged(const WorkloadSpec& before, const WorkloadSpec& after, bool effective_differs) {
  const auto is_of = [](const WorkloadSpec& spec, absl::string_view kind) {
    return absl::StrContains(spec.priority_class, kind);
  };
  if (is_of(before, "scheduling.k8s.io/PriorityClass/") || !is_of(after, "/WorkloadPriorityClass/"))
    return false;
  return effective_differs || before.priority_class != after.priority_class;
}

}  // namespace

bool ScaledDown(const WorkloadSpec& before, const WorkloadSpec& after) {
  bool fewer = false;
  for (const PodSetSpec& pod_set : after.pod_sets) {
    for (const PodSetSpec& old : before.pod_sets) {
      if (old.name != pod_set.name) continue;
      if (pod_set.count > old.count) return false;
      fewer = fewer || pod_set.count < old.count;
    }
  }
  return fewer;
}

void Engine::Update(WorkloadId id, WorkloadObject object, bool changed) {
  Workload& workload = state_.At(id);
  const WorkloadSpec& spec = *object.spec;
  const bool was_active = workload.spec->active, active = spec.active;
  const bool moved = workload.spec->queue_name != spec.queue_name;
  if (moved) DropPenalty(state_, id);
  const int64_t priority = PriorityOf(state_, spec);
  const bool requeues =
      PriorityChanged(*workload.spec, spec, priority != workload.priority) ||
      (state_.config.gates.elastic_jobs_via_workload_slices && ScaledDown(*workload.spec, spec));
  const bool holds = workload.HasQuotaReservation();
  workload.uid = std::move(object.uid);
  workload.spec = std::move(object.spec);
  // The workload controller moves a workload with devices to its new queue.
  const bool stays = (workload.queued != kNoId || workload.listed) && active && !holds &&
                     !workload.IsFinished() && NeedsDevices(state_, workload);
  if (!stays) {
    AssignLocalQueue(state_, id);
  } else if (moved) {
    NoteChange(workload);
  }
  state_.MarkDirty(id);
  if (changed) ++workload.generation;
  if (workload.IsFinished() && !changed) return;
  if (workload.IsFinished() || !active) {
    LeaveEverything(state_, id);
    workload.priority = priority;
    return;
  }
  if (!holds) {
    AddOrUpdate(state_, id, changed || !was_active || priority != workload.priority);
    return;
  }
  workload.priority = priority;
  RefreshCharge(state_, id);
  if (requeues) NotifyRetryFor(state_, workload);
}

void Engine::Finish(WorkloadId id, Reason reason, std::string message) {
  Workload& workload = state_.At(id);
  const Message& usual = Say(reason == Reason::kSucceeded ? Sentence::kJobSucceeded : Sentence::kJobFailed);
  SetCondition(state_, workload, ConditionType::kFinished, true, reason,
               message.empty() ? usual : Quote(std::move(message)));
  RemovePodsOf(state_, workload);
  LeaveEverything(state_, id);
  state_.Record(EventKind::kFinished, id);
}

void Engine::Delete(WorkloadId id) {
  Workload& workload = state_.At(id);
  workload.deleted = true;
  RemovePodsOf(state_, workload);
  LeaveEverything(state_, id);
  EraseKey(state_, id);
  state_.Record(EventKind::kDeleted, id);
  state_.UnmarkDirty(id);
  state_.deleted.push_back(id);
  RemoveDeleted(state_);
}

void Engine::Evict(WorkloadId id, Reason reason, std::string message) {
  const Workload& workload = state_.At(id);
  if (!workload.HasQuotaReservation() || workload.IsEvicted() || workload.IsFinished()) return;
  kueue::Evict(state_, id, reason, Quote(std::move(message)));
  AfterWrite(state_, id);
}

void Engine::SetCheckState(WorkloadId id, const std::string& name, CheckState check_state,
                           std::optional<std::string> message, std::optional<int64_t> requeue_after_seconds,
                           std::optional<PodSetUpdates> pod_set_updates) {
  Workload& workload = state_.At(id);
  const CheckId check = InternCheck(state_, name);
  std::vector<WorkloadCheck>& checks = state_.EditStatus(workload).checks;
  auto entry =
      std::find_if(checks.begin(), checks.end(), [&](const WorkloadCheck& c) { return c.check == check; });
  if (entry == checks.end()) {
    WorkloadCheck fresh;
    fresh.check = check;
    fresh.transition = state_.now;
    entry = checks.insert(
        std::find_if(checks.begin(), checks.end(),
                     [&](const WorkloadCheck& c) { return state_.check_names.Name(c.check) > name; }),
        fresh);
  }
  if (entry->state != check_state) entry->transition = state_.now;
  entry->state = check_state;
  if (message) entry->message = std::move(*message);
  if (requeue_after_seconds) {
    entry->requeue_after_seconds =
        *requeue_after_seconds < 0 ? std::optional<int64_t>() : requeue_after_seconds;
  }
  if (pod_set_updates) {
    entry->pod_set_updates = std::move(pod_set_updates->json);
    entry->updates = std::move(pod_set_updates->list);
  }
  state_.MarkDirty(id);
  AfterWrite(state_, id);
}

void Engine::SetJobStop(WorkloadId id, Time at) {
  state_.EditStatus(state_.At(id)).job_stops_at = at;
  state_.MarkDirty(id);
}

void Engine::SetPreemptor(WorkloadId id) {
  const Workload& workload = state_.At(id);
  if (workload.queued == kNoId) return;
  ClusterQueue& queue = state_.Queue(workload.queued);
  queue.pending.preemptor = id;
  queue.pending.sticky = queue.spec.queueing_strategy == QueueingStrategy::kBestEffortFIFO;
}

void Engine::SetPodsReady(WorkloadId id, bool ready) {
  state_.EditStatus(state_.At(id)).pods_ready = ready;
  state_.MarkDirty(id);
}

void Engine::SetReclaimable(WorkloadId id, std::map<std::string, int64_t> reclaimable) {
  Workload& workload = state_.At(id);
  if (workload.Status().reclaimable == reclaimable) return;
  state_.EditStatus(workload).reclaimable = std::move(reclaimable);
  state_.MarkDirty(id);
  if (workload.charged != kNoId) {
    RefreshCharge(state_, id);
    if (workload.IsAdmitted()) NotifyRetryFor(state_, workload);
  } else if (!workload.IsFinished() && !workload.HasQuotaReservation()) {
    AddOrUpdate(state_, id, /*changed=*/true);
  }
}

void Engine::Settle(bool all_devices) {
  if (!all_devices && IsSettled(state_)) return;
  ReconcileWaitingNodes(state_);
  constexpr int kMostRounds = 100;  // Kueue's controllers may undo each other's changes without end.
  for (int round = 0; round < kMostRounds; ++round) {
    kueue::Settle(state_, all_devices && round == 0);
    if (!RemoveTerminated(state_) && !ReconcileFamilies(state_)) break;
  }
}

namespace {

std::string TreeName(const State& state, NodeId root) {
  const bool is_queue = state.forest().IsClusterQueue(root);
  return absl::StrCat(is_queue ? "ClusterQueue " : "Cohort ", state.forest().Name(root));
}

// Assigns the same domain ids in both states, because placements computed on the start state are applied to
// the current state. All domains of `start` are known in `now`, but rebuilding the trees of `start` may add
// more.
void MatchDomains(State& start, State& now) {
  EnsureBuilt(now);
  EnsureTopologies(now);
  start.topology.domains = now.topology.domains;
  EnsureBuilt(start);
  EnsureTopologies(start);
  now.topology.domains = start.topology.domains;
}

}  // namespace

CycleResult Engine::RunCycle(std::vector<Entry>* keep) {
  RemoveDeleted(state_);
  NoticeFreedNodes(state_);
  if (!state_.holds_retries) RequeueNotified(state_);
  CycleResult result;
  ReleaseWaitingCycle(state_);
  if (HasNoHead(state_)) {
    result.idle = true;
  } else if (state_.waiting.start == nullptr) {
    if (keep != nullptr || !RefuseHeads(state_, result)) result = Cycle(state_, entries_, threads_).Run(keep);
  } else if (state_.waiting.released) {
    State start = *state_.waiting.start;
    MatchDomains(start, state_);
    result = Cycle(start, state_, state_.waiting).Run(keep);
  } else {
    result.idle = true;
  }
  if (state_.config.admission_fair_sharing) Sample(state_);
  return result;
}

std::vector<std::string> Engine::NotifiedTrees() const {
  std::vector<std::string> names;
  for (NodeId root : state_.to_requeue) names.push_back(TreeName(state_, root));
  return names;
}

void Engine::Retry(const std::set<std::string>& trees) {
  std::set<NodeId> later;
  for (auto root = state_.to_requeue.begin(); root != state_.to_requeue.end();) {
    const bool now = trees.count(TreeName(state_, *root)) > 0;
    if (!now) later.insert(*root);
    root = now ? std::next(root) : state_.to_requeue.erase(root);
  }
  RequeueNotified(state_);
  state_.to_requeue.insert(later.begin(), later.end());
}

void Engine::ReleaseEvictedNow(const std::vector<WorkloadId>& evicted) {
  for (WorkloadId id : evicted) {
    if (state_.At(id).IsEvicted() && state_.At(id).HasQuotaReservation()) ReleaseEvicted(state_, id);
  }
}

Entry Engine::TryAdmit(WorkloadId id) {
  Workload& workload = state_.At(id);
  if (workload.cls == kNoId) Classify(state_, id);
  Cycle cycle(state_);
  return cycle.Nominate(id, state_.QueueOf(workload));
}

}  // namespace kueue
