// Mirrors pkg/scheduler/scheduler.go (kueue ff69552e79).
#include "scheduler/cycle.h"

#include <algorithm>

#include "fairness/ledger.h"
#include "fairness/tournament.h"
#include "lifecycle/admissibility.h"
#include "lifecycle/conditions.h"
#include "lifecycle/controllers.h"
#include "preemption/fit.h"

namespace kueue {
namespace {

Message Once(const char* text) { return Say(text); }

}  // namespace

CycleResult Cycle::Run(std::vector<Entry>* keep) {
  result_ = {};
  preempted_.clear();
  is_preempted_.clear();
  admitted_.clear();
  state_.EnsureBuilt();
  TakeHeads();
  if (entries_.empty()) {
    result_.idle = true;
    return result_;
  }
  if (!IsResumed()) Remember();
  ++state_.scheduling_cycle;
  preemptor_.BeginCycle();
  for (Entry& entry : entries_) NominateEntry(entry);
  {
    // The cycle works on its own copy of the usage; what is admitted is charged for good afterwards.
    const Trial trial(state_.quota);
    Process();
  }
  End();
  if (result_.admitted > 0 && passed_ == 0) ++live_.successful_cycles;
  if (keep != nullptr) {
    keep->clear();
    for (const Entry& entry : entries_) {
      if (entry.decided) keep->push_back(entry);
    }
  }
  return result_;
}

void Cycle::Process() {
  if (state_.config.fair_sharing) return ProcessInFairOrder();
  for (size_t index : ClassicalOrder()) {
    ProcessEntry(entries_[index]);
    if (waits_) return;
  }
}

// What was decided is written, and who got no quota is put back; the latter not before the cycle is over.
void Cycle::End() {
  for (const Entry& entry : entries_) {
    if (!entry.decided || entry.requeue_reason != RequeueReason::kPendingPreemption) continue;
    for (const Target& target : entry.targets) {
      // The write of an eviction counts as a change of the queue that is to lose the workload.
      const Workload& victim = live_.At(target.workload);
      if (victim.charged != kNoId) ++live_.Queue(victim.charged).generation;
    }
  }
  for (size_t index : admitted_) {
    if (entries_[index].decided) Admit(entries_[index]);
  }
  if (waits_) return;
  live_.waiting = WaitingCycle();
  for (Entry& entry : entries_) {
    if (entry.status != EntryStatus::kAssumed && entry.nominated) FinishEntry(entry);
  }
  for (Entry& entry : entries_) {
    if (!entry.nominated) FinishEntry(entry);
  }
}

void Cycle::TakeHeads() {
  entries_.clear();
  entries_.reserve(state_.forest().Queues().size());
  const auto owes = [this](LocalQueueId queue) { return HasPendingPenalty(state_, queue); };
  for (NodeId node : state_.forest().Queues()) {
    if (!state_.IsInSnapshot(node)) continue;
    PendingQueue& pending = state_.Queue(node).pending;
    const WorkloadId head = IsResumed() ? pending.inflight() : pending.Pop(state_.pending_tables(), owes);
    if (head == kNoId) continue;
    Entry entry;
    entry.workload = head;
    entry.queue = node;
    entry.is_preemptor = pending.preemptor == head;
    entries_.push_back(std::move(entry));
  }
}

Entry Cycle::Nominate(WorkloadId workload, NodeId queue) {
  state_.EnsureBuilt();
  preemptor_.BeginCycle();
  Entry entry;
  entry.workload = workload;
  entry.queue = queue;
  NominateEntry(entry);
  return entry;
}

void Cycle::NominateEntry(Entry& entry) {
  if (Refuses(entry)) return;
  entry.nominated = true;
  entry.replaced = ReplacedSlice(state_, entry.workload, entry.queue);
  GetAssignments(entry, nullptr);
}

bool Cycle::Refuses(Entry& entry) {
  const Workload& workload = state_.At(entry.workload);
  if (HasCheckIn(workload, CheckState::kRetry) || HasCheckIn(workload, CheckState::kRejected)) {
    entry.message = Once("The workload has failed admission checks");
    entry.quota_reserved_reason = Reason::kPendingEvaluation;
    return true;
  }
  const Inadmissibility error = ValidateAdmissibility(state_, workload, entry.queue);
  if (error.text.empty()) return false;
  entry.message = Say(error.text);
  entry.quota_reserved_reason = Reason::kMisconfigured;
  if (error.namespace_mismatch) entry.requeue_reason = RequeueReason::kNamespaceMismatch;
  return true;
}

bool Cycle::IsProgressOutdated(const Workload& workload, NodeId queue) const {
  const ScanProgress& progress = *workload.progress;
  if (state_.config.gates.flavor_fungibility_preserve_scan_progress) {
    if (state_.config.gates.scheduling_equivalence_hashing && progress.cls != workload.cls) return true;
    if (state_.scheduling_cycle - progress.cycle <= 1) return false;
  }
  return state_.Queue(queue).generation > progress.generation;
}

void Cycle::GetAssignments(Entry& entry, const NominationMapping* pinned) {
  Workload& workload = state_.At(entry.workload);
  if (workload.progress && IsProgressOutdated(workload, entry.queue)) workload.progress = nullptr;
  FlavorAssigner assigner(state_, preemptor_, entry.queue, entry.workload, entry.replaced, pinned);
  entry.assignment = assigner.Assign();
  entry.targets.clear();
  if (entry.assignment.mode == Mode::kPreempt) {
    entry.targets = preemptor_.Targets(entry.queue, entry.workload, entry.assignment, entry.replaced);
  }
  if (entry.assignment.mode != Mode::kFit && entry.targets.empty()) TryPartialAdmission(entry, assigner);
  entry.message = entry.assignment.Facts(workload.cls);
  SetProgress(entry);
}

// Mirrors pkg/scheduler/flavorassigner/podset_reducer.go: the smallest reduction that a binary search finds.
bool Cycle::TryPartialAdmission(Entry& entry, FlavorAssigner& assigner) {
  const EquivalenceClass& cls = state_.Class(state_.At(entry.workload).cls);
  if (!state_.config.gates.partial_admission || !cls.can_be_partially_admitted) return false;
  int64_t all = 0;
  for (const PodSetSpec& pod_set : cls.pod_sets)
    all += pod_set.count - pod_set.min_count.value_or(pod_set.count);
  bool found = false;
  for (int64_t low = 0, high = all + 1; low < high;) {
    const int64_t middle = low + (high - low) / 2;
    std::vector<int64_t> counts;
    for (const PodSetSpec& pod_set : cls.pod_sets) {
      const int64_t delta = pod_set.count - pod_set.min_count.value_or(pod_set.count);
      counts.push_back(pod_set.count - static_cast<int64_t>(static_cast<absl::int128>(delta) * middle /
                                                            std::max<int64_t>(all, 1)));
    }
    Assignment assignment = assigner.Assign(&counts);
    std::vector<Target> targets;
    if (assignment.mode == Mode::kPreempt) {
      targets = preemptor_.Targets(entry.queue, entry.workload, assignment, entry.replaced);
    }
    if (assignment.mode == Mode::kFit || !targets.empty()) {
      entry.assignment = std::move(assignment);
      entry.targets = std::move(targets);
      found = true;
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return found;
}

// Remembers where the scan of flavors stopped, if it stopped early anywhere.
void Cycle::SetProgress(const Entry& entry) {
  Workload& workload = state_.At(entry.workload);
  if (!entry.assignment.HasPendingFlavors()) {
    workload.progress = nullptr;
    return;
  }
  auto progress = std::make_shared<ScanProgress>();
  progress->generation = state_.Queue(entry.queue).generation;
  progress->cycle = state_.scheduling_cycle;
  progress->cls = workload.cls;
  for (const PodSetAssignment& pod_set : entry.assignment.pod_sets) {
    progress->tried.emplace_back();
    for (const FlavorChoice& choice : pod_set.flavors) {
      progress->tried.back().emplace_back(choice.resource, choice.tried);
    }
  }
  workload.progress = std::move(progress);
}

std::vector<size_t> Cycle::ClassicalOrder() const {
  std::vector<size_t> order;
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].nominated) order.push_back(i);
  }
  const FeatureGates& gates = state_.config.gates;
  std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) {
    const Entry &a = entries_[x], &b = entries_[y];
    if (gates.prioritize_preemptor_workloads && a.is_preemptor != b.is_preemptor) return a.is_preemptor;
    if (a.assignment.borrowing != b.assignment.borrowing)
      return a.assignment.borrowing < b.assignment.borrowing;
    const Workload &left = state_.At(a.workload), &right = state_.At(b.workload);
    if (gates.priority_sorting_within_cohort && left.priority != right.priority) {
      return left.priority > right.priority;
    }
    return left.queue_time < right.queue_time;
  });
  return order;
}

void Cycle::ProcessInFairOrder() {
  std::vector<Contender> contenders;
  std::vector<size_t> entry_of;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (!entry.nominated) continue;
    const Workload& workload = state_.At(entry.workload);
    const Amounts& usage = NetUsage(entry);
    contenders.push_back({entry.queue, workload.priority, workload.queue_time, entry.is_preemptor,
                          usage.data(), usage.size()});
    entry_of.push_back(i);
  }
  Tournament tournament(state_, contenders);
  while (tournament.HasNext() && !waits_) ProcessEntry(entries_[entry_of[tournament.Pop()]]);
}

const Amounts& Cycle::NetUsage(const Entry& entry) const { return entry.assignment.usage; }

void Cycle::AddUsage(const Entry& entry, const Amounts& usage) {
  for (const CellAmount& entry_usage : usage)
    state_.quota.Add(entry.queue, entry_usage.cell, entry_usage.amount);
}

// Whether the slice that an entry replaces counts among its targets.
bool Cycle::TakesOver(const Entry& entry) const {
  return entry.replaced != kNoId && (entry.assignment.mode == Mode::kFit || !entry.targets.empty());
}

bool Cycle::Overlaps(const Entry& entry) const {
  if (TakesOver(entry) && is_preempted_.contains(entry.replaced)) return true;
  return std::any_of(entry.targets.begin(), entry.targets.end(),
                     [this](const Target& target) { return is_preempted_.contains(target.workload); });
}

std::vector<WorkloadId>& Cycle::PreemptedAround(const Entry& entry) {
  return preempted_[state_.forest().Root(entry.queue)];
}

bool Cycle::FitsNow(const Entry& entry, const Amounts& usage) {
  const Trial trial(state_.quota);
  for (WorkloadId victim : PreemptedAround(entry)) Discharge(state_, victim);
  bool replaces = TakesOver(entry) && !is_preempted_.contains(entry.replaced);
  for (const Target& target : entry.targets) {
    if (!is_preempted_.contains(target.workload)) Discharge(state_, target.workload);
    replaces = replaces && target.workload != entry.replaced;
  }
  if (replaces) Discharge(state_, entry.replaced);
  return std::all_of(usage.begin(), usage.end(), [&](const CellAmount& needed) {
    return needed.amount <= state_.quota.Available(entry.queue, needed.cell);
  });
}

// The targets are taken already: assumes that those victims have left, and looks again within the same
// flavors.
void Cycle::Recompute(Entry& entry) {
  const EquivalenceClass& cls = state_.Class(state_.At(entry.workload).cls);
  NominationMapping pinned(cls.pod_sets.size());
  for (const PodSetAssignment& pod_set : entry.assignment.pod_sets) {
    for (const FlavorChoice& choice : pod_set.flavors) {
      pinned[static_cast<size_t>(pod_set.pod_set)].emplace_back(choice.resource, choice.flavor);
    }
  }
  state_.At(entry.workload).progress = nullptr;
  if (is_preempted_.contains(entry.replaced)) entry.replaced = kNoId;  // gone with the others
  {
    const Trial trial(state_.quota);
    for (WorkloadId victim : PreemptedAround(entry)) Discharge(state_, victim);
    preemptor_.SetGone(PreemptedAround(entry));
    GetAssignments(entry, &pinned);
    preemptor_.SetGone({});
  }
  if (entry.assignment.mode == Mode::kFit) {
    entry.assignment.mode = Mode::kDeferredFit;
  }
  if (live_.record_events) {
    Reason outcome = Reason::kSkipped;
    if (entry.assignment.mode == Mode::kDeferredFit) {
      outcome = Reason::kDeferredFit;
    } else if (!entry.targets.empty() && !Overlaps(entry) && FitsNow(entry, NetUsage(entry))) {
      outcome = Reason::kNewTargets;
    }
    if (entry.decided) live_.Record(EventKind::kTargetsRecomputed, entry.workload, outcome);
  }
}

void Cycle::ProcessEntry(Entry& entry) {
  preemptor_.Forget();
  entry.decided = waiting_.start == nullptr;
  if (Overlaps(entry) && state_.config.gates.recompute_assignment_upon_preemption_targets_overlap)
    Recompute(entry);
  const Amounts& usage = NetUsage(entry);
  const Mode mode = entry.assignment.mode;
  Workload& workload = state_.At(entry.workload);
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
  if (mode == Mode::kDeferredFit) {
    static const Message* const deferred = new Message(
        Say("Workload has overlapping preemption targets with another workload, but will fit after these "
            "preemptions complete"));
    entry.message = *deferred;
    entry.quota_reserved_reason = Reason::kWaitingForPreemptedWorkloads;
    entry.requeue_reason = RequeueReason::kPendingPreemption;
    workload.progress = nullptr;
    AddUsage(entry, usage);
    return;
  }
  static const Message* const overlapping =
      new Message(Say("Workload has overlapping preemption targets with another workload"));
  static const Message* const no_longer =
      new Message(Say("Workload no longer fits after processing another workload"));
  const bool overlaps = Overlaps(entry);
  if (overlaps || !FitsNow(entry, usage)) {
    entry.status = EntryStatus::kSkipped;
    if (entry.decided && (overlaps || mode == Mode::kPreempt))
      live_.Record(EventKind::kPreemptionSkipped, entry.workload);
    entry.message = overlaps ? *overlapping : *no_longer;
    entry.quota_reserved_reason = Reason::kWaitingForQuota;
    if (!state_.config.gates.flavor_fungibility_preserve_scan_progress) workload.progress = nullptr;
    return;
  }
  if (TakesOver(entry) && is_preempted_.insert(entry.replaced).second) {
    PreemptedAround(entry).push_back(entry.replaced);
  }
  for (const Target& target : entry.targets) {
    if (is_preempted_.insert(target.workload).second) PreemptedAround(entry).push_back(target.workload);
  }
  AddUsage(entry, usage);
  if (mode == Mode::kPreempt) {
    IssuePreemptions(entry);
    return;
  }
  if (MustWait(entry)) return Wait(entry);
  entry.status = EntryStatus::kAssumed;
  admitted_.push_back(static_cast<size_t>(&entry - entries_.data()));
}

// Keeps capacity for a preemptor without victims, so that lower workloads elsewhere in the tree don't take
// it.
void Cycle::Reserve(const Entry& entry) {
  const ClusterQueue& queue = state_.Queue(entry.queue);
  const bool prioritized = state_.config.gates.prioritize_preemptor_workloads && entry.is_preemptor;
  if (CanAlwaysReclaim(queue) && !prioritized) return;
  const Quota& quota = state_.quota;
  for (const CellAmount& needed : entry.assignment.usage) {
    const Amount nominal = quota.Nominal(entry.queue, needed.cell),
                 used = quota.Usage(entry.queue, needed.cell);
    Amount reserved;
    if (entry.assignment.borrowing == 0) {
      reserved = Max(Amount(0), Min(needed.amount, nominal - used));
    } else if (quota.BorrowingLimit(entry.queue, needed.cell).IsUnlimited()) {
      reserved = needed.amount;
    } else {
      reserved = Min(needed.amount, nominal + quota.BorrowingLimit(entry.queue, needed.cell) - used);
    }
    state_.quota.Add(entry.queue, needed.cell, reserved);
  }
}

namespace {

std::vector<NodeId> PathOf(const Forest& forest, NodeId node) {
  std::vector<NodeId> path;
  for (; node != kNoId; node = forest.Parent(node)) path.push_back(node);
  return path;
}

}  // namespace

Message PendingPreemptions(const Entry& entry, ClassId cls) {
  Refused facts;
  if (entry.message) facts = std::get<Refused>(*entry.message);
  facts.cls = cls;
  facts.pending_preemptions = static_cast<int>(entry.targets.size());
  return std::make_shared<const MessageBody>(std::move(facts));
}

void Cycle::Preempt(State& state, const Entry& entry, const Target& target) {
  const Workload& preemptor = state_.At(entry.workload);
  Workload& victim = state.At(target.workload);
  if (victim.IsEvicted() || victim.charged == kNoId) return;
  PreemptedBy by{preemptor.uid, preemptor.spec->job_uid, target.reason, PathOf(state.forest(), entry.queue),
                 PathOf(state.forest(), victim.charged)};
  const Message message = std::make_shared<const MessageBody>(std::move(by));
  SetCondition(state, victim, ConditionType::kPreempted, true, ReasonOf(target.reason), message);
  Evict(state, target.workload, Reason::kPreempted, message);
  if (state.record_events) state.events.back().by = entry.workload;
  if (&state != &live_) return;
  ++result_.evicted;
  result_.evicted_workloads.push_back(target.workload);
}

void Cycle::IssuePreemptions(Entry& entry) {
  const Workload& preemptor = state_.At(entry.workload);
  for (const Target& target : entry.targets) {
    Preempt(state_, entry, target);
    if (IsResumed() && entry.decided) Preempt(live_, entry, target);
  }
  entry.message = PendingPreemptions(entry, preemptor.cls);
  entry.requeue_reason = RequeueReason::kPendingPreemption;
  entry.quota_reserved_reason = Reason::kWaitingForPreemptedWorkloads;
  state_.At(entry.workload).progress = nullptr;
}

void Cycle::Admit(Entry& entry) {
  Workload& workload = live_.At(entry.workload);
  if (workload.deleted || workload.IsFinished()) {  // while the cycle waited
    if (entry.requeue_reason != RequeueReason::kPendingPreemption) entry.decided = false;
    return;
  }
  const EquivalenceClass& cls = state_.Class(state_.At(entry.workload).cls);
  auto admission = std::make_shared<Admission>();
  admission->cluster_queue = entry.queue;
  admission->pod_sets.reserve(entry.assignment.pod_sets.size());
  for (const PodSetAssignment& pod_set : entry.assignment.pod_sets) {
    PodSetAdmission& admitted = admission->pod_sets.emplace_back();
    admitted.resources.reserve(pod_set.requests.size());
    admitted.name = cls.pod_sets[static_cast<size_t>(pod_set.pod_set)].name;
    admitted.count = pod_set.count;
    for (const auto& [resource, amount] : pod_set.requests) {
      const FlavorChoice* choice = pod_set.Find(resource);
      if (choice != nullptr) admitted.resources.push_back({resource, choice->flavor, amount});
    }
  }
  RemoveFromQueue(live_, entry.workload);
  SetQuotaReservation(live_, entry.workload, std::move(admission));
  if (workload.spec->active) ChargeAdmission(live_, entry.workload);
  // The write-back of an admission updates the cache's entry, which counts as a removal and an addition.
  ++live_.Queue(entry.queue).generation;
  if (UsesAdmissionFairSharing(live_, entry.queue)) AddPenalty(live_, entry.workload);
  if (HasAllRequiredChecks(live_.Queue(entry.queue), workload)) {
    SyncAdmitted(live_, entry.workload);
    if (workload.IsAdmitted() && UsesAdmissionFairSharing(live_, entry.queue))
      SettlePenalty(live_, entry.workload);
  }
  FinishReplaced(entry);
  ++result_.admitted;
  result_.admitted_workloads.push_back(entry.workload);
}

void Cycle::FinishReplaced(const Entry& entry) {
  if (entry.replaced == kNoId || live_.At(entry.replaced).IsFinished()) return;
  const Workload& by = live_.At(entry.workload);
  SetCondition(live_, live_.At(entry.replaced), ConditionType::kFinished, true,
               Reason::kWorkloadSliceReplaced,
               Say("Replaced to accommodate a workload (UID: " + by.uid + ", JobUID: " + by.spec->job_uid +
                   ") due to workload slice aggregation"));
  LeaveEverything(live_, entry.replaced);
  live_.Record(EventKind::kFinished, entry.replaced);
}

// Puts an entry back and writes why it waits.
void Cycle::FinishEntry(Entry& entry) {
  Workload& workload = live_.At(entry.workload);
  entry.decided = entry.decided || !entry.nominated;
  if (workload.deleted || workload.IsFinished()) {  // while the cycle waited
    if (entry.requeue_reason != RequeueReason::kPendingPreemption) entry.decided = false;
    return;
  }
  if (entry.status != EntryStatus::kNotNominated && entry.requeue_reason == RequeueReason::kGeneric) {
    entry.requeue_reason = RequeueReason::kFailedAfterNomination;
  }
  workload.evaluated = true;
  if (IsResumed()) {
    workload.progress = state_.At(entry.workload).progress;
    Classify(live_, entry.workload);
  }
  Requeue(live_, entry.workload, entry.requeue_reason, entry.quota_reserved_reason);
  const Reason reason =
      live_.config.gates.unadmitted_workloads_observability ? entry.quota_reserved_reason : Reason::kPending;
  if (UnsetQuotaReservation(live_, entry.workload, reason, entry.message)) result_.moved = true;
}

WorkloadId ReplacedSlice(const State& state, WorkloadId id, NodeId queue) {
  const std::string& key = state.At(id).spec->replaces;
  if (key.empty() || !state.config.gates.elastic_jobs_via_workload_slices) return kNoId;
  const WorkloadId replaced = state.FindWorkload(key);
  if (replaced == kNoId || state.At(replaced).charged != queue) return kNoId;
  return state.At(replaced).spec->ns == state.At(id).spec->ns ? replaced : kNoId;
}

}  // namespace kueue
