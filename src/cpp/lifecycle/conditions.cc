// Mirrors pkg/workload/{workload,admissionchecks}.go and pkg/workload/evict/evict.go (kueue ff69552e79).
#include "lifecycle/conditions.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lifecycle/devices.h"
#include "lifecycle/dispatched.h"
#include "lifecycle/queueing.h"
#include "lifecycle/second_pass.h"
#include "state/held.h"
#include "state/names.h"
#include "state/rebuild.h"
#include "state/variants.h"
#include "text/sentences.h"
#include "text/text.h"

namespace kueue {
namespace {

// Returns the reason of the feature gate UnadmittedWorkloadsObservability, or the coarse reason without it.
Reason WithFallback(const State& state, Reason granular, Reason fallback) {
  return state.config.gates.unadmitted_workloads_observability ? granular : fallback;
}

}  // namespace

Write SetCondition(State& state, Workload& workload, ConditionType type, bool status, Reason reason,
                   const Message& message) {
  for (Condition& condition : workload.conditions) {
    if (condition.type != type) continue;
    const bool flips = condition.status != status, moves_on = condition.generation != workload.generation;
    condition.generation = workload.generation;
    if (!flips && condition.reason == reason && SameMessage(state, condition.message, message))
      return moves_on ? Write::kGeneration : Write::kNone;
    condition.status = status;
    condition.reason = reason;
    condition.message = message;
    if (flips) condition.transition = state.now;
    return Write::kContent;
  }
  workload.conditions.push_back({type, status, reason, message, state.now, workload.generation});
  return Write::kContent;
}

void RemoveCondition(Workload& workload, ConditionType type) {
  auto& conditions = workload.conditions;
  conditions.erase(std::remove_if(conditions.begin(), conditions.end(),
                                  [type](const Condition& condition) { return condition.type == type; }),
                   conditions.end());
}

namespace {

Message QuotaReservedIn(State& state, NodeId queue) {
  auto& known = state.caches.reserved;
  known.GrowTo(queue);
  const Message& before = std::as_const(known)[queue];
  if (before != nullptr) return before;
  return known[queue] = std::make_shared<const MessageBody>(ReservedIn{queue});
}

// Returns whether the topology assignment of any pod set, or its delay, differs.
bool PlacesDiffer(const Admission* before, const Admission& now) {
  const auto same = [](const PodSetAdmission& a, const PodSetAdmission& b) {
    const bool placed = a.topology != nullptr && b.topology != nullptr;
    return a.delayed == b.delayed && (a.topology != nullptr) == (b.topology != nullptr) &&
           (!placed || *a.topology == *b.topology);
  };
  return before == nullptr || !std::equal(before->pod_sets.begin(), before->pod_sets.end(),
                                          now.pod_sets.begin(), now.pod_sets.end(), same);
}

}  // namespace

void SetQuotaReservation(State& state, WorkloadId id, std::shared_ptr<const Admission> admission) {
  Workload& workload = state.At(id);
  const bool had = workload.HasQuotaReservation();
  const bool moved = had && PlacesDiffer(workload.admission.get(), *admission);
  SetCondition(state, workload, ConditionType::kQuotaReserved, true, Reason::kQuotaReserved,
               QuotaReservedIn(state, admission->cluster_queue));
  workload.admission = std::move(admission);
  if (workload.devices != nullptr) AssignLocalQueue(state, id);
  workload.listed = false;
  Message ended, previously;  // A preempted workload has the same message in Evicted and Preempted.
  for (const Condition& active : workload.conditions) {
    const bool ends = active.type == ConditionType::kEvicted || active.type == ConditionType::kPreempted ||
                      active.type == ConditionType::kBlockedOnPreemptionGates;
    if (!ends || !active.status) continue;
    if (previously == nullptr || active.message != ended) {
      ended = active.message;
      previously = std::make_shared<const MessageBody>(Previously{ended});
    }
    SetCondition(state, workload, active.type, false, Reason::kQuotaReserved, previously);
  }
  // The finished eviction no longer affects the queue order.
  workload.queue_time = QueueOrderTime(state, workload);
  if (!had || moved) state.Record(had ? EventKind::kAssigned : EventKind::kReserved, id);
  state.MarkDirty(id);
}

bool UnsetQuotaReservation(State& state, WorkloadId id, Reason reason, const Message& message) {
  Workload& workload = state.At(id);
  const bool had = workload.HasQuotaReservation();
  const Write write = SetCondition(state, workload, ConditionType::kQuotaReserved, false, reason, message);
  const bool had_admission = workload.admission != nullptr;
  workload.admission = nullptr;
  if (write == Write::kContent || had_admission) state.Record(EventKind::kPending, id);
  bool changed = write != Write::kNone || had_admission;
  if (had) state.Record(EventKind::kReleased, id);
  if (SyncAdmitted(state, id)) changed = true;
  if (changed) state.MarkDirty(id);
  return changed;
}

bool SyncAdmitted(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  const bool reserved = workload.HasQuotaReservation(), ready = HasAllChecksReady(workload);
  const bool was_admitted = workload.IsAdmitted(), placed = !HasPendingTopology(workload);
  const FeatureGates& gates = state.config.gates;
  if (gates.unadmitted_workloads_observability) {
    if (workload.Find(ConditionType::kQuotaReserved) == nullptr &&
        workload.Find(ConditionType::kAdmitted) == nullptr && !gates.unadmitted_workloads_explicit_status) {
      return false;
    }
  } else if (was_admitted == (reserved && ready && placed)) {
    return false;
  }
  Reason reason = Reason::kAdmitted;
  Sentence sentence = Sentence::kAdmitted;
  if (!reserved && !ready && !gates.unadmitted_workloads_observability) {
    reason = Reason::kNoReservationUnsatisfiedChecks;
    sentence = Sentence::kNoReservationNorChecks;
  } else if (!reserved) {
    reason = Reason::kNoReservation;
    sentence = Sentence::kNoReservation;
  } else if (!ready) {
    reason = WithFallback(state, Reason::kUnsatisfiedAdmissionChecks, Reason::kUnsatisfiedChecks);
    sentence = Sentence::kChecksNotReady;
  } else if (!placed) {
    reason = Reason::kPendingDelayedTopologyRequests;
    sentence = Sentence::kDelayedTopologyPending;
  }
  const bool admits = reserved && ready && placed;
  if (was_admitted && !admits) {
    const Time since = state.now - workload.Find(ConditionType::kAdmitted)->transition;
    StatusDetails& status = state.EditStatus(workload);
    status.past_execution_seconds = SaturatingAdd(status.past_execution_seconds.value_or(0), since / kSecond);
  }
  const bool changed =
      SetCondition(state, workload, ConditionType::kAdmitted, admits, reason, Say(sentence)) != Write::kNone;
  if (changed) state.MarkDirty(id);
  if (admits && !was_admitted) state.Record(EventKind::kAdmitted, id);
  return changed;
}

void Evict(State& state, WorkloadId id, Reason reason, const Message& message) {
  if (MarkEvicted(state, id, reason, message)) state.Record(EventKind::kEvicted, id);
}

bool MarkEvicted(State& state, WorkloadId id, Reason reason, const Message& message) {
  Workload& workload = state.At(id);
  const bool was_evicted = workload.IsEvicted();
  SetCondition(state, workload, ConditionType::kEvicted, true, reason, message);
  if (!workload.Status().unhealthy_nodes.empty()) {
    state.EditStatus(workload).unhealthy_nodes.clear();
    state.Record(EventKind::kUnhealthyNodes, id);
  }
  if (workload.status && !workload.status->checks.empty()) {
    for (WorkloadCheck& check : state.EditStatus(workload).checks) {
      if (check.state == CheckState::kPending) continue;
      const bool retried = check.state == CheckState::kRetry;
      check.message = ResetCheckText(check.state);
      check.retry_count = retried ? std::optional<int64_t>(check.retry_count.value_or(0) + 1) : std::nullopt;
      check.state = CheckState::kPending;
      check.pod_set_updates.clear();
      check.updates.clear();
      check.transition = state.now;
    }
  }
  ForgetDispatch(state, workload, reason, message);
  workload.queue_time = QueueOrderTime(state, workload);
  state.MarkDirty(id);
  return !was_evicted;
}

bool HasAllChecksReady(const Workload& workload) {
  if (workload.status == nullptr) return true;
  const std::vector<WorkloadCheck>& checks = workload.Status().checks;
  return std::all_of(checks.begin(), checks.end(),
                     [](const WorkloadCheck& check) { return check.state == CheckState::kReady; });
}

bool HasCheckIn(const Workload& workload, CheckState check_state) {
  if (workload.status == nullptr) return false;
  const std::vector<WorkloadCheck>& checks = workload.Status().checks;
  return std::any_of(checks.begin(), checks.end(),
                     [check_state](const WorkloadCheck& check) { return check.state == check_state; });
}

std::vector<CheckId> RequiredChecks(const State& state, NodeId node, const Workload& workload) {
  const ClusterQueue& queue = state.Queue(node);
  std::vector<CheckId> required;
  const auto has_no_flavor = [](const PodSetAdmission& pod_set) {
    return std::all_of(pod_set.resources.begin(), pod_set.resources.end(),
                       [](const PodSetAdmission::Resource& entry) { return entry.flavor == kNoId; });
  };
  const bool needs_all =
      state.config.rules.flavorless_quota_needs_all_checks && workload.admission &&
      std::all_of(workload.admission->pod_sets.begin(), workload.admission->pod_sets.end(), has_no_flavor);
  const auto is_assigned = [&workload](FlavorId flavor) {
    for (const PodSetAdmission& pod_set : workload.admission->pod_sets) {
      for (const PodSetAdmission::Resource& entry : pod_set.resources) {
        if (entry.flavor == flavor) return true;
      }
    }
    return false;
  };
  for (const CheckIds& rule : queue.checks) {
    const bool needed = workload.admission
                            ? std::any_of(rule.flavors.begin(), rule.flavors.end(), is_assigned)
                            : rule.flavors.size() == queue.flavors.size();
    if (needed || needs_all) required.push_back(rule.check);
  }
  return required;
}

bool HasAllRequiredChecks(const State& state, NodeId queue, const Workload& workload) {
  if (state.Queue(queue).checks.empty()) return true;
  const std::vector<WorkloadCheck>& listed = workload.Status().checks;
  for (CheckId required : RequiredChecks(state, queue, workload)) {
    if (std::none_of(listed.begin(), listed.end(),
                     [required](const WorkloadCheck& check) { return check.check == required; })) {
      return false;
    }
  }
  return true;
}

bool IsOnHold(const Workload& workload) {
  const Condition* reserved = workload.Find(ConditionType::kQuotaReserved);
  return reserved != nullptr && !reserved->status && reserved->reason == Reason::kOnHold;
}

bool HasAdmissionGate(const State& state, const Workload& workload) {
  return state.config.gates.admission_gated_by && !workload.spec->admission_gate.empty();
}

bool IsAdmissible(const State& state, const Workload& workload) {
  return !HasAdmissionGate(state, workload) && !workload.IsFinished() && workload.spec->active &&
         !workload.HasQuotaReservation() && !IsOnHold(workload);
}

bool IsBackoffExpired(const State& state, const Workload& workload) {
  const bool ignored = workload.devices != nullptr && workload.devices->ignores_requeued;
  if (!ignored && workload.IsFalse(ConditionType::kRequeued)) return false;
  const std::optional<Time>& requeue_at = workload.Status().requeue_at;
  return !requeue_at || state.now >= *requeue_at;
}

Time QueueOrderTime(const State& state, const Workload& workload) {
  const Condition* evicted = workload.Find(ConditionType::kEvicted);
  if (evicted != nullptr && evicted->status) {
    const bool by_eviction =
        !state.config.wait_for_pods_ready || state.config.wait_for_pods_ready->requeue_by_eviction_time;
    if (by_eviction && evicted->reason == Reason::kPodsReadyTimeout) return evicted->transition;
    if (evicted->reason == Reason::kAdmissionCheck) return evicted->transition;
  }
  if (!state.config.gates.priority_sorting_within_cohort) {
    const Condition* preempted = workload.Find(ConditionType::kPreempted);
    if (preempted != nullptr && preempted->status &&
        preempted->reason == Reason::kInCohortReclaimWhileBorrowing) {
      return SaturatingAdd(preempted->transition, kSecond / 1000);
    }
  }
  return workload.created;
}

namespace {

// Returns the quota usage of one pod.
Requests RequestsOfOne(const PodSetAdmission& admitted) {
  Requests requests;
  for (const PodSetAdmission::Resource& entry : admitted.resources) {
    requests.emplace_back(entry.resource, admitted.count == 0 ? 0 : entry.usage / admitted.count);
  }
  return requests;
}

// Computes the topology usage: the pods in their domains, for each flavor of their pod set
// (pkg/workload/workload.go:TASUsage). Uses the pod sets of the class, since the pod sets of the spec may
// have changed after the assignment was made.
void ComputeTopologyUsage(State& state, Workload& workload) {
  workload.topology_usage = nullptr;
  const auto& pod_sets = workload.admission->pod_sets;
  const auto has_place = [](const PodSetAdmission& one) { return one.topology != nullptr; };
  if (!state.config.gates.topology_aware_scheduling ||
      std::none_of(pod_sets.begin(), pod_sets.end(), has_place))
    return;
  TopologyUsages usage;
  for (size_t i = 0; i < state.Class(workload.cls).pod_sets.size(); ++i) {
    for (const PodSetAdmission& admitted : pod_sets) {
      if (admitted.name != state.Class(workload.cls).pod_sets[i].name || !admitted.topology) continue;
      const Requests requests = state.config.rules.topology_usage_by_quota
                                    ? RequestsOfOne(admitted)
                                    : DemandsOf(state, workload.cls)[i].requests;
      absl::InlinedVector<FlavorId, 2> flavors;
      usage.reserve(usage.size() + admitted.topology->domains.size());
      for (const PodSetAdmission::Resource& entry : admitted.resources) {
        if (std::find(flavors.begin(), flavors.end(), entry.flavor) != flavors.end()) continue;
        flavors.push_back(entry.flavor);
        for (const DomainCount& domain : admitted.topology->domains) {
          usage.push_back({entry.flavor, domain.domain, domain.count, requests});
        }
      }
    }
  }
  workload.topology_usage = std::make_shared<const TopologyCharge>(TopologyCharge{std::move(usage)});
}

void ComputeUsage(State& state, Workload& workload) {
  workload.usage.clear();
  for (const PodSetAdmission& admitted : workload.admission->pod_sets) {
    const int64_t held = HeldCount(state, workload, admitted);
    for (const PodSetAdmission::Resource& entry : admitted.resources) {
      if (entry.flavor == kNoId) continue;
      const int64_t usage = HeldUsage(entry.usage, admitted, held);
      const FlavorResourceId fr = InternFlavorResource(state, entry.flavor, entry.resource);
      auto at = workload.usage.begin();
      while (at != workload.usage.end() && at->first != fr) ++at;
      if (at == workload.usage.end()) {
        workload.usage.emplace_back(fr, Amount(usage));
      } else {
        at->second += Amount(usage);
      }
    }
  }
}

}  // namespace

void ChargeAdmission(State& state, WorkloadId id, TopologyUsages* placed) {
  Workload& workload = state.At(id);
  const NodeId node = workload.admission->cluster_queue;
  if (!state.forest().IsDeclared(node) || IsParentIn(state, workload, node)) return;
  EnsureBuilt(state);
  if (placed != nullptr) {
    workload.topology_usage = std::make_shared<const TopologyCharge>(TopologyCharge{std::move(*placed)});
  } else {
    ComputeTopologyUsage(state, workload);
  }
  ComputeUsage(state, workload);
  if (!state.quota.HasColumns(state.flavor_resources.size()))
    state.quota.Resize(state.flavor_resources.size());
  ClusterQueue& queue = state.Queue(node);
  workload.charged = node;
  workload.charged_place = static_cast<int32_t>(queue.workloads.size());
  queue.workloads.push_back(id);
  for (const auto& [fr, amount] : workload.usage) state.quota.Add(node, fr, amount);
  if (workload.topology_usage) ChargeTopology(state, workload.topology_usage->entries, 1);
}

void DischargeAdmission(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  if (workload.charged == kNoId) return;
  EnsureBuilt(state);
  ClusterQueue& queue = state.Queue(workload.charged);
  for (const auto& [fr, amount] : workload.usage) state.quota.Remove(workload.charged, fr, amount);
  if (workload.topology_usage) ChargeTopology(state, workload.topology_usage->entries, -1);
  const size_t place = static_cast<size_t>(workload.charged_place);
  queue.workloads[place] = queue.workloads.back();
  state.At(queue.workloads[place]).charged_place = workload.charged_place;
  queue.workloads.pop_back();
  ++queue.generation;
  workload.charged = kNoId;
  workload.charged_place = -1;
}

void ReplaceCharge(State& state, WorkloadId id) {
  const Workload& workload = std::as_const(state).At(id);
  const NodeId queue = workload.charged;
  if (queue == kNoId) return;
  ++state.Queue(queue).generation;
  for (const auto& [fr, amount] : workload.usage) {
    if (!state.quota.Usage(queue, fr).IsUnlimited()) continue;
    state.quota.Remove(queue, fr, amount);
    state.quota.Add(queue, fr, amount);
  }
}

void RefreshCharge(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  DischargeAdmission(state, id);
  if (workload.admission && workload.HasQuotaReservation() && !workload.IsFinished() &&
      workload.spec->active) {
    ChargeAdmission(state, id);
  }
}

Reason ReasonIn(const Workload& workload, ConditionType type) {
  const Condition* condition = workload.Find(type);
  return condition == nullptr ? Reason::kEmpty : condition->reason;
}

}  // namespace kueue
