#include "scheduler/nomination.h"

#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "lifecycle/admissibility.h"
#include "lifecycle/conditions.h"
#include "lifecycle/devices.h"
#include "lifecycle/second_pass.h"
#include "preemption/fit.h"
#include "state/names.h"

namespace kueue {

WorkloadId ReplacedSlice(const State& state, WorkloadId id, NodeId queue) {
  const std::string& key = state.At(id).spec->replaces;
  if (key.empty() || !state.config.gates.elastic_jobs_via_workload_slices) return kNoId;
  const WorkloadId replaced = FindByKey(state, key);
  if (replaced == kNoId || state.At(replaced).charged != queue) return kNoId;
  return state.At(replaced).spec->ns == state.At(id).spec->ns ? replaced : kNoId;
}

namespace {

// Returns whether another state may share pages of the tables that a nomination accesses. If it does not,
// threads may access different elements of the tables at the same time.
bool MaySharePages(const State& state) {
  return state.workloads.MayShare() || state.queues.MayShare() || state.local_queues.MayShare() ||
         state.ledger.MayShare();
}

// Topologies may be shared by trees. The values that a second pass replaces belong to no tree.
bool AreTreesIndependent(const State& state, const std::vector<Entry>& entries) {
  const auto is_second_pass = [](const Entry& entry) { return entry.second_pass > 0; };
  return state.topology.made.capacity.empty() && !MaySharePages(state) &&
         std::none_of(entries.begin(), entries.end(), is_second_pass);
}

// Returns the entries of each part of the trees that has any; see Quota::PartOf().
std::vector<std::vector<size_t>> EntriesByPart(const State& state, const std::vector<Entry>& entries) {
  std::vector<std::vector<size_t>> parts(Quota::kParts);
  for (size_t i = 0; i < entries.size(); ++i) parts[state.quota.PartOf(entries[i].queue)].push_back(i);
  const auto is_empty = [](const std::vector<size_t>& part) { return part.empty(); };
  parts.erase(std::remove_if(parts.begin(), parts.end(), is_empty), parts.end());
  return parts;
}

}  // namespace

void Nomination::NominateAll(std::vector<Entry>& entries, CycleThreads* threads) {
  std::vector<std::vector<size_t>> parts;
  // The tables of a resumed cycle belong to no tree.
  if (threads != nullptr && threads->AreWorthIt(entries.size()) && !is_resumed_ &&
      AreTreesIndependent(state_, entries)) {
    parts = EntriesByPart(state_, entries);
  }
  if (parts.size() < 2) {
    for (Entry& entry : entries) Nominate(entry);
    return;
  }
  preemptors_.resize(Quota::kParts);
  for (const std::vector<size_t>& part : parts) {
    preemptors_[state_.quota.PartOf(entries[part.front()].queue)] = std::make_unique<Preemptor>(state_);
  }
  state_.caches.refusals.Reserve(state_.forest().size());
  state_.quota.Part();
  const absl::Cleanup join = [this] { state_.quota.Join(); };
  threads->Do(parts.size(), [&](size_t number) {
    for (size_t i : parts[number]) Nominate(entries[i]);
  });
}

void Nomination::Nominate(Entry& entry) {
  if (Refuses(entry)) return;
  entry.nominated = true;
  entry.replaced = ReplacedSlice(state_, entry.workload, entry.queue);
  Assign(entry, nullptr);
}

bool Nomination::Refuses(Entry& entry) {
  const Workload& workload = state_.At(entry.workload);
  if (entry.second_pass > 0 && !state_.forest().IsActive(entry.queue)) {
    entry.message = Say(Sentence::kClusterQueueInactive, {state_.forest().Name(entry.queue)});
    entry.quota_reserved_reason = Reason::kSuspended;
    return true;
  }
  // All checks were ready when the second pass for a delayed topology was requested, and it uses that
  // snapshot.
  const bool were_ready =
      entry.second_pass > 0 && HasPendingTopology(workload) && workload.Status().unhealthy_nodes.empty();
  if (!were_ready && HasFailedChecks(workload)) {
    entry.inadmissibility = Inadmissibility::Kind::kFailedChecks;
    entry.message = Say(Sentence::kFailedChecks);
    entry.quota_reserved_reason = Reason::kPendingEvaluation;
    return true;
  }
  if (!state_.forest().IsActive(entry.queue)) {  // The queue is active, but below a cycle of Cohorts.
    entry.message = Say(Sentence::kClusterQueueInactive, {state_.forest().Name(entry.queue)});
    entry.quota_reserved_reason = Reason::kSuspended;
    return true;
  }
  const Inadmissibility error = ValidateAdmissibility(state_, workload, entry.queue);
  if (error.IsNone()) return false;
  entry.inadmissibility = error.kind;
  entry.message = error.ConditionMessage();
  entry.quota_reserved_reason = Reason::kMisconfigured;
  if (error.kind == Inadmissibility::Kind::kNamespaceMismatch) {
    entry.requeue_reason = RequeueReason::kNamespaceMismatch;
  }
  return true;
}

bool Nomination::IsProgressOutdated(const Workload& workload, NodeId queue) const {
  const ScanProgress& progress = *workload.progress;
  if (state_.config.gates.flavor_fungibility_preserve_scan_progress) {
    if (state_.config.gates.scheduling_equivalence_hashing && progress.cls != workload.hash) return true;
    if (state_.scheduling_cycle - progress.cycle <= 1) return false;
  }
  return std::as_const(state_).Queue(queue).generation > progress.generation;
}

void Nomination::Assign(Entry& entry, const NominationMapping* pinned) {
  Workload& workload = state_.At(entry.workload);
  if (workload.progress && IsProgressOutdated(workload, entry.queue)) workload.progress = nullptr;
  Preemptor& preemptor = PreemptorOf(entry.queue);
  const bool is_told_by_class = pinned == nullptr && IsToldByClass(entry);
  const KnownFit* known = nullptr;
  bool is_known = false;
  if (is_told_by_class) {
    // KeepRefusal() keeps nothing for queues that may preempt.
    if (!preemptor.MayPreempt(entry.queue) && Recall(entry)) return;
    known = state_.caches.fits.Find(entry.queue, workload.cls);
    is_known = known != nullptr && TakeKnown(*known, entry);
    if (is_known && !known->needs_placement) return;
  }
  FlavorAssigner assigner(state_, preemptor, preemptor.placer(),
                          {entry.queue, entry.workload, entry.replaced, pinned, known != nullptr});
  if (is_known) {
    assigner.Place(entry.assignment);
  } else {
    assigner.Assign(entry.assignment);
  }
  entry.targets.clear();
  if (entry.assignment.mode == Mode::kPreempt) {
    entry.targets = preemptor.Targets(entry.queue, entry.workload, entry.assignment, entry.replaced);
  }
  const std::optional<TopologyAnswers> if_empty = assigner.TakePlacementIfEmpty();
  if (entry.assignment.mode != Mode::kFit && entry.targets.empty()) TryPartialAdmission(entry, assigner);
  if (entry.assignment.mode == Mode::kPreempt && !entry.assignment.demands.empty())
    PlaceAround(entry, if_empty);
  if (entry.second_pass > 0) entry.assignment.usage.clear();  // The usage is already charged.
  const Condition* reserved = workload.Find(ConditionType::kQuotaReserved);
  entry.message = entry.assignment.Facts(workload.cls, reserved == nullptr ? nullptr : reserved->message);
  SetProgress(entry);
  if (is_told_by_class) KeepRefusal(entry);
}

bool Nomination::IsToldByClass(const Entry& entry) const {
  const Workload& workload = state_.At(entry.workload);
  return recalls_ && entry.second_pass == 0 && entry.replaced == kNoId && workload.progress == nullptr &&
         workload.admission == nullptr;
}

bool Nomination::Recall(Entry& entry) const {
  const KnownRefusal* const known =
      state_.caches.refusals.Find(state_.quota, entry.queue, state_.At(entry.workload).cls);
  if (known == nullptr) return false;
  entry.assignment.mode = known->has_no_candidates ? Mode::kPreempt : Mode::kNoFit;
  entry.assignment.no_fit_reason = known->no_fit_reason;
  entry.assignment.borrowing = known->borrowing;
  entry.assignment.usage = known->usage;
  entry.message = known->message;
  return true;
}

bool Nomination::TakeKnown(const KnownFit& known, Entry& entry) const {
  int borrowing = 0;
  if (known.needs_placement && state_.At(entry.workload).spec->elastic) return false;
  for (const auto& [fr, amount] : known.usage) {
    if (amount > state_.quota.Available(entry.queue, fr)) return false;
    borrowing = std::max(borrowing, LowestSubtreeThatFits(state_.quota, entry.queue, fr, amount).height);
  }
  entry.assignment.mode = Mode::kFit;
  entry.assignment.borrowing = borrowing;
  entry.assignment.usage = known.usage;
  if (known.needs_placement) {
    TakeKnownFlavors(*known.admission, entry);
  } else {
    entry.admission = known.admission;
  }
  return true;
}

// Fills in what the flavor scan would find. Each resource has only one flavor, and all resources the same.
void Nomination::TakeKnownFlavors(const Admission& admission, Entry& entry) const {
  Assignment& assignment = entry.assignment;
  const PodSetAdmission& admitted = admission.pod_sets.front();
  PodSetAssignment& pod_set = assignment.pod_sets.emplace_back();
  pod_set.count = admitted.count;
  for (size_t i = 0; i < admitted.resources.size(); ++i) {
    const auto& [resource, flavor, usage] = admitted.resources[i];
    const auto& [fr, amount] = assignment.usage[i];
    const int height = LowestSubtreeThatFits(state_.quota, entry.queue, fr, amount).height;
    pod_set.requests.emplace_back(resource, usage);
    pod_set.flavors.push_back({resource, flavor, Mode::kFit, height, -1});
  }
  const auto& [resource, flavor, usage] = admitted.resources.front();
  const int group = std::as_const(state_).Queue(entry.queue).GroupOf(resource);
  pod_set.attempts.push_back({flavor, group, PreemptionMode::kFit, assignment.borrowing, Reason::kEmpty});
  const PodSetSpec& spec = state_.Class(state_.At(entry.workload).cls).pod_sets.front();
  assignment.demands.push_back({0, flavor, static_cast<int32_t>(admitted.count), !RequestsTopology(spec)});
}

// Returns whether TakeKnownFlavors() reproduces the assignment before its placement.
bool Nomination::CanReproduceFlavors(const Entry& entry) const {
  const Assignment& assignment = entry.assignment;
  if (assignment.pod_sets.size() != 1 || assignment.demands.size() != 1) return false;
  const PodSetAssignment& pod_set = assignment.pod_sets.front();
  const auto is_of_demand = [&](const FlavorChoice& choice) {
    return choice.flavor == assignment.demands.front().flavor && choice.tried == -1;
  };
  return pod_set.topology != nullptr && pod_set.delayed == DelayedTopology::kNone &&
         pod_set.refusals.empty() && pod_set.attempts.size() == 1 && !pod_set.requests.empty() &&
         pod_set.requests.size() == pod_set.flavors.size() &&
         assignment.usage.size() == pod_set.flavors.size() && !state_.At(entry.workload).spec->elastic &&
         std::all_of(pod_set.flavors.begin(), pod_set.flavors.end(), is_of_demand);
}

void Nomination::KeepFit(const Entry& entry, const std::shared_ptr<const Admission>& admission) {
  const ClassId id = state_.At(entry.workload).cls;
  const EquivalenceClass& cls = state_.Class(id);
  if (is_resumed_ || !IsToldByClass(entry) || entry.assignment.HasPendingFlavors() ||
      cls.can_be_partially_admitted) {
    return;
  }
  const bool needs_placement = PreemptorOf(entry.queue).placer().Concerns(entry.queue, cls);
  if (needs_placement &&
      (state_.caches.fits.Find(entry.queue, id) != nullptr || !CanReproduceFlavors(entry))) {
    return;
  }
  const ClusterQueue& queue = std::as_const(state_).Queue(entry.queue);
  for (const PodSetAssignment& pod_set : entry.assignment.pod_sets) {
    for (const auto& [resource, amount] : pod_set.requests) {
      const int group = queue.GroupOf(resource);
      if (group == kNoId || queue.groups[static_cast<size_t>(group)].flavors.size() > 1) return;
    }
  }
  state_.caches.fits.Keep(entry.queue, id, {entry.assignment.usage, admission, needs_placement});
}

// Adds the flavor resources that the flavor scan for a resource may read.
void Nomination::AddRead(ResourceId resource, NodeId node, KnownRefusal& refusal) const {
  const ClusterQueue& queue = std::as_const(state_).Queue(node);
  const int group = queue.GroupOf(resource);
  if (group == kNoId) return;
  for (FlavorId flavor : queue.groups[static_cast<size_t>(group)].flavors) {
    const FlavorResourceId fr = state_.FlavorResource(flavor, resource);
    const bool is_read = std::find(refusal.read.begin(), refusal.read.end(), fr) != refusal.read.end();
    if (fr != kNoId && !is_read) refusal.read.push_back(fr);
  }
}

void Nomination::KeepRefusal(const Entry& entry) {
  const Assignment& assignment = entry.assignment;
  const ClassId id = state_.At(entry.workload).cls;
  const EquivalenceClass& cls = state_.Class(id);
  if (assignment.mode == Mode::kFit || PreemptorOf(entry.queue).MayPreempt(entry.queue) ||
      assignment.HasPendingFlavors() || cls.can_be_partially_admitted ||
      PreemptorOf(entry.queue).placer().Concerns(entry.queue, cls)) {
    return;
  }
  KnownRefusal refusal;
  for (const PodSetAssignment& pod_set : assignment.pod_sets) {
    for (const auto& [resource, amount] : pod_set.requests) AddRead(resource, entry.queue, refusal);
  }
  refusal.has_no_candidates = assignment.mode == Mode::kPreempt;
  refusal.no_fit_reason = assignment.no_fit_reason;
  refusal.borrowing = assignment.borrowing;
  refusal.usage = assignment.usage;
  refusal.message = entry.message;
  state_.caches.refusals.Keep(state_.quota, entry.queue, id, std::move(refusal));
}

// Computes the placement of a workload that needs preemption: the placement after its targets have stopped
// or, if there are no targets, the placement in an empty cluster. The capacity of this placement is reserved.
// `if_empty` is the placement in an empty cluster if it is known. Mirrors
// pkg/scheduler/scheduler.go:updateAssignmentForTAS.
void Nomination::PlaceAround(Entry& entry, const std::optional<TopologyAnswers>& if_empty) {
  if (HasUnhealthyAssignment(state_, state_.At(entry.workload))) return;
  Placer& placer = PreemptorOf(entry.queue).placer();
  const bool as_if_empty = entry.targets.empty();
  if (as_if_empty && if_empty && !placer.ForgetsAffinity())
    return placer.Apply(*if_empty, entry.assignment, entry.workload);
  const Trial trial(state_, entry.queue);
  for (const Target& target : entry.targets) Discharge(state_, target.workload);
  placer.Apply(placer.Find(entry.assignment.demands, entry.workload, as_if_empty, entry.replaced),
               entry.assignment, entry.workload);
}

// Mirrors pkg/scheduler/flavorassigner/podset_reducer.go: finds the smallest reduction by binary search.
bool Nomination::TryPartialAdmission(Entry& entry, FlavorAssigner& assigner) {
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
    Assignment assignment;
    assigner.Assign(assignment, &counts);
    std::vector<Target> targets;
    if (assignment.mode == Mode::kPreempt) {
      targets = PreemptorOf(entry.queue).Targets(entry.queue, entry.workload, assignment, entry.replaced);
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

// Stores the position at which the flavor scan stopped, if it stopped before the last flavor.
void Nomination::SetProgress(const Entry& entry) {
  Workload& workload = state_.At(entry.workload);
  if (!entry.assignment.HasPendingFlavors()) {
    if (workload.progress != nullptr) workload.progress = nullptr;
    return;
  }
  auto progress = std::make_shared<ScanProgress>();
  progress->generation = std::as_const(state_).Queue(entry.queue).generation;
  progress->cycle = state_.scheduling_cycle;
  progress->cls = workload.hash;
  for (const PodSetAssignment& pod_set : entry.assignment.pod_sets) {
    progress->tried.emplace_back();
    for (const FlavorChoice& choice : pod_set.flavors) {
      progress->tried.back().emplace_back(choice.resource, choice.tried);
    }
  }
  workload.progress = std::move(progress);
}

}  // namespace kueue
