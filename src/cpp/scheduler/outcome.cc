#include "scheduler/outcome.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "fairness/ledger.h"
#include "lifecycle/conditions.h"
#include "lifecycle/controllers.h"
#include "lifecycle/dispatched.h"
#include "lifecycle/second_pass.h"
#include "scheduler/refusals.h"

namespace kueue {
namespace {

NodePath PathOf(const Forest& forest, NodeId node) {
  NodePath path;
  for (; node != kNoId; node = forest.Parent(node)) path.push_back(node);
  return path;
}

// Calls `use` for each resource of the pod set in an admission.
template <typename Use>
void ForEachResource(const PodSetAssignment& pod_set, Use use) {
  for (const auto& [resource, amount] : pod_set.requests) {
    const FlavorChoice* choice = pod_set.Find(resource);
    if (choice != nullptr) use(PodSetAdmission::Resource{resource, choice->flavor, amount});
  }
  if (!pod_set.requests.empty()) return;
  for (const FlavorChoice& choice : pod_set.flavors)
    use(PodSetAdmission::Resource{choice.resource, choice.flavor, 0});
}

std::shared_ptr<const Admission> MakeAdmission(const Entry& entry, const EquivalenceClass& cls) {
  auto admission = std::make_shared<Admission>();
  admission->cluster_queue = entry.queue;
  admission->pod_sets.reserve(entry.assignment.pod_sets.size());
  for (const PodSetAssignment& pod_set : entry.assignment.pod_sets) {
    PodSetAdmission& admitted = admission->pod_sets.emplace_back();
    admitted.name = cls.pod_sets[static_cast<size_t>(pod_set.pod_set)].name;
    admitted.count = pod_set.count;
    admitted.resources.reserve(std::max(pod_set.requests.size(), pod_set.flavors.size()));
    ForEachResource(pod_set, [&](const auto& resource) { admitted.resources.push_back(resource); });
    admitted.topology = pod_set.topology;
    admitted.delayed = pod_set.delayed;
  }
  return admission;
}

// Returns whether the pod set has no topology assignment, and its admission would equal `admitted`.
bool IsSame(const PodSetAssignment& pod_set, const std::string& name, const PodSetAdmission& admitted) {
  if (pod_set.topology != nullptr || admitted.topology != nullptr || pod_set.count != admitted.count ||
      pod_set.delayed != admitted.delayed)
    return false;
  size_t matching = 0, all = 0;
  ForEachResource(pod_set, [&](const PodSetAdmission::Resource& resource) {
    if (all < admitted.resources.size()) {
      const PodSetAdmission::Resource& other = admitted.resources[all];
      if (resource.resource == other.resource && resource.flavor == other.flavor &&
          resource.usage == other.usage)
        ++matching;
    }
    ++all;
  });
  return matching == all && all == admitted.resources.size() && name == admitted.name;
}

bool IsSame(const Entry& entry, const EquivalenceClass& cls, const Admission& admission) {
  const auto& pod_sets = entry.assignment.pod_sets;
  return std::equal(pod_sets.begin(), pod_sets.end(), admission.pod_sets.begin(), admission.pod_sets.end(),
                    [&cls](const PodSetAssignment& pod_set, const PodSetAdmission& admitted) {
                      const std::string& name = cls.pod_sets[static_cast<size_t>(pod_set.pod_set)].name;
                      return IsSame(pod_set, name, admitted);
                    });
}

std::shared_ptr<const Admission> AdmissionOf(State& state, const Entry& entry, const EquivalenceClass& cls) {
  std::shared_ptr<const Admission> admission = state.caches.admissions.Find(
      entry.queue, [&](const Admission& recent) { return IsSame(entry, cls, recent); });
  if (admission == nullptr) {
    admission = MakeAdmission(entry, cls);
    if (entry.assignment.topology_usage.empty()) state.caches.admissions.Keep(admission);
  }
  return admission;
}

}  // namespace

Message PendingPreemptions(const Entry& entry, ClassId cls, int failed) {
  Refused facts;
  if (entry.message) facts = std::get<Refused>(*entry.message);
  facts.cls = cls;
  const int pending = static_cast<int>(entry.targets.size()) - failed;
  facts.pending_preemptions = pending > 0 ? pending : -failed;
  return std::make_shared<const MessageBody>(std::move(facts));
}

void Outcome::Preempt(State& state, const Entry& entry, const Target& target) {
  const Workload& preemptor = state_.At(entry.workload);
  Workload& victim = state.At(target.workload);
  // A workload that finished or was deactivated while the cycle was blocked still has its admission.
  if (victim.IsEvicted() || victim.deleted || victim.admission == nullptr) return;
  PreemptedBy by{preemptor.serial,
                 preemptor.uid,
                 preemptor.spec->job_uid,
                 target.reason,
                 PathOf(state.forest(), entry.queue),
                 PathOf(state.forest(), victim.admission->cluster_queue)};
  const Message message = std::make_shared<const MessageBody>(std::move(by));
  SetCondition(state, victim, ConditionType::kPreempted, true, ReasonOf(target.reason), message);
  if (IsAssignedAgain(target.workload) && !IsWritten(target.workload)) {
    // This is in effect until the admission of the workload is written.
    MarkEvicted(state, target.workload, Reason::kPreempted, message);
    return;
  }
  Evict(state, target.workload, Reason::kPreempted, message);
  if (state.record_events) {
    Event& event = state.events.back();
    event.by = preemptor.serial;
    event.by_key = preemptor.Key();
    event.by_queue = state_.Local(preemptor.local_queue).cluster_queue;
  }
  if (state.followed.on) state.followed.steps.back().by = entry.workload;
  if (&state != &live_) return;
  ++result_.evicted;
  result_.evicted_workloads.push_back(target.workload);
}

bool Outcome::IsAssignedAgain(WorkloadId workload) const {
  return std::find(assigned_again_.begin(), assigned_again_.end(), workload) != assigned_again_.end();
}

bool Outcome::IsWritten(WorkloadId workload) const {
  const auto end = assigned_again_.begin() + static_cast<std::ptrdiff_t>(written_);
  return std::find(assigned_again_.begin(), end, workload) != end;
}

// If the cycle has admitted a victim in its second pass, the later write takes effect: an eviction after the
// admission, or an admission that ends the eviction.
void Outcome::IssuePreemptions(Entry& entry) {
  const Workload& preemptor = state_.At(entry.workload);
  nomination_.PreemptorOf(entry.queue).KeepCandidates();
  bool writes = false;
  int failed = 0;  // Preemptions of workloads that were deleted while the cycle was blocked.
  for (const Target& target : entry.targets) {
    if (live_.At(target.workload).deleted) ++failed;
    if (IsWritten(target.workload)) {
      if (entry.decided) late_.emplace_back(&entry, target);
      continue;
    }
    writes = writes || !state_.At(target.workload).IsEvicted();
    Preempt(state_, entry, target);
    if (IsResumed() && entry.decided) Preempt(live_, entry, target);
  }
  if (writes) written_ = assigned_again_.size();
  entry.message = PendingPreemptions(entry, preemptor.cls, failed);
  const bool all_failed = failed == static_cast<int>(entry.targets.size());
  entry.requeue_reason =
      all_failed ? RequeueReason::kFailedAfterNomination : RequeueReason::kPendingPreemption;
  entry.quota_reserved_reason = Reason::kWaitingForPreemptedWorkloads;
  state_.At(entry.workload).progress = nullptr;
}

void Outcome::IssueMigration(Entry& entry, WorkloadId sibling) {
  const Message message =
      Quote(absl::StrCat("Evicted to accommodate a workload (UID: ", state_.At(entry.workload).uid,
                         ") due to migration to more favorable resource flavor"));
  const Reason reason = InternReason(state_, "FlavorMigration");
  if (entry.decided && !state_.At(sibling).IsEvicted()) {
    ++result_.evicted;
    result_.evicted_workloads.push_back(sibling);
  }
  Evict(state_, sibling, reason, message);
  if (IsResumed() && entry.decided) Evict(live_, sibling, InternReason(live_, "FlavorMigration"), message);
  entry.message = Quote(". Pending the migration of 1 workload(s)");
  // Kueue requeues a workload that waits for a migration as one that waits for preempted workloads.
  entry.requeue_reason = RequeueReason::kPendingPreemption;
  entry.quota_reserved_reason = Reason::kWaitingForPreemptedWorkloads;
  state_.At(entry.workload).progress = nullptr;
}

void Outcome::EvictForNode(Entry& entry) {
  entry.status = EntryStatus::kEvicted;
  const Workload& workload = state_.At(entry.workload);
  const Message message = Say(Sentence::kNoNodeReplacement, workload.Status().unhealthy_nodes);
  nomination_.PreemptorOf(entry.queue).KeepCandidates();
  Evict(state_, entry.workload, Reason::kNodeFailures, message);
  if (IsResumed() && entry.decided) Evict(live_, entry.workload, Reason::kNodeFailures, message);
  if (entry.decided) {
    ++result_.evicted;
    result_.evicted_workloads.push_back(entry.workload);
  }
  written_ = assigned_again_.size();
}

void Outcome::Apply(const std::vector<Entry*>& admitted) {
  for (WorkloadId victim : result_.evicted_workloads) ReplaceCharge(live_, victim);
  result_.admitted_workloads.reserve(admitted.size());
  for (Entry* entry : admitted) {
    if (entry->decided) Admit(*entry);
  }
  for (const auto& [entry, target] : late_) {
    if (live_.At(target.workload).charged == kNoId) continue;
    ReplaceCharge(live_, target.workload);
    Preempt(live_, *entry, target);
  }
}

void Outcome::Requeue(std::vector<Entry>& entries, const std::vector<SecondPass>& second_passes) {
  for (Entry& entry : entries) {
    const bool over = entry.status == EntryStatus::kAssumed || entry.status == EntryStatus::kEvicted;
    if (!over && entry.nominated) FinishEntry(entry, second_passes);
  }
  for (Entry& entry : entries) {
    if (!entry.nominated) FinishEntry(entry, second_passes);
  }
}

// Returns whether the topology usage of the assignment equals that of the admission: its only pod set was not
// placed before, and all its resources have the flavor in which it was placed.
bool Outcome::HoldsTopologyUsage(const Entry& entry) const {
  const Assignment& assignment = entry.assignment;
  if (!nomination_.recalls() || IsResumed() || entry.second_pass > 0 || entry.replaced != kNoId ||
      assignment.pod_sets.size() != 1 || assignment.topology_usage.empty() ||
      state_.config.rules.topology_usage_by_quota ||
      state_.Class(state_.At(entry.workload).cls).pod_sets.size() != 1) {
    return false;
  }
  const auto& flavors = assignment.pod_sets.front().flavors;
  return std::all_of(flavors.begin(), flavors.end(), [&](const FlavorChoice& choice) {
    return choice.flavor == assignment.topology_usage.front().flavor;
  });
}

void Outcome::Admit(Entry& entry) {
  Workload& workload = live_.At(entry.workload);
  if (workload.deleted || workload.IsFinished()) {  // The workload changed while the cycle was blocked.
    if (entry.requeue_reason != RequeueReason::kPendingPreemption) entry.decided = false;
    return;
  }
  const EquivalenceClass& cls = state_.Class(state_.At(entry.workload).cls);
  std::shared_ptr<const Admission> admission = entry.admission;
  if (admission == nullptr) {
    admission = AdmissionOf(live_, entry, cls);
    nomination_.KeepFit(entry, admission);
  }
  RemoveFromQueue(live_, entry.workload);
  if (IsResumed()) workload.priority = PriorityOf(live_, *workload.spec);
  const bool again = workload.charged != kNoId;
  if (again) DischargeAdmission(live_, entry.workload);
  SetQuotaReservation(live_, entry.workload, std::move(admission));
  if (workload.spec->active) {
    const bool is_known = !again && HoldsTopologyUsage(entry);
    ChargeAdmission(live_, entry.workload, is_known ? &entry.assignment.topology_usage : nullptr);
  } else {
    ++live_.Queue(entry.queue).generation;
  }
  ReplaceCharge(live_, entry.workload);
  if (!workload.Status().unhealthy_nodes.empty()) {
    live_.EditStatus(workload).unhealthy_nodes.clear();
    live_.Record(EventKind::kUnhealthyNodes, entry.workload);
  }
  if (live_.config.admission_fair_sharing && !again) AddPenalty(live_, entry.workload);
  FinishReplaced(entry);  // The usage that settles the penalty is without the replaced slice.
  // With the checks of the ClusterQueue at the start of the cycle.
  if (HasAllRequiredChecks(state_, entry.queue, workload)) {
    SyncAdmitted(live_, entry.workload);
    if (workload.IsAdmitted() && UsesAdmissionFairSharing(live_, entry.queue))
      SettlePenalty(live_, entry.workload);
  }
  if (again) {
    result_.moved = true;
    return;
  }
  ++result_.admitted;
  result_.admitted_workloads.push_back(entry.workload);
}

void Outcome::FinishReplaced(const Entry& entry) {
  if (entry.replaced == kNoId || live_.At(entry.replaced).IsFinished()) return;
  Workload& by = live_.At(entry.workload);
  const Dispatched& job = live_.At(entry.replaced).Status().dispatched;
  if (job.job != JobPlace::kHere) {  // The slices of a dispatched job share the cluster and the job.
    Dispatched& taken = live_.EditStatus(by).dispatched;
    taken.cluster = job.cluster;
    taken.suspended = job.suspended;
    taken.active = job.active;
  }
  SetCondition(live_, live_.At(entry.replaced), ConditionType::kFinished, true,
               Reason::kWorkloadSliceReplaced, Say(Sentence::kReplacedBySlice, {by.uid, by.spec->job_uid}));
  LeaveEverything(live_, entry.replaced);
  live_.Record(EventKind::kFinished, entry.replaced);
}

// Requeues an entry and writes the reason why it is pending.
void Outcome::FinishEntry(Entry& entry, const std::vector<SecondPass>& second_passes) {
  Workload& workload = live_.At(entry.workload);
  entry.decided = entry.decided || !entry.nominated;
  if (workload.deleted || workload.IsFinished()) {  // The workload changed while the cycle was blocked.
    if (entry.requeue_reason != RequeueReason::kPendingPreemption) entry.decided = false;
    return;
  }
  if (entry.status != EntryStatus::kNotNominated && entry.requeue_reason == RequeueReason::kGeneric) {
    entry.requeue_reason = RequeueReason::kFailedAfterNomination;
  }
  if (entry.second_pass > 0) {
    for (const SecondPass& pass : second_passes) {
      if (pass.workload == entry.workload) RepeatSecondPass(live_, pass);
    }
    return;
  }
  // A workload that was queued again while the cycle was blocked starts a new scan.
  const bool waits = workload.place == QueuePlace::kQueued || workload.place == QueuePlace::kDelayed;
  if (IsResumed() && !waits) {
    workload.progress = state_.At(entry.workload).progress;
    Classify(live_, entry.workload);
  }
  if (entry.status == EntryStatus::kNominated) {  // Kueue writes no condition.
    kueue::Requeue(live_, entry.workload, entry.requeue_reason, entry.quota_reserved_reason);
    return;
  }
  FinishRefused(
      live_, entry.workload,
      {entry.requeue_reason, entry.quota_reserved_reason, entry.message, entry.status == EntryStatus::kGated},
      result_, IsResumed() ? &state_ : nullptr);
}

}  // namespace kueue
