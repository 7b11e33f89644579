#include "fleet/copies.h"

#include <algorithm>
#include <map>
#include <string>

#include "absl/strings/match.h"
#include "lifecycle/dispatched.h"
#include "workload/shape.h"

namespace kueue {
namespace {

constexpr size_t kMostSpecs = 1 << 16;

// Returns whether the copy still exists, and updates its id.
bool IsThere(const Engine& engine, Copy& copy) {
  if (copy.deferred) return true;
  const WorkloadTable& table = engine.state().workloads;
  const bool is_known =
      table.Contains(copy.id) && !table.IsFree(copy.id) && engine.state().At(copy.id).serial == copy.serial;
  if (!is_known) copy.id = table.Find(copy.serial);
  return copy.id != kNoId && !engine.state().At(copy.id).deleted;
}

bool SamePodSet(const PodSetSpec& a, const PodSetSpec& b) {
  if (a.name != b.name || a.count != b.count || a.min_count != b.min_count || a.group != b.group ||
      a.topology_request != b.topology_request) {
    return false;
  }
  return a.pod_template == b.pod_template || SpecShape(*a.pod_template) == SpecShape(*b.pod_template);
}

// Compares specs without preemption gates (workload.go:isRemoteSpecOutOfSync).
bool SameSpec(const WorkloadSpec& a, const WorkloadSpec& b) {
  return a.queue_name == b.queue_name && a.priority == b.priority && a.priority_class == b.priority_class &&
         a.active == b.active && a.maximum_execution_time_seconds == b.maximum_execution_time_seconds &&
         std::equal(a.pod_sets.begin(), a.pod_sets.end(), b.pod_sets.begin(), b.pod_sets.end(), SamePodSet);
}

// All new copies share one object, because most of them are deleted before their status changes.
const std::shared_ptr<const StatusDetails>& StatusOfNewCopy() {
  static const auto* const status = [] {
    auto made = std::make_shared<StatusDetails>();
    made->dispatched.job = JobPlace::kNone;
    return new std::shared_ptr<const StatusDetails>(std::move(made));
  }();
  return *status;
}

// Mirrors pkg/workload/workload.go:PriorityChanged.
bool PriorityDiffers(const WorkloadSpec& local, const WorkloadSpec& remote) {
  if (absl::StrContains(local.priority_class, "scheduling.k8s.io/PriorityClass/") ||
      !absl::StrContains(remote.priority_class, "/WorkloadPriorityClass/")) {
    return false;
  }
  return local.priority_class != remote.priority_class || local.priority != remote.priority;
}

}  // namespace

void Copies::Attach(Engine* manager, std::vector<WorkerCluster>* clusters, DispatchListener* listener) {
  manager_ = manager;
  clusters_ = clusters;
  listener_ = listener;
}

void Copies::ForgetMissing(Local& local) const {
  std::vector<Copy>& copies = local.copies;
  const auto is_missing = [this, &local](Copy& copy) {
    if (IsThere(EngineOf(copy), copy)) return false;
    if (copy.has_job) local.jobs.push_back(copy.cluster);
    return true;
  };
  copies.erase(std::remove_if(copies.begin(), copies.end(), is_missing), copies.end());
}

bool Copies::RemoveJobs(Local& local, const std::vector<int32_t>& ranks) const {
  const auto is_removed = [this, &local, &ranks](int32_t cluster) {
    if (!IsConnected(cluster) || ranks[static_cast<size_t>(cluster)] == kNoId ||
        CopyOn(local, cluster) != nullptr) {
      return false;
    }
    Copy deleted;
    deleted.cluster = cluster;
    Report(Move::kStopped, local, deleted);
    return true;
  };
  const size_t before = local.jobs.size();
  local.jobs.erase(std::remove_if(local.jobs.begin(), local.jobs.end(), is_removed), local.jobs.end());
  for (int32_t cluster = 0; !local.kin.empty() && cluster < static_cast<int32_t>(ranks.size()); ++cluster) {
    if (!IsConnected(cluster) || ranks[static_cast<size_t>(cluster)] == kNoId) continue;
    if (CopyOn(local, cluster) != nullptr || !DropSharedJob(local, cluster)) continue;
    Copy deleted;
    deleted.cluster = cluster;
    Report(Move::kStopped, local, deleted);
  }
  return local.jobs.size() != before;
}

bool Copies::SharesJob(const Local& local, int32_t cluster) const {
  bool shares = false;
  ForKin(local, cluster, [&shares](const State& there, WorkloadId id) {
    if (there.At(id).Status().dispatched.job == JobPlace::kCopied) shares = true;
  });
  return shares;
}

bool Copies::DropSharedJob(const Local& local, int32_t cluster) const {
  bool dropped = false;
  ForKin(local, cluster, [&dropped](State& there, WorkloadId id) {
    if (there.At(id).Status().dispatched.job != JobPlace::kCopied) return;
    there.EditStatus(there.At(id)).dispatched.job = JobPlace::kNone;
    there.MarkDirty(id);
    dropped = true;
  });
  return dropped;
}

void Copies::CollectUnknown() const {
  for (int32_t cluster = 0; cluster < static_cast<int32_t>(clusters_->size()); ++cluster) {
    if (!IsConnected(cluster)) continue;
    State& there = At(cluster).engine->state();
    std::map<std::string, WorkloadId> unknown;
    for (WorkloadId id : there.Living()) {
      const Workload& workload = there.At(id);
      if (workload.deleted || workload.Status().dispatched.job == JobPlace::kHere) continue;
      std::string key = workload.Key();
      if (FindByKey(manager(), key) == kNoId) unknown.emplace(std::move(key), id);
    }
    for (const auto& [key, id] : unknown) {
      Local local;
      local.key = key;
      local.copies.push_back({cluster, id, there.At(id).serial, nullptr, nullptr});
      Remove(local, cluster);
    }
  }
}

void Copies::FindByName(Local& local, const std::vector<int32_t>& clusters) const {
  for (int32_t cluster : clusters) {
    if (!IsConnected(cluster) || CopyOn(local, cluster) != nullptr) continue;
    const State& state = At(cluster).engine->state();
    const WorkloadId id = FindByKey(state, local.key);
    if (id == kNoId || state.At(id).deleted) continue;
    std::vector<Copy>& copies = local.copies;
    const auto place =
        std::find_if(copies.begin(), copies.end(), [&](const Copy& copy) { return copy.cluster > cluster; });
    const bool has_job = state.At(id).Status().dispatched.job == JobPlace::kCopied;
    copies.insert(place, {cluster, id, state.At(id).serial, nullptr, nullptr, false, has_job});
  }
}

Copy* Copies::CopyOn(Local& local, int32_t cluster) const {
  // Usually the first clusters all have copies, so that the copies are numbered like the clusters.
  const auto same = static_cast<size_t>(cluster);
  if (same < local.copies.size() && local.copies[same].cluster == cluster) return &local.copies[same];
  const auto place = std::lower_bound(local.copies.begin(), local.copies.end(), cluster,
                                      [](const Copy& copy, int32_t number) { return copy.cluster < number; });
  return place == local.copies.end() || place->cluster != cluster ? nullptr : &*place;
}

std::shared_ptr<const WorkloadSpec> Copies::SpecForCopy(const std::shared_ptr<const WorkloadSpec>& spec,
                                                        bool gated) {
  const bool orchestrated = manager().config.gates.multi_kueue_orchestrated_preemption;
  gated = gated && orchestrated;
  if (!gated && spec->job_uid.empty()) return spec;
  if (specs_.size() >= kMostSpecs) specs_.clear();
  Made own;
  Made& made = gated == orchestrated ? specs_[spec.get()] : own;
  if (made.first != nullptr) return made.second;
  auto copied = std::make_shared<WorkloadSpec>(*spec);
  copied->job_uid.clear();
  if (gated) copied->preemption_gates = {kMultiKueueGate};
  made = {spec, std::move(copied)};
  return made.second;
}

void Copies::Submit(const Local& local, Copy& copy) const {
  const Workload& workload = WorkloadOf(local);
  Engine& engine = EngineOf(copy);
  copy.id = engine.Submit({workload.name, workload.uid, std::nullopt, false, copy.made});
  Workload& remote = engine.state().At(copy.id);
  copy.serial = remote.serial;
  if (remote.status == nullptr) {
    remote.status = StatusOfNewCopy();
  } else {
    engine.state().EditStatus(remote).dispatched.job = JobPlace::kNone;
  }
}

WorkloadId Copies::Realize(Local& local, int32_t cluster) const {
  Copy& copy = *CopyOn(local, cluster);
  copy.deferred = false;
  Submit(local, copy);
  return copy.id;
}

// Mirrors workload.go:cloneForCreate. The creation time of a copy is the time of its dispatch.
void Copies::Create(Local& local, int32_t cluster, size_t most, bool gated) {
  const Workload& workload = WorkloadOf(local);
  At(cluster).engine->SetNow(manager().now);
  Copy copy;
  copy.cluster = cluster;
  copy.local = workload.spec;
  copy.made = SpecForCopy(workload.spec, gated);
  copy.deferred = listener_ != nullptr && listener_->Defers(local, cluster, *copy.made);
  if (!copy.deferred) {
    Need(cluster);
    Submit(local, copy);
  }
  const auto job = std::find(local.jobs.begin(), local.jobs.end(), cluster);
  const bool has_job = job != local.jobs.end();  // The job of an earlier copy is still there.
  if (has_job || (local.role != GroupRole::kAlone && SharesJob(local, cluster))) {
    EngineOf(copy).state().EditStatus(EngineOf(copy).state().At(copy.id)).dispatched.job = JobPlace::kCopied;
    copy.has_job = true;
    if (has_job) local.jobs.erase(job);
  }
  if (local.copies.empty()) local.copies.reserve(most);
  const auto place = local.copies.empty() || local.copies.back().cluster < cluster
                         ? local.copies.end()
                         : std::lower_bound(
                               local.copies.begin(), local.copies.end(), cluster,
                               [](const Copy& other, int32_t number) { return other.cluster < number; });
  const auto made = local.copies.insert(place, std::move(copy));
  Report(Move::kCreated, local, *made);
}

void Copies::Remove(Local& local, int32_t cluster) const {
  if (RemoveFromWorker(local, cluster)) EraseRemoved(local);
}

bool Copies::RemoveFromWorker(Local& local, int32_t cluster) const {
  Copy* const copy = CopyOn(local, cluster);
  if (copy == nullptr) return false;
  if (copy->deferred && listener_->MayPass(cluster)) {
    Report(Move::kDeleted, local, *copy);
    listener_->Pass(local, cluster);
  } else {
    Need(cluster, /*queues_stay=*/!copy->deferred);
    const bool shared = DropSharedJob(local, cluster);
    if (shared || WorkloadOf(*copy).Status().dispatched.job == JobPlace::kCopied)
      Report(Move::kStopped, local, *copy);
    Report(Move::kDeleted, local, *copy);
    EngineOf(*copy).Delete(copy->id);
  }
  copy->removed = true;
  return true;
}

void Copies::EraseRemoved(Local& local) {
  const auto is_removed = [](const Copy& copy) { return copy.removed; };
  local.copies.erase(std::remove_if(local.copies.begin(), local.copies.end(), is_removed),
                     local.copies.end());
}

bool Copies::IsInSync(Copy& copy, const std::shared_ptr<const WorkloadSpec>& spec) const {
  if (copy.deferred && copy.local == spec) return true;
  if (copy.deferred) Need(copy.cluster);
  const std::shared_ptr<const WorkloadSpec>& there = WorkloadOf(copy).spec;
  if (copy.local == spec && copy.made == there) return true;
  if (!SameSpec(*spec, *there)) return false;
  copy.local = spec;
  copy.made = there;
  return true;
}

bool Copies::UpdateInPlace(const Local& local, Copy& copy) {
  Need(copy.cluster);  // May submit a workload, which invalidates references to the worker's workloads.
  const WorkloadSpec& wanted = *WorkloadOf(local).spec;
  const Workload& remote = WorkloadOf(copy);
  const bool scaled = IsElastic(manager(), wanted) && ScaledDown(*remote.spec, wanted);
  if (!scaled && !PriorityDiffers(wanted, *remote.spec)) return false;
  auto spec = std::make_shared<WorkloadSpec>(scaled ? *SpecForCopy(WorkloadOf(local).spec, /*gated=*/true)
                                                    : *remote.spec);
  spec->preemption_gates = remote.spec->preemption_gates;
  spec->priority = wanted.priority;
  spec->priority_class = wanted.priority_class;
  EngineOf(copy).Update(copy.id, {remote.name, remote.uid, remote.created, false, std::move(spec)});
  Report(Move::kUpdated, local, copy);
  return true;
}

}  // namespace kueue
