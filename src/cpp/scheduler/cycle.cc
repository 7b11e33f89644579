// Mirrors pkg/scheduler/scheduler.go (kueue ff69552e79).
#include "scheduler/cycle.h"

#include <algorithm>
#include <utility>

#include "fairness/ledger.h"
#include "fairness/tournament.h"
#include "flavor/topology_usage.h"
#include "lifecycle/conditions.h"
#include "lifecycle/controllers.h"
#include "lifecycle/dispatched.h"
#include "lifecycle/queueing.h"
#include "lifecycle/second_pass.h"
#include "preemption/fit.h"
#include "state/rebuild.h"
#include "state/variants.h"

namespace kueue {

CycleResult Cycle::Run(std::vector<Entry>* keep) {
  EnsureBuilt(state_);
  EnsureTopologies(state_);
  TakeHeads();
  CycleResult& result = outcome_.result();
  if (entries_.empty()) {
    result.idle = true;
    return std::move(result);
  }
  result.heads = static_cast<int>(entries_.size());
  admitted_.reserve(entries_.size());
  if (!IsResumed()) block_.Remember(second_passes_);
  ++state_.scheduling_cycle;
  nomination_.BeginCycle(/*recalls=*/keep == nullptr);
  ShowAsAsked();
  {
    // The cycle changes usage only temporarily; admitted workloads are charged permanently afterwards.
    const Trial trial(state_, kNoId);
    nomination_.NominateAll(entries_, threads_);
    Process();
  }
  ShowAsIs();
  outcome_.Apply(admitted_);
  if (!block_.waits()) {
    live_.waiting = WaitingCycle();
    outcome_.Requeue(entries_, second_passes_);
  }
  if (result.admitted > 0 && block_.passed() == 0) ++live_.successful_cycles;
  if (keep != nullptr) {
    keep->clear();
    for (const Entry& entry : entries_) {
      if (entry.decided) keep->push_back(entry);
    }
  }
  return std::move(result);
}

Entry Cycle::Nominate(WorkloadId workload, NodeId queue) {
  EnsureBuilt(state_);
  EnsureTopologies(state_);
  nomination_.BeginCycle(/*recalls=*/false);
  Entry entry;
  entry.workload = workload;
  entry.queue = queue;
  nomination_.Nominate(entry);
  return entry;
}

void Cycle::Process() {
  if (state_.config.fair_sharing) return ProcessInFairOrder();
  for (size_t index : ClassicalOrder()) {
    ProcessEntry(entries_[index]);
    if (block_.waits()) return;
  }
}

void Cycle::TakeHeads() {
  entries_.clear();
  if (!state_.second_passes.empty()) {
    second_passes_ = TakeSecondPasses(state_);
    for (const SecondPass& pass : second_passes_) {
      Entry entry;
      entry.workload = pass.workload;
      entry.queue = pass.admission->cluster_queue;
      entry.second_pass = pass.iteration;
      entries_.push_back(std::move(entry));
    }
  }
  const auto has_pending_penalty = [this](LocalQueueId queue) { return HasPendingPenalty(state_, queue); };
  const IdVector<NodeId, bool>& held_back = state_.followed.held_back;
  const auto take = [&](NodeId node) {
    if (!state_.Queue(node).inactivity.IsActive()) return true;
    if (!held_back.empty() && held_back[node]) return true;
    PendingQueue& pending = state_.Queue(node).pending;
    if (!IsResumed() && pending.inflight() != kNoId) RemoveFromQueue(state_, pending.inflight());
    const WorkloadId head =
        IsResumed() ? pending.inflight() : pending.Pop(state_.pending_tables(), has_pending_penalty);
    if (head != kNoId) {
      Entry& entry = entries_.emplace_back();
      entry.workload = head;
      entry.queue = node;
      entry.is_preemptor = pending.preemptor == head;
    }
    return pending.HasActive();
  };
  if (!IsResumed()) return state_.caches.heads.Take(state_.forest().Queues(), take);
  for (NodeId node : state_.forest().Queues()) take(node);
}

std::vector<size_t> Cycle::ClassicalOrder() const {
  // What orders an entry, read once. `group` contains whether the entry is a first pass, whether it is no
  // preemptor, and its borrowing level, from the highest bits to the lowest.
  struct Rank {
    uint64_t group;
    int64_t priority;
    Time time;
    size_t index;
  };
  const FeatureGates& gates = state_.config.gates;
  std::vector<Rank> ranks;
  ranks.reserve(entries_.size());
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (!entry.nominated) continue;
    const Workload& workload = std::as_const(state_).At(entry.workload);
    const bool is_no_preemptor = gates.prioritize_preemptor_workloads && !entry.is_preemptor;
    const uint64_t group = uint64_t{entry.second_pass == 0} << 33 | uint64_t{is_no_preemptor} << 32 |
                           static_cast<uint32_t>(entry.assignment.borrowing);
    ranks.push_back(
        {group, gates.priority_sorting_within_cohort ? workload.priority : 0, workload.queue_time, i});
  }
  std::sort(ranks.begin(), ranks.end(), [](const Rank& a, const Rank& b) {
    if (a.group != b.group) return a.group < b.group;
    if (a.priority != b.priority) return a.priority > b.priority;
    return a.time != b.time ? a.time < b.time : a.index < b.index;
  });
  std::vector<size_t> order;
  order.reserve(ranks.size());
  for (const Rank& rank : ranks) order.push_back(rank.index);
  return order;
}

void Cycle::ProcessInFairOrder() {
  std::vector<Head> heads;
  std::vector<size_t> entry_of;
  heads.reserve(entries_.size());
  entry_of.reserve(entries_.size());
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (!entry.nominated) continue;
    const Workload& workload = state_.At(entry.workload);
    const Amounts& usage = entry.assignment.usage;
    heads.push_back({entry.queue, workload.priority, workload.queue_time, entry.is_preemptor,
                     entry.assignment.mode == Mode::kFit, usage.data(), usage.size()});
    entry_of.push_back(i);
  }
  Tournament tournament(state_, heads);
  while (tournament.HasNext() && !block_.waits()) ProcessEntry(entries_[entry_of[tournament.Pop()]]);
}

void Cycle::AddUsage(const Entry& entry) {
  for (const FlavorResourceAmount& usage : entry.assignment.usage)
    state_.quota.Add(entry.queue, usage.fr, usage.amount);
  if (!entry.assignment.topology_usage.empty()) {
    AddTopologyUsage(state_, entry.assignment.topology_usage, 1);
  }
}

// Returns whether the slice that the entry replaces is among its targets.
bool Cycle::TakesOver(const Entry& entry) const {
  return entry.replaced != kNoId && (entry.assignment.mode == Mode::kFit || !entry.targets.empty());
}

bool Cycle::Overlaps(const Entry& entry) const {
  if (victims_.empty()) return false;
  if (TakesOver(entry) && victims_.Has(entry.replaced)) return true;
  return std::any_of(entry.targets.begin(), entry.targets.end(),
                     [this](const Target& target) { return victims_.Has(target.workload); });
}

Cycle::Fit Cycle::CheckFit(const Entry& entry) {
  std::optional<Trial> trial;
  if (!victims_.empty() || !entry.targets.empty() || entry.replaced != kNoId) {
    trial.emplace(state_, entry.queue);
    victims_.Discharge(state_, state_.forest().Root(entry.queue));
    bool replaces = TakesOver(entry) && !victims_.Has(entry.replaced);
    for (const Target& target : entry.targets) {
      if (!victims_.Has(target.workload)) Discharge(state_, target.workload);
      replaces = replaces && target.workload != entry.replaced;
    }
    if (replaces) Discharge(state_, entry.replaced);
  }
  const Amounts& usage = entry.assignment.usage;
  const bool fits = std::all_of(usage.begin(), usage.end(), [&](const FlavorResourceAmount& needed) {
    return needed.amount <= state_.quota.Available(entry.queue, needed.fr);
  });
  if (!fits) return Fit::kNoQuota;
  const TopologyUsages& placed = entry.assignment.topology_usage;
  return placed.empty() || HasRoom(state_, placed) ? Fit::kOk : Fit::kNoTopology;
}

// Recomputes the assignment within the nominated flavors, because earlier entries of the cycle use the same
// domains or targets. If they use the same targets, treats these victims as stopped.
void Cycle::Recompute(Entry& entry, bool overlaps) {
  const EquivalenceClass& cls = state_.Class(state_.At(entry.workload).cls);
  NominationMapping pinned(cls.pod_sets.size());
  for (const PodSetAssignment& pod_set : entry.assignment.pod_sets) {
    for (const FlavorChoice& choice : pod_set.flavors) {
      pinned[static_cast<size_t>(pod_set.pod_set)].emplace_back(choice.resource, choice.flavor);
    }
  }
  state_.At(entry.workload).progress = nullptr;
  Preemptor& preemptor = nomination_.PreemptorOf(entry.queue);
  if (!overlaps) {
    preemptor.Forget();
    nomination_.Assign(entry, &pinned);
    return;
  }
  if (victims_.Has(entry.replaced)) entry.replaced = kNoId;  // Already preempted.
  {
    const Trial trial(state_, entry.queue);
    const NodeId root = state_.forest().Root(entry.queue);
    victims_.Discharge(state_, root);
    preemptor.SetAlreadyPreempted(&victims_.all());
    nomination_.Assign(entry, &pinned);
    preemptor.SetAlreadyPreempted(nullptr);
  }
  if (entry.assignment.mode == Mode::kFit) {
    entry.assignment.mode = Mode::kDeferredFit;
  }
  if (live_.record_events) {
    Reason outcome = Reason::kSkipped;
    if (entry.assignment.mode == Mode::kDeferredFit) {
      outcome = Reason::kDeferredFit;
    } else if (!entry.targets.empty() && !Overlaps(entry) && CheckFit(entry) == Fit::kOk) {
      outcome = Reason::kNewTargets;
    }
    if (entry.decided) live_.Record(EventKind::kTargetsRecomputed, entry.workload, outcome);
  }
}

// Mirrors pkg/scheduler/scheduler.go:updateAssignmentIfNeeded. Returns the result of CheckFit() if it is
// known afterwards.
std::optional<Cycle::Fit> Cycle::RecomputeIfNeeded(Entry& entry) {
  const FeatureGates& gates = state_.config.gates;
  if (gates.recompute_assignment_upon_preemption_targets_overlap && Overlaps(entry)) {
    Recompute(entry, /*overlaps=*/true);
  } else if (gates.tas_recompute_assignment_within_scheduling_cycle &&
             !entry.assignment.topology_usage.empty()) {
    const Fit fit = CheckFit(entry);
    if (fit != Fit::kNoTopology) return fit;
    Recompute(entry, /*overlaps=*/false);
  }
  return std::nullopt;
}

// Restores the values that the workloads had when their second passes were requested.
void Cycle::ShowAsAsked() {
  as_is_ = second_passes_;
  for (size_t i = 0; i < as_is_.size(); ++i) {
    Workload& workload = state_.At(as_is_[i].workload);
    as_is_[i].unhealthy_nodes = workload.Status().unhealthy_nodes;
    as_is_[i].admission = workload.admission;
    if (workload.Status().unhealthy_nodes != second_passes_[i].unhealthy_nodes) {
      state_.EditStatus(workload).unhealthy_nodes = second_passes_[i].unhealthy_nodes;
    }
    workload.admission = second_passes_[i].admission;
  }
}

// Restores the current values except where the cycle itself changed them.
void Cycle::ShowAsIs() {
  for (size_t i = 0; i < as_is_.size(); ++i) {
    Workload& workload = state_.At(as_is_[i].workload);
    if (entries_[i].status == EntryStatus::kEvicted) continue;
    if (workload.Status().unhealthy_nodes != as_is_[i].unhealthy_nodes) {
      state_.EditStatus(workload).unhealthy_nodes = as_is_[i].unhealthy_nodes;
    }
    workload.admission = as_is_[i].admission;
  }
  as_is_.clear();
}

// Returns whether the workload is evicted because a node failed and its pods cannot be placed elsewhere.
bool Cycle::MustEvictForNode(const Entry& entry) const {
  return entry.second_pass > 0 && entry.assignment.mode != Mode::kFit &&
         state_.config.gates.tas_failed_node_replacement_fail_fast &&
         HasUnhealthyAssignment(state_, std::as_const(state_).At(entry.workload));
}

void Cycle::Skip(Entry& entry, Message message, Reason reason) {
  entry.status = EntryStatus::kSkipped;
  entry.message = std::move(message);
  entry.quota_reserved_reason = reason;
  if (!state_.config.gates.flavor_fungibility_preserve_scan_progress)
    state_.At(entry.workload).progress = nullptr;
}

// Mirrors pkg/scheduler/scheduler.go:findAdmittedSibling.
WorkloadId Cycle::FindAdmittedSibling(const Entry& entry, bool preferred) const {
  const State& state = state_;
  const Workload& workload = state.At(entry.workload);
  if (!IsVariant(state, workload)) return kNoId;
  const int rank = RankOf(state, entry.queue, entry.workload);
  for (WorkloadId id : state.Queue(entry.queue).workloads) {
    const Workload& other = state.At(id);
    if (other.spec->parent_uid != workload.spec->parent_uid || !other.IsAdmitted()) continue;
    const int theirs = RankOf(state, entry.queue, id);
    if (rank >= 0 && theirs >= 0 && (preferred ? theirs < rank : theirs > rank)) return id;
  }
  return kNoId;
}

// Returns whether another variant of the same parent runs, which is evicted first if the policy allows it.
bool Cycle::MigratesFirst(Entry& entry) {
  const WorkloadId sibling = AdmittedSibling(entry, /*preferred=*/false);
  if (sibling == kNoId) return false;
  const auto& policy = std::as_const(state_).Queue(entry.queue).spec.concurrent_admission;
  if (!policy || policy->last_acceptable.empty() ||
      RankOf(state_, entry.queue, entry.workload) <= RankOf(state_, entry.queue, policy->last_acceptable)) {
    outcome_.IssueMigration(entry, sibling);
  } else {
    entry.message = Quote("Target flavor is below LastAcceptableFlavorName");
    entry.quota_reserved_reason = Reason::kPendingEvaluation;
  }
  return true;
}

void Cycle::ProcessEntry(Entry& entry) {
  nomination_.PreemptorOf(entry.queue).Forget();
  entry.decided = !block_.IsReplaying();
  Workload& workload = state_.At(entry.workload);
  if (AdmittedSibling(entry, /*preferred=*/true) != kNoId)
    return Skip(entry, Quote("A more favorable variant is already admitted"), Reason::kPendingEvaluation);
  const std::optional<Fit> fit = RecomputeIfNeeded(entry);
  if (MustEvictForNode(entry)) return outcome_.EvictForNode(entry);
  const Mode mode = entry.assignment.mode;
  if (mode == Mode::kNoFit) {
    entry.requeue_reason = RequeueReason::kNoFit;
    entry.quota_reserved_reason = entry.assignment.no_fit_reason;
    return;
  }
  if (mode == Mode::kPreempt && entry.targets.empty()) {
    entry.requeue_reason = RequeueReason::kPreemptionNoCandidates;
    entry.quota_reserved_reason = Reason::kWaitingForQuota;
    Reserve(entry);
    return;
  }
  if (mode == Mode::kPreempt && HasClosedPreemptionGate(state_, workload)) {
    entry.status = EntryStatus::kGated;
    entry.message = Say(Sentence::kPreemptionGated);
    entry.requeue_reason = RequeueReason::kPreemptionGated;
    entry.quota_reserved_reason = Reason::kAdmissionGated;
    workload.progress = nullptr;
    return;
  }
  if (mode == Mode::kDeferredFit) {
    entry.message = Say(Sentence::kDeferredFit);
    entry.quota_reserved_reason = Reason::kWaitingForPreemptedWorkloads;
    entry.requeue_reason = RequeueReason::kPendingPreemption;
    workload.progress = nullptr;
    AddUsage(entry);
    return;
  }
  const bool overlaps = Overlaps(entry);
  if (overlaps || (fit ? *fit : CheckFit(entry)) != Fit::kOk) {
    if (entry.decided && (overlaps || mode == Mode::kPreempt))
      live_.Record(EventKind::kPreemptionSkipped, entry.workload);
    const Sentence why = overlaps ? Sentence::kOverlappingTargets : Sentence::kNoLongerFits;
    return Skip(entry, Say(why), Reason::kWaitingForQuota);
  }
  const NodeId root = state_.forest().Root(entry.queue);
  if (TakesOver(entry)) victims_.Add(state_, root, entry.replaced);
  for (const Target& target : entry.targets) victims_.Add(state_, root, target.workload);
  AddUsage(entry);
  if (mode == Mode::kPreempt) {
    outcome_.IssuePreemptions(entry);
    return;
  }
  if (block_.MustWait(entry, admitted_)) return block_.Wait(entry, outcome_.result());
  if (MigratesFirst(entry)) return;
  entry.status = block_.StatusOfFit(entry);
  if (entry.status == EntryStatus::kNominated) return;
  admitted_.push_back(&entry);
  if (entry.second_pass > 0) outcome_.NoteAssignedAgain(entry.workload);
}

// Reserves capacity for a preemptor without targets, so that workloads of lower priority in the tree do not
// take it.
void Cycle::Reserve(const Entry& entry) {
  const ClusterQueue& queue = state_.Queue(entry.queue);
  const bool prioritized = state_.config.gates.prioritize_preemptor_workloads && entry.is_preemptor;
  if (CanAlwaysReclaim(queue) && !prioritized) return;
  if (!entry.assignment.topology_usage.empty()) {
    AddTopologyUsage(state_, entry.assignment.topology_usage, 1);
  }
  const Quota& quota = state_.quota;
  for (const FlavorResourceAmount& needed : entry.assignment.usage) {
    const Amount nominal = quota.limits().nominal(entry.queue, needed.fr),
                 used = quota.Usage(entry.queue, needed.fr);
    Amount reserved;
    if (entry.assignment.borrowing == 0) {
      reserved = Max(Amount(0), Min(needed.amount, nominal - used));
    } else if (quota.limits().borrowing(entry.queue, needed.fr).IsUnlimited()) {
      reserved = needed.amount;
    } else {
      reserved = Min(needed.amount, nominal + quota.limits().borrowing(entry.queue, needed.fr) - used);
    }
    state_.quota.Add(entry.queue, needed.fr, reserved);
  }
}

}  // namespace kueue
