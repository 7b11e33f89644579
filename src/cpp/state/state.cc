#include "state/state.h"

#include <algorithm>

#include "absl/container/fixed_array.h"
#include "absl/strings/str_cat.h"

namespace kueue {
namespace {

constexpr const char kMultiKueue[] = "kueue.x-k8s.io/multikueue";
constexpr const char kProvisioning[] = "kueue.x-k8s.io/provisioning-request";

// A new node has no row in the quota tables and no place in the forest until the next rebuild.
void GrowNodes(State& state) {
  if (state.forest().size() == state.queues.size()) return;
  state.queues.resize(state.forest().size());
  state.cohorts.resize(state.forest().size());
  state.stale = true;
}

// The key `namespace/name` of an object. Most keys need no allocation.
class JoinedKey {
 public:
  JoinedKey(absl::string_view ns, absl::string_view name) : text_(ns.size() + 1 + name.size()) {
    char* const slash = std::copy(ns.begin(), ns.end(), text_.begin());
    *slash = '/';
    std::copy(name.begin(), name.end(), slash + 1);
  }
  explicit JoinedKey(const Workload& workload) : JoinedKey(workload.spec->ns, workload.name) {}
  absl::string_view text() const { return {text_.data(), text_.size()}; }

 private:
  absl::FixedArray<char, 128> text_;
};

}  // namespace

State::State() = default;
State::State(const State& other) = default;
State::State(State&& other) noexcept = default;
State& State::operator=(const State& other) = default;
State& State::operator=(State&& other) noexcept = default;
State::~State() = default;

FlavorId State::InternFlavor(absl::string_view name) {
  const FlavorId id = flavor_names.Intern(name);
  flavors.GrowTo(id);
  flavor_resource_ids.GrowTo(id);
  return id;
}

ResourceId State::InternResource(absl::string_view name) {
  const ResourceId id = resource_names.Intern(name);
  if (!resource_order.Contains(id)) {
    resource_order.push_back(ResourceOrder(name));
    if (name == "cpu") cpu = id;
    if (name == "pods") pods = id;
  }
  return id;
}

NamespaceId State::InternNamespace(absl::string_view name) {
  const NamespaceId id = namespace_names.Intern(name);
  if (!namespaces.Contains(id)) {
    namespaces.emplace_back();
    namespaces.back().name = std::string(name);
  }
  return id;
}

LocalQueueId State::InternLocalQueue(absl::string_view ns, absl::string_view name) {
  const LocalQueueId id = local_queue_names.Intern(JoinedKey(ns, name).text());
  if (!local_queues.Contains(id)) {
    LocalQueue queue;
    queue.ns = std::string(ns);
    queue.name = std::string(name);
    queue.namespace_id = InternNamespace(ns);
    local_queues.push_back(std::move(queue));
    ledger.emplace_back();
    ledger_usage.Edit().push_back(0);
  }
  return id;
}

LocalQueueId State::LocalQueueOf(const WorkloadSpec& spec) {
  constexpr size_t bits = 14;
  constexpr uint64_t mixer = 0x9E3779B97F4A7C15;
  if (caches.local_queues.empty()) caches.local_queues.resize(size_t{1} << bits);
  const auto& cache = std::as_const(caches.local_queues);
  size_t place = reinterpret_cast<uintptr_t>(&spec) * mixer >> (64 - bits);
  const auto is_taken = [&] { return local_queues.Contains(cache[place]); };
  const auto is_known = [&] {
    const LocalQueue& local = std::as_const(local_queues)[cache[place]];
    return local.name == spec.queue_name && local.ns == spec.ns;
  };
  if (is_taken()) {
    if (is_known()) return cache[place];
    place ^= 1;  // A second place, because two specs that shared one would replace each other in turn.
    if (is_taken() && is_known()) return cache[place];
  }
  return caches.local_queues[place] = InternLocalQueue(spec.ns, spec.queue_name);
}

CheckId State::InternCheck(absl::string_view name) {
  const CheckId id = check_names.Intern(name);
  checks.GrowTo(id);
  return id;
}

NodeId State::InternClusterQueue(absl::string_view name) {
  const NodeId id = forest().InternClusterQueue(name);
  GrowNodes(*this);
  return id;
}

NodeId State::InternCohort(absl::string_view name) {
  const NodeId id = forest().InternCohort(name);
  GrowNodes(*this);
  return id;
}

FlavorResourceId State::InternFlavorResource(FlavorId flavor, ResourceId resource) {
  IdVector<ResourceId, FlavorResourceId>& row = flavor_resource_ids[flavor];
  row.GrowTo(resource);
  FlavorResourceId& fr = row[resource];
  if (fr == kNoId) {
    fr = flavor_resources.NextId();
    flavor_resources.emplace_back(flavor, resource);
  }
  return fr;
}

WorkloadId State::FindWorkload(const std::string& key) const {
  if (!followed.drops_keys) return workload_of_key.Find(key);
  const std::vector<WorkloadId> living = Living();
  const auto found =
      std::find_if(living.begin(), living.end(), [&](WorkloadId id) { return At(id).Key() == key; });
  return found == living.end() ? kNoId : *found;
}

void State::SetKey(WorkloadId id) {
  if (!followed.drops_keys) workload_of_key.Set(JoinedKey(std::as_const(*this).At(id)).text(), id);
}

void State::EraseKey(WorkloadId id) {
  if (!followed.drops_keys) workload_of_key.Erase(JoinedKey(std::as_const(*this).At(id)).text());
}

void State::DropKeys() {
  followed.drops_keys = true;
  workload_of_key.Clear();
}

void State::RestoreKeys() {
  if (followed.drops_keys) IndexKeys();
}

void State::IndexKeys() {
  followed.drops_keys = false;
  workload_of_key.Clear();
  for (WorkloadId id : Living()) SetKey(id);
}

NodeId State::QueueOf(const Workload& workload) const {
  const LocalQueue& local = Local(workload.local_queue);
  if (!local.exists || local.cluster_queue == kNoId) return kNoId;
  return forest().IsDeclared(local.cluster_queue) ? local.cluster_queue : kNoId;
}

const std::vector<NodeId>& State::Terminating() {
  if (!caches.terminating) {
    caches.terminating.emplace();
    for (NodeId node : forest().Queues()) {
      if (Queue(node).terminating) caches.terminating->push_back(node);
    }
  }
  return *caches.terminating;
}

void State::NotifyRetry(NodeId queue) {
  if (queue == kNoId) return;
  // Follows the parents instead of rebuilding the forest, because a rebuild for each added object would take
  // quadratic time in total.
  const NodeId root = stale ? forest().RootByWalk(queue) : forest().Root(queue);
  if (root != kNoId) to_requeue.insert(root);
}

void State::UnmarkDirty(WorkloadId id) {
  const int32_t place = At(id).dirty_place;
  if (place < 0) return;
  dirty[static_cast<size_t>(place)] = dirty.back();
  At(dirty.back()).dirty_place = place;
  dirty.pop_back();
  At(id).dirty_place = -1;
}

std::vector<WorkloadId> State::Living() const {
  std::vector<WorkloadId> living = workloads.InOrder();
  if (deleted.empty()) return living;
  const auto gone = [this](WorkloadId id) { return At(id).deleted; };
  living.erase(std::remove_if(living.begin(), living.end(), gone), living.end());
  return living;
}

void State::RemoveDeleted() {
  if (waiting.start != nullptr) return;
  for (WorkloadId id : deleted) workloads.Remove(id);
  deleted.clear();
}

StatusDetails& State::EditStatus(Workload& workload) {
  auto status =
      workload.status ? std::make_shared<StatusDetails>(*workload.status) : std::make_shared<StatusDetails>();
  workload.status = status;
  return *status;
}

void State::Rebuild() {
  stale = false;
  RebuildQuotas();
  forest().Rebuild();
  for (auto root = to_requeue.begin(); root != to_requeue.end();) {
    root = forest().Exists(*root) ? std::next(root) : to_requeue.erase(root);
  }
  quota.Rebuild();
  topology.made.stale = true;
  RebuildActivity();
  BumpGenerations();
}

void State::EndCall() {
  if (changed_nodes.empty()) return;
  if (!only_added) return EnsureBuilt();
  only_added = false;
  added_queues.insert(added_queues.end(), changed_nodes.begin(), changed_nodes.end());
  changed_nodes.clear();
}

void State::RebuildQuotas() {
  quota.Resize(static_cast<int>(flavor_resources.size()));
  for (NodeId node : requoted) {
    quota.ClearNode(node);
    if (!forest().IsDeclared(node)) continue;
    const std::vector<ResourceGroup>& groups =
        forest().IsClusterQueue(node) ? Queue(node).spec.resource_groups : cohorts[node].resource_groups;
    for (const ResourceGroup& group : groups) {
      for (const FlavorQuotas& flavor : group.flavors) {
        for (const ResourceQuota& amounts : flavor.resources) {
          const FlavorResourceId fr =
              FlavorResource(flavor_names.Find(flavor.name), resource_names.Find(amounts.name));
          quota.SetQuota(node, fr, amounts.nominal, amounts.borrowing_limit, amounts.lending_limit);
        }
      }
    }
  }
  requoted.clear();
}

// Mirrors pkg/cache/scheduler/clusterqueue.go:isTASOnly, flavorsWithProvReqAdmissionCheck.
void State::RebuildTopologyOf(ClusterQueue& queue) const {
  const bool on = config.gates.topology_aware_scheduling;
  queue.only_topology = std::all_of(queue.flavors.begin(), queue.flavors.end(), [&](FlavorId flavor) {
    return on && Flavor(flavor) != nullptr && !Flavor(flavor)->topology_name.empty();
  });
  queue.provisioned.clear();
  queue.multi_kueue = false;
  for (const CheckIds& rule : queue.checks) {
    const AdmissionCheckState& check = checks[rule.check];
    if (!check.exists) continue;
    queue.multi_kueue = queue.multi_kueue || check.spec.controller == kMultiKueue;
    if (check.spec.controller != kProvisioning) continue;
    queue.provisioned.insert(queue.provisioned.end(), rule.flavors.begin(), rule.flavors.end());
  }
}

void State::RebuildActivity() {
  caches.heads.Forget();
  caches.terminating.reset();
  caches.refusals.Forget();
  caches.fits.Forget();
  for (NodeId node : forest().Queues()) {
    ClusterQueue& queue = Queue(node);
    queue.inactivity = InactivityOf(*this, node);
    RebuildTopologyOf(queue);
    forest().SetActive(node, queue.inactivity.IsActive() && !forest().HasCycle(node));
  }
  forest().RebuildHeights();
}

void State::BumpGenerations() {
  std::map<NodeId, int64_t> calls;  // By root: number of calls that added a queue to the tree.
  for (NodeId node : added_queues) {
    const NodeId root = forest().Root(node);
    // Calls before the queue's own call do not affect its generation.
    if (root != kNoId) Queue(node).generation -= calls[root]++;
  }
  added_queues.clear();
  for (const auto& [root, count] : calls) {
    for (NodeId queue : forest().QueuesOfTree(root)) Queue(queue).generation += count;
  }
  std::set<NodeId> roots;
  for (NodeId node : changed_nodes) {
    if (forest().Root(node) != kNoId) roots.insert(forest().Root(node));
  }
  changed_nodes.clear();
  only_added = false;
  for (NodeId root : roots) {
    if (!forest().Exists(root)) continue;
    for (NodeId queue : forest().QueuesOfTree(root)) ++Queue(queue).generation;
  }
}

namespace {

void AddChecks(const State& state, const ClusterQueue& queue, std::vector<InactivityCause>& causes) {
  std::vector<std::string> missing, inactive, multi_kueue, per_flavor, provisioning;
  for (const CheckIds& rule : queue.checks) {
    const AdmissionCheckState& check = state.checks[rule.check];
    const std::string& name = state.check_names.Name(rule.check);
    if (!check.exists) {
      missing.push_back(name);
      continue;
    }
    if (!check.spec.active) inactive.push_back(name);
    if (check.spec.controller == kProvisioning) provisioning.push_back(name);
    if (check.spec.controller != kMultiKueue) continue;
    multi_kueue.push_back(name);
    if (rule.flavors.size() != queue.flavors.size()) per_flavor.push_back(name);
  }
  if (!missing.empty()) causes.push_back({InactivityKind::kCheckNotFound, missing});
  if (!inactive.empty()) causes.push_back({InactivityKind::kCheckInactive, inactive});
  if (multi_kueue.size() > 1) causes.push_back({InactivityKind::kMultipleMultiKueueChecks, multi_kueue});
  if (!per_flavor.empty()) causes.push_back({InactivityKind::kMultiKueueCheckPerFlavor, per_flavor});
  if (!multi_kueue.empty() && !provisioning.empty()) {
    causes.push_back(
        {InactivityKind::kMultiKueueWithProvisioning, {multi_kueue.front(), provisioning.front()}});
  }
}

}  // namespace

Inactivity InactivityOf(const State& state, NodeId node) {
  const ClusterQueue& queue = state.Queue(node);
  if (queue.terminating) return {{{InactivityKind::kTerminating, {}}}};
  std::vector<InactivityCause> causes;
  if (queue.spec.stop_policy != StopPolicy::kNone) causes.push_back({InactivityKind::kStopped, {}});
  std::vector<std::string> missing;
  std::map<std::string, std::string> missing_topologies;  // By flavor.
  for (FlavorId flavor : queue.flavors) {
    const ResourceFlavor* spec = state.Flavor(flavor);
    if (spec == nullptr) {
      missing.push_back(state.flavor_names.Name(flavor));
    } else if (!spec->topology_name.empty() && state.topology.levels.count(spec->topology_name) == 0) {
      missing_topologies[spec->name] = spec->topology_name;
    }
  }
  if (!missing.empty()) causes.push_back({InactivityKind::kFlavorNotFound, missing});
  AddChecks(state, queue, causes);
  for (const auto& [flavor, topology] : missing_topologies) {
    causes.push_back({InactivityKind::kTopologyNotFound, {topology, flavor}});
  }
  // A cycle that forms above an existing queue does not change the status of the queue. A queue that is
  // created below a cycle stays inactive, because updateClusterQueue returns before it examines anything
  // else.
  if (causes.empty() && state.forest().HasCycle(node) && queue.generation == 0) {
    causes.push_back({InactivityKind::kCohortCycle, {}});
  }
  return {std::move(causes)};
}

}  // namespace kueue
