#include "fleet/dispatcher.h"

#include <algorithm>

#include "engine/objects.h"
#include "fleet/reconciliation.h"
#include "lifecycle/controllers.h"
#include "lifecycle/dispatched.h"

namespace kueue {
namespace {

constexpr const char* kController = "kueue.x-k8s.io/multikueue";

}  // namespace

Dispatcher::Dispatcher(DispatcherOptions options, std::vector<CheckClusters> checks)
    : options_(options), checks_(std::move(checks)) {}

void Dispatcher::Attach(Engine* manager, std::vector<WorkerCluster>* clusters, DispatchListener* listener) {
  copies_.Attach(manager, clusters, listener);
  check_ids_.clear();
  for (const CheckClusters& check : checks_) check_ids_.push_back(InternCheck(manager->state(), check.check));
  RankClusters();
}

void Dispatcher::RankClusters() {
  if (!ranks_.empty()) return;
  for (const CheckClusters& check : checks_) {
    std::vector<int32_t>& ranks = ranks_.emplace_back(copies_.clusters().size(), kNoId);
    for (size_t i = 0; i < check.clusters.size(); ++i)
      ranks[static_cast<size_t>(check.clusters[i])] = static_cast<int32_t>(i);
    std::vector<int32_t>& by_name = by_name_.emplace_back(check.clusters);
    std::sort(by_name.begin(), by_name.end(),
              [this](int32_t a, int32_t b) { return copies_.At(a).name < copies_.At(b).name; });
  }
}

const Local* Dispatcher::Find(Serial serial) const {
  const auto known = locals_.find(serial);
  return known == locals_.end() ? nullptr : &known->second;
}

Local& Dispatcher::Of(WorkloadId id) {
  const Workload& workload = manager().At(id);
  Local& local = locals_[workload.serial];
  local.id = id;
  if (local.serial == kNoId) {
    local.serial = workload.serial;
    local.key = workload.Key();
  }
  return local;
}

// Mirrors pkg/util/admissioncheck/admissioncheck.go:GetMultiKueueAdmissionCheck.
const WorkloadCheck* Dispatcher::CheckOf(const Workload& workload) const {
  if (workload.status == nullptr) return nullptr;
  for (const WorkloadCheck& check : workload.status->checks) {
    if (ConfigOf(check) == kNoId) continue;
    const AdmissionCheckState& known = manager().checks[check.check];
    if (known.exists && known.spec.controller == kController) return &check;
  }
  return nullptr;
}

std::optional<DispatchView> Dispatcher::StatusOf(const Workload& workload) const {
  const WorkloadCheck* check = CheckOf(workload);
  if (check == nullptr) return std::nullopt;
  const Dispatched& dispatched = workload.Status().dispatched;
  return DispatchView{manager().check_names.Name(check->check), check->state, check->message,
                      dispatched.nominated, dispatched.cluster};
}

std::vector<CopyView> Dispatcher::CopiesOf(Serial serial) const {
  std::vector<CopyView> views;
  const Local* local = Find(serial);
  if (local == nullptr) return views;
  for (const Copy& copy : local->copies) {
    const State& there = copies_.EngineOf(copy).state();
    const WorkloadId id = there.workloads.Find(copy.serial);
    if (id == kNoId || there.At(id).deleted) continue;
    const Dispatched& dispatched = there.At(id).Status().dispatched;
    views.push_back({copy.cluster, copy.serial, dispatched.job == JobPlace::kCopied, dispatched.active});
  }
  return views;
}

// Returns kNoId if the controllers ignore the workload.
int32_t Dispatcher::ConfigOf(const Workload& workload) const {
  const WorkloadCheck* check = CheckOf(workload);
  return check == nullptr || check->state == CheckState::kRejected ? kNoId : ConfigOf(*check);
}

int32_t Dispatcher::ConfigOf(const WorkloadCheck& check) const {
  const auto found = std::find(check_ids_.begin(), check_ids_.end(), check.check);
  return found == check_ids_.end() ? kNoId : static_cast<int32_t>(found - check_ids_.begin());
}

std::vector<Dispatcher::Turn> Dispatcher::Turns() const {
  std::vector<Turn> turns;
  for (WorkloadId id : manager().Living()) {
    const Workload& workload = manager().At(id);
    if (!workload.deleted) turns.push_back({workload.Key(), workload.serial, id});
  }
  for (const auto& [serial, local] : locals_) {
    const WorkloadId id = manager().workloads.Find(serial);
    const bool is_deleted = id == kNoId || manager().At(id).deleted;
    if (is_deleted && !local.gone) turns.push_back({local.key, serial, kNoId});
  }
  std::sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) {
    return a.key != b.key ? a.key < b.key : a.serial < b.serial;
  });
  return turns;
}

void Dispatcher::LookAtAll() {
  for (bool changed = true; changed;) {
    changed = false;
    for (const Turn& turn : Turns()) {
      if (turn.id == kNoId ? LookAtDeleted(turn.serial) : Look(turn.id)) changed = true;
    }
  }
}

bool Dispatcher::Look(WorkloadId id) {
  const Workload& workload = manager().At(id);
  looked_ = nullptr;
  if (CheckOf(workload) == nullptr && Find(workload.serial) == nullptr) return false;
  Local& local = Of(id);
  looked_ = &local;
  local.again.reset();
  bool nominated = false;
  if (options_.kind == DispatcherKind::kIncremental) nominated = LookIncrementally(local);
  if (external_ && options_.kind == DispatcherKind::kExternal) nominated = LookExternally(local);
  return Reconcile(local) || nominated;
}

// Runs the MultiKueue controller.
bool Dispatcher::Reconcile(Local& local) {
  local.config = ConfigOf(WorkloadOf(local));
  if (local.config == kNoId || !CheckClustersOf(local).has_config) return false;
  const auto config = static_cast<size_t>(local.config);
  Reconciliation reconciliation(options_, copies_, local, checks_[config], check_ids_[config],
                                ranks_[config]);
  const Reconciliation::Result result = reconciliation.Run();
  const bool nominated = result.nominates && NominateAndSync(local);
  return nominated || result.changed;
}

bool Dispatcher::LookAtDeleted(Serial serial) {
  const auto known = locals_.find(serial);
  if (known == locals_.end()) return false;
  Local& local = known->second;
  const WorkloadId successor = options_.finds_by_name ? FindByKey(manager(), local.key) : kNoId;
  if (successor != kNoId) {
    Succeed(local, successor);
    locals_.erase(known);
    return false;
  }
  const WorkloadId id = manager().workloads.Find(serial);
  if (id != kNoId) local.config = ConfigOf(manager().At(id));  // As of the deletion.
  local.gone = true;
  local.again.reset();
  copies_.ForgetMissing(local);
  bool changed = false;
  if (local.config != kNoId) {
    changed = copies_.RemoveJobs(local, ranks_[static_cast<size_t>(local.config)]);
    for (int32_t cluster : CheckClustersOf(local).clusters) {
      if (!copies_.IsConnected(cluster) || copies_.CopyOn(local, cluster) == nullptr) continue;
      copies_.Remove(local, cluster);
      changed = true;
    }
  }
  if (local.copies.empty()) locals_.erase(known);
  return changed;
}

// A new workload of the same name takes over the copies. The controllers identify workloads by name, so the
// round of the incremental dispatcher and jobs without a copy remain.
void Dispatcher::Succeed(const Local& old, WorkloadId successor) {
  if (!old.round && old.jobs.empty()) return;
  Local& local = Of(successor);
  if (!local.round) local.round = old.round;
  if (local.jobs.empty()) local.jobs = old.jobs;
}

// Mirrors pkg/controller/admissionchecks/multikueue/multikueuecluster.go:runGC.
void Dispatcher::CollectGarbage() {
  if (options_.finds_by_name) return copies_.CollectUnknown();
  std::vector<Serial> serials;
  for (const auto& [serial, local] : locals_) serials.push_back(serial);
  std::sort(serials.begin(), serials.end());
  for (Serial serial : serials) {
    Local& local = locals_.at(serial);
    if (FindByKey(manager(), local.key) != kNoId) continue;
    copies_.ForgetMissing(local);
    for (size_t i = local.copies.size(); i-- > 0;) {
      if (copies_.IsConnected(local.copies[i].cluster)) copies_.Remove(local, local.copies[i].cluster);
    }
    if (local.copies.empty() && local.gone) locals_.erase(serial);
  }
}

void Dispatcher::SetJob(WorkloadId id, StatusCopy copy, GroupRole role, std::vector<std::string> kin) {
  if (CheckOf(manager().At(id)) == nullptr) return;
  Local& local = Of(id);
  local.status_copy = copy;
  local.role = role;
  local.kin = std::move(kin);
}

void Dispatcher::SetConnected(int32_t cluster, bool connected) {
  WorkerCluster& at = copies_.At(cluster);
  if (at.connected == connected) return;
  at.connected = connected;
  at.lost_since = manager().now;
  RefreshChecks();
}

void Dispatcher::SetDeclared(const std::vector<bool>& declared) {
  std::vector<WorkerCluster>& clusters = copies_.clusters();
  for (size_t i = 0; i < clusters.size() && i < declared.size(); ++i) clusters[i].declared = declared[i];
}

// Mirrors pkg/controller/admissionchecks/multikueue/admissioncheck.go:Reconcile.
void Dispatcher::RefreshChecks() {
  for (const CheckClusters& check : checks_) {
    const AdmissionCheckState known = manager().checks[InternCheck(manager(), check.check)];
    const bool active =
        check.has_config && std::any_of(check.clusters.begin(), check.clusters.end(),
                                        [this](int32_t cluster) { return copies_.IsConnected(cluster); });
    if (!known.exists || known.spec.active == active) continue;
    ApplyCheck(manager(), {check.check, known.spec.controller, active});
  }
}

void Dispatcher::SetClusters(std::vector<CheckClusters> checks) {
  checks_ = std::move(checks);
  ranks_.clear();
  RankClusters();
  RefreshChecks();
}

void Dispatcher::Nominate(WorkloadId id, std::vector<int32_t> clusters) {
  manager().EditStatus(manager().At(id)).dispatched.nominated = std::move(clusters);
  AfterWrite(manager(), id);
}

// Mirrors pkg/controller/workloaddispatcher/incrementaldispatcher.go:Reconcile.
bool Dispatcher::LookIncrementally(Local& local) {
  const std::vector<int32_t>* clusters = ClustersToNominate(local);
  if (clusters == nullptr) return false;
  if (WorkloadOf(local).IsFinished() || !WorkloadOf(local).HasQuotaReservation()) {
    local.round.reset();
    return false;
  }
  return NominateNext(local, *clusters);
}

// Returns the clusters of the check, or null if the check is not Pending or its cluster is already chosen.
const std::vector<int32_t>* Dispatcher::ClustersToNominate(Local& local) const {
  const Workload& workload = WorkloadOf(local);
  const WorkloadCheck* check = CheckOf(workload);
  if (check == nullptr || check->state != CheckState::kPending ||
      workload.Status().dispatched.cluster != kNoId) {
    return nullptr;
  }
  const CheckClusters& config = checks_[static_cast<size_t>(ConfigOf(*check))];
  return config.has_config ? &config.clusters : nullptr;
}

bool Dispatcher::LookExternally(Local& local) {
  const std::vector<int32_t>* clusters = ClustersToNominate(local);
  const Workload& workload = WorkloadOf(local);
  if (clusters == nullptr || workload.IsFinished() || workload.IsEvicted() ||
      !workload.HasQuotaReservation() || !AreOthersReady(local)) {
    return false;
  }
  std::optional<std::vector<int32_t>> chosen = external_(local, *clusters);
  if (!chosen || *chosen == workload.Status().dispatched.nominated) return false;
  Nominate(local.id, std::move(*chosen));
  return true;
}

bool Dispatcher::NominateNext(Local& local, const std::vector<int32_t>& clusters) {
  const Time now = manager().now;
  const std::vector<int32_t>& nominated = WorkloadOf(local).Status().dispatched.nominated;
  if (local.round) {
    const Time passed = now - *local.round;
    if (options_.is_virtual_time ? passed < options_.round : passed <= options_.round) {
      if (nominated.size() < clusters.size()) local.LookAgain(*local.round + options_.round);
      return false;
    }
  }
  std::vector<int32_t> next;
  for (int32_t cluster : clusters) {
    if (std::find(nominated.begin(), nominated.end(), cluster) == nominated.end()) next.push_back(cluster);
  }
  if (next.empty()) return false;
  if (!options_.in_config_order) {
    std::sort(next.begin(), next.end(),
              [this](int32_t a, int32_t b) { return copies_.At(a).name < copies_.At(b).name; });
  }
  const bool has_more = next.size() > static_cast<size_t>(options_.step);
  if (has_more) next.resize(static_cast<size_t>(options_.step));
  std::vector<int32_t> all = nominated;
  all.insert(all.end(), next.begin(), next.end());
  Nominate(local.id, std::move(all));
  local.round = now;
  ++local.rounds;
  if (has_more) local.LookAgain(now + options_.round);
  return true;
}

// Nominates all connected clusters, sorted by name. Writes the status only if the nominations change.
Dispatcher::Nominated Dispatcher::NominateAll(const Local& local) {
  std::vector<int32_t> connected;
  connected.reserve(CheckClustersOf(local).clusters.size());
  for (int32_t cluster : by_name_[static_cast<size_t>(local.config)]) {
    if (copies_.IsConnected(cluster)) connected.push_back(cluster);
  }
  const std::vector<int32_t>& nominated = WorkloadOf(local).Status().dispatched.nominated;
  if (connected == nominated) return Nominated::kKept;
  if (connected.size() == nominated.size() &&
      std::is_permutation(connected.begin(), connected.end(), nominated.begin())) {
    return Nominated::kKept;
  }
  if (WorkloadOf(local).Status().dispatched.cluster != kNoId) return Nominated::kRefused;
  Nominate(local.id, std::move(connected));
  return Nominated::kChanged;
}

bool Dispatcher::AreOthersReady(const Local& local) const {
  const Workload& workload = WorkloadOf(local);
  const WorkloadCheck* own = CheckOf(workload);
  const std::vector<WorkloadCheck>& all = workload.Status().checks;
  return std::all_of(all.begin(), all.end(), [own](const WorkloadCheck& check) {
    return &check == own || check.state == CheckState::kReady;
  });
}

// Returns the cluster of the other groups of a LeaderWorkerSet; kNoId if none has one yet, and nothing if the
// group has to wait. Mirrors workload.go:getComponentWorkloadsClusterName,isPrimaryComponentWorkload.
std::optional<int32_t> Dispatcher::ClusterOfGroup(const Local& local) const {
  if (local.role == GroupRole::kWaits) return std::nullopt;
  int32_t cluster = kNoId;
  for (const std::string& key : local.kin) {
    const WorkloadId id = FindByKey(manager(), key);
    const int32_t own = id == kNoId ? kNoId : manager().At(id).Status().dispatched.cluster;
    if (own == kNoId) continue;
    if (cluster != kNoId && own != cluster) return std::nullopt;  // An error in Kueue.
    cluster = own;
  }
  if (cluster == kNoId) return local.role == GroupRole::kFollows ? std::nullopt : std::optional(cluster);
  const bool has_rank = ranks_[static_cast<size_t>(local.config)][static_cast<size_t>(cluster)] != kNoId;
  return has_rank && copies_.IsConnected(cluster) ? std::optional(cluster) : std::nullopt;
}

// Mirrors workload.go:nominateAndSynchronizeWorkers,syncToSingleCluster.
bool Dispatcher::NominateAndSync(Local& local) {
  if (!AreOthersReady(local)) return false;
  bool changed = false;
  int32_t only = kNoId;  // The cluster of the other groups, or of the replaced slice.
  const bool is_group = local.role != GroupRole::kAlone;
  if (is_group) {
    const std::optional<int32_t> cluster = ClusterOfGroup(local);
    if (!cluster) return false;
    only = *cluster;
    const std::vector<int32_t>& nominated = WorkloadOf(local).Status().dispatched.nominated;
    if (only != kNoId && std::find(nominated.begin(), nominated.end(), only) == nominated.end()) {
      Nominate(local.id, {only});
      changed = true;
    }
  } else if (IsElastic(manager(), *WorkloadOf(local).spec)) {
    only = WorkloadOf(local).Status().dispatched.cluster;
  }
  if (only == kNoId && options_.kind == DispatcherKind::kAllAtOnce) {
    const Nominated nominated = NominateAll(local);
    if (nominated == Nominated::kRefused) return false;
    changed = nominated == Nominated::kChanged;
  }
  constexpr uint8_t kWanted = 1, kThere = 2;
  marks_.assign(copies_.clusters().size(), 0);
  for (int32_t cluster :
       only == kNoId ? WorkloadOf(local).Status().dispatched.nominated : std::vector<int32_t>{only}) {
    const auto place = static_cast<size_t>(cluster);
    if (place < marks_.size()) marks_[place] = kWanted;  // Nominations of unknown clusters have no effect.
  }
  for (const Copy& copy : local.copies) marks_[static_cast<size_t>(copy.cluster)] |= kThere;
  for (int32_t cluster : CheckClustersOf(local).clusters) {
    uint8_t& marks = marks_[static_cast<size_t>(cluster)];
    if (marks == 0 || marks == (kWanted | kThere) || !copies_.IsConnected(cluster)) continue;
    if (marks == kWanted) {
      copies_.Create(local, cluster, CheckClustersOf(local).clusters.size(), !is_group || only == kNoId);
      marks |= kThere;
    } else {
      copies_.Remove(local, cluster);
      marks = 0;
    }
    changed = true;
  }
  return changed;
}

}  // namespace kueue
