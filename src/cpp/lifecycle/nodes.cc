// Mirrors pkg/controller/tas/{node_controller,pod_usage_controller,resource_flavor}.go (kueue ff69552e79).
#include "lifecycle/nodes.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lifecycle/conditions.h"
#include "lifecycle/controllers.h"
#include "state/names.h"
#include "state/rebuild.h"

namespace kueue {
namespace {

constexpr Time kNodeFailureDelay = 30 * kSecond;
constexpr Time kFreedTick = 10 * kSecond;

bool SameTaints(const std::vector<Taint>& a, const std::vector<Taint>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Taint& x, const Taint& y) {
    return x.key == y.key && x.value == y.value && x.effect == y.effect;
  });
}

// Returns whether a change from `a` to `b` cannot make another workload admissible.
bool SchedulesAlike(const Node& a, const Node& b) {
  return a.labels == b.labels && a.annotations == b.annotations && SameTaints(a.taints, b.taints) &&
         a.unschedulable == b.unschedulable && a.allocatable == b.allocatable && a.ready == b.ready &&
         a.other_conditions == b.other_conditions;
}

bool IsOfSomeFlavor(const State& state, const Node& node) {
  for (const ResourceFlavorState& flavor : state.flavors) {
    if (flavor.spec == nullptr || flavor.spec->topology_name.empty()) continue;
    const auto levels = state.topology.levels.find(flavor.spec->topology_name);
    if (levels == state.topology.levels.end()) continue;
    if (NodeMatchesFlavor(node, flavor.spec->node_labels, levels->second)) return true;
  }
  return false;
}

// Returns whether the pod set has pods on the node. Always false for topologies without a hostname level.
bool IsOn(const State& state, const PodSetAdmission& pod_set, const std::string& node) {
  if (!pod_set.topology || pod_set.topology->levels.back() != kHostname) return false;
  const DomainId domain = state.topology.domains.Find(node);
  return std::any_of(
      pod_set.topology->domains.begin(), pod_set.topology->domains.end(),
      [domain](const DomainCount& entry) { return entry.domain == domain && entry.count > 0; });
}

bool IsOn(const State& state, const Workload& workload, const std::string& node) {
  if (!workload.admission) return false;
  const auto& pod_sets = workload.admission->pod_sets;
  return std::any_of(pod_sets.begin(), pod_sets.end(),
                     [&](const PodSetAdmission& pod_set) { return IsOn(state, pod_set, node); });
}

// Returns the admitted workloads with pods on the node, by `namespace/name`.
std::map<std::string, WorkloadId> WorkloadsOn(const State& state, const std::string& node) {
  std::map<std::string, WorkloadId> found;
  for (WorkloadId id : state.workloads.Ids()) {
    const Workload& workload = state.At(id);
    if (state.workloads.IsFree(id) || workload.deleted) continue;
    if (!workload.IsAdmitted() || workload.IsFinished() || workload.IsEvicted()) continue;
    if (IsOn(state, workload, node)) found[workload.Key()] = id;
  }
  return found;
}

// Returns whether pods of any workload in the namespace run on the node. Kueue intends to list only the pods
// of the workload, but the second of two field selectors in the request replaces the first
// (node_controller.go: hasProgressingPods, pods.go:ListPodsForWorkloadSlice).
bool HasProgressingPods(const State& state, const std::string& ns, const std::string& node) {
  const std::string prefix = ns + "/";
  const std::map<std::string, ClusterPod>& pods = state.topology.pods;
  for (auto at = pods.lower_bound(prefix); at != pods.end() && absl::StartsWith(at->first, prefix); ++at) {
    if (at->second.node == node && at->second.IsProgressing()) return true;
  }
  return false;
}

enum class Tolerance : uint8_t { kNone, kTemporary, kPermanent };

// Returns how the pod sets on the node tolerate the taint.
Tolerance HowTolerated(const Taint& taint, const std::vector<std::vector<Toleration>>& pod_sets) {
  bool permanent = true;
  for (const std::vector<Toleration>& tolerations : pod_sets) {
    const auto any = [&](bool also_temporary) {
      return std::any_of(tolerations.begin(), tolerations.end(), [&](const Toleration& one) {
        return (also_temporary || !one.is_temporary) && Tolerates(one, taint, /*compares=*/false);
      });
    };
    if (!any(true)) return Tolerance::kNone;
    permanent = permanent && any(false);
  }
  return permanent ? Tolerance::kPermanent : Tolerance::kTemporary;
}

// Returns the tolerations of each pod set on the node: its own tolerations, the tolerations of its flavors,
// and tolerations added by checks.
std::vector<std::vector<Toleration>> TolerationsOn(const State& state, const Workload& workload,
                                                   const std::string& node) {
  std::vector<std::vector<Toleration>> all;
  for (const PodSetAdmission& admitted : workload.admission->pod_sets) {
    if (!IsOn(state, admitted, node)) continue;
    std::vector<Toleration>& tolerations = all.emplace_back();
    const auto add = [&tolerations](const std::vector<Toleration>& more) {
      tolerations.insert(tolerations.end(), more.begin(), more.end());
    };
    for (const PodSetSpec& spec : workload.spec->pod_sets) {
      if (spec.name == admitted.name) add(spec.pod_template->tolerations);
    }
    for (const PodSetAdmission::Resource& entry : admitted.resources) {
      const ResourceFlavor* flavor = entry.flavor == kNoId ? nullptr : state.Flavor(entry.flavor);
      if (flavor != nullptr) add(flavor->tolerations);
    }
    for (const WorkloadCheck& check : workload.Status().checks) {
      for (const PodSetUpdate& update : check.updates) {
        if (update.name == admitted.name) add(update.tolerations);
      }
    }
  }
  return all;
}

// Returns whether the workload's pods must be moved from the node. Mirrors
// node_controller.go:getWorkloadStatus.
bool IsUnhealthyFor(const State& state, const Node& node, const Workload& workload) {
  const FeatureGates& gates = state.config.gates;
  const bool waits_for_pods = gates.tas_replace_node_on_pod_termination;
  const auto has_pods = [&] { return HasProgressingPods(state, workload.spec->ns, node.name); };
  if (node.ready != NodeReadiness::kReady) return !waits_for_pods || !has_pods();
  if (!gates.tas_replace_node_on_node_taints) return false;
  Tolerance worst = Tolerance::kPermanent;
  const std::vector<std::vector<Toleration>> pod_sets = TolerationsOn(state, workload, node.name);
  for (const Taint& taint : node.taints) {
    if (IsSchedulingTaint(taint)) worst = std::min(worst, HowTolerated(taint, pod_sets));
  }
  if (worst == Tolerance::kPermanent) return false;
  if (worst == Tolerance::kNone && !waits_for_pods) return true;
  return !has_pods();
}

void NoteUnhealthy(State& state, WorkloadId id, const std::string& node) {
  Workload& workload = state.At(id);
  const std::vector<std::string>& known = workload.Status().unhealthy_nodes;
  const bool listed = std::find(known.begin(), known.end(), node) != known.end();
  if (workload.IsEvicted() || listed) return;
  if (!known.empty()) {
    std::vector<std::string> failed = known;
    failed.push_back(node);
    Evict(state, id, Reason::kNodeFailures, Say(Sentence::kManyNodesFailed, std::move(failed)));
  } else {
    state.EditStatus(workload).unhealthy_nodes.push_back(node);
    state.Record(EventKind::kUnhealthyNodes, id);
  }
  AfterWrite(state, id);
}

void NoteHealthy(State& state, WorkloadId id, const std::string& node) {
  Workload& workload = state.At(id);
  const std::vector<std::string>& known = workload.Status().unhealthy_nodes;
  if (std::find(known.begin(), known.end(), node) == known.end()) return;
  std::vector<std::string>& nodes = state.EditStatus(workload).unhealthy_nodes;
  nodes.erase(std::remove(nodes.begin(), nodes.end(), node), nodes.end());
  state.Record(EventKind::kUnhealthyNodes, id);
  AfterWrite(state, id);
}

void TakeForeign(State& state, const ClusterPod& pod, int64_t sign) {
  TopologyCapacity& capacity = state.topology.made.capacity;
  if (state.topology.made.stale) return;
  for (FlavorId flavor : capacity.Ids()) {
    FlavorCapacity* const of_flavor = capacity.Find(flavor);
    const int32_t leaf = of_flavor == nullptr ? kNoId : of_flavor->tree->LeafOfNode(pod.node);
    if (leaf == kNoId) continue;
    capacity.TakeForeign(*of_flavor, leaf, pod.requests, sign);
    capacity.TakeForeign(*of_flavor, leaf, {{state.pods, 1}}, sign);
  }
}

// Returns whether a changed pod requests less of a resource than before. A resource that the pod no longer
// requests at all does not count, as in pkg/resources/requests.go:GreaterKeys.
bool UsesLess(const ClusterPod& before, const ClusterPod& now) {
  return std::any_of(before.requests.begin(), before.requests.end(), [&now](const auto& request) {
    const auto same = [&request](const auto& other) { return other.first == request.first; };
    const auto found = std::find_if(now.requests.begin(), now.requests.end(), same);
    return found != now.requests.end() && found->second < request.second;
  });
}

}  // namespace

void WakeActiveQueues(State& state) {
  EnsureBuilt(state);
  for (NodeId queue : state.forest().Queues()) {
    if (state.forest().IsActive(queue)) state.NotifyRetry(queue);
  }
}

void ChangeNode(State& state, const std::string& name, std::shared_ptr<const Node> now) {
  NodeTable& nodes = state.topology.nodes;
  const auto known = nodes.find(name);
  const std::shared_ptr<const Node> before = known == nodes.end() ? nullptr : known->second;
  if (now) {
    for (const auto& [resource, amount] : now->allocatable) InternResource(state, resource);
    nodes[name] = now;
  } else {
    nodes.erase(name);
  }
  if (!before && !now) return;
  const bool is_new = !before || !now;
  if (is_new || !SchedulesAlike(*before, *now)) {
    state.topology.made.stale = true;
    if ((before && IsOfSomeFlavor(state, *before)) || (now && IsOfSomeFlavor(state, *now))) {
      WakeActiveQueues(state);
    }
  }
  const FeatureGates& gates = state.config.gates;
  if (!gates.topology_aware_scheduling || !gates.tas_failed_node_replacement) return;
  const auto is_ready = [](const Node& node) { return node.ready == NodeReadiness::kReady; };
  if (is_new || is_ready(*before) != is_ready(*now) ||
      (gates.tas_replace_node_on_node_taints && !SameTaints(before->taints, now->taints))) {
    ReconcileNode(state, name);
  }
}

void ReconcileNode(State& state, const std::string& name) {
  const FeatureGates& gates = state.config.gates;
  const auto known = state.topology.nodes.find(name);
  const Node* const node = known == state.topology.nodes.end() ? nullptr : known->second.get();
  state.topology.waiting.erase(name);
  bool expired = false;
  if (node != nullptr && node->IsNotReady()) {
    const Time until = SaturatingAdd(node->ready_since, kNodeFailureDelay);
    expired = state.now >= until;
    if (!expired && !gates.tas_replace_node_on_pod_termination) {
      state.topology.waiting[name] = until;
      return;
    }
  }
  const bool failed = node == nullptr || node->ready == NodeReadiness::kMissing ||
                      (expired && gates.tas_replace_node_due_to_not_ready_over_fixed_time);
  for (const auto& [key, id] : WorkloadsOn(state, name)) {
    if (failed || IsUnhealthyFor(state, *node, state.At(id))) {
      NoteUnhealthy(state, id, name);
    } else {
      NoteHealthy(state, id, name);
    }
  }
}

void ReconcileWaitingNodes(State& state) {
  std::vector<std::string> due;
  for (const auto& [name, time] : state.topology.waiting) {
    if (time <= state.now) due.push_back(name);
  }
  for (const std::string& name : due) ReconcileNode(state, name);
}

void ChangePod(State& state, const std::string& key, std::optional<ClusterPod> now) {
  std::map<std::string, ClusterPod>& pods = state.topology.pods;
  const auto known = pods.find(key);
  const std::optional<ClusterPod> before =
      known == pods.end() ? std::nullopt : std::optional<ClusterPod>(known->second);
  const bool was_foreign = before && before->IsForeign(), is_foreign = now && now->IsForeign();
  if (now) {
    pods[key] = *now;
  } else if (known != pods.end()) {
    pods.erase(known);
  }
  if (was_foreign) TakeForeign(state, *before, -1);
  if (is_foreign) TakeForeign(state, *now, 1);
  if (was_foreign && (!is_foreign || before->node != now->node || UsesLess(*before, *now))) {
    state.topology.freed.insert({state.now, before->node});
  }
  // Kueue reconciles a node when a pod on it fails or is being deleted, but not when a running pod
  // disappears. For a pod without a node, it reconciles the node named by its node selector.
  const ClusterPod* const pod = now ? &*now : before ? &*before : nullptr;
  if (pod == nullptr || !state.config.gates.topology_aware_scheduling) return;
  if (!pod->by_topology) return;
  if (pod->node.empty() && !pod->wanted.empty()) ReconcileNode(state, pod->wanted);
  if (!pod->node.empty() && !pod->IsProgressing()) ReconcileNode(state, pod->node);
}

void RemovePodsOf(State& state, const Workload& workload) {
  if (state.topology.pods.empty()) return;
  std::vector<std::string> gone;
  for (const auto& [key, pod] : state.topology.pods) {
    if (pod.workload == workload.Key()) gone.push_back(key);
  }
  for (const std::string& key : gone) ChangePod(state, key, std::nullopt);
}

void NoticeFreedNodes(State& state) {
  std::set<std::pair<Time, std::string>>& freed = state.topology.freed;
  if (freed.empty()) return;
  std::set<std::string> nodes;
  while (!freed.empty() && SaturatingMul(freed.begin()->first / kFreedTick + 1, kFreedTick) <= state.now) {
    nodes.insert(freed.begin()->second);
    freed.erase(freed.begin());
  }
  if (nodes.empty()) return;
  EnsureTopologies(state);
  for (NodeId queue : state.forest().Queues()) {
    for (FlavorId flavor : state.Queue(queue).flavors) {
      const FlavorCapacity* capacity = state.topology.made.capacity.Find(flavor);
      if (capacity == nullptr) continue;
      for (const std::string& name : nodes) {
        const auto node = state.topology.nodes.find(name);
        if (node != state.topology.nodes.end() &&
            NodeMatchesFlavor(*node->second, state.Flavor(flavor)->node_labels, capacity->tree->levels())) {
          state.NotifyRetry(queue);
        }
      }
    }
  }
}

}  // namespace kueue
