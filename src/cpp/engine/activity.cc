#include "engine/activity.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "state/rebuild.h"

namespace kueue {

std::vector<NodeId> ActiveQueues(State& state) {
  EnsureBuilt(state);
  std::vector<NodeId> active;
  for (NodeId node : state.forest().Queues()) {
    if (state.forest().IsActive(node)) active.push_back(node);
  }
  std::sort(active.begin(), active.end());  // For ChangeActivity().
  return active;
}

void ChangeActivity(State& state, const std::vector<NodeId>& before) {
  state.MarkStale();
  std::vector<NodeId> changed;
  for (NodeId node : ActiveQueues(state)) {
    if (std::binary_search(before.begin(), before.end(), node)) continue;
    // Kueue writes the status of the queue. The event of the write deletes the queue's implicit cohort and
    // creates it again if the queue is its only child
    // (pkg/cache/hierarchy/manager.go:UpdateClusterQueueEdge).
    const Forest& forest = state.forest();
    const NodeId parent = forest.Parent(node);
    if (parent != kNoId && !forest.IsDeclared(parent) && forest.ChildCohorts(parent).empty() &&
        forest.ChildQueues(parent).size() == 1) {
      ++state.Queue(node).generation;
    }
    state.NotifyRetry(node);
    changed.push_back(node);
  }
  for (NodeId node : before) {
    if (!state.forest().IsActive(node)) changed.push_back(node);
  }
  MarkQueuesDirty(state, changed);
}

void MarkLocalQueueDirty(State& state, LocalQueueId id) {
  for (WorkloadId workload : state.Living()) {
    if (std::as_const(state).At(workload).local_queue == id) state.MarkDirty(workload);
  }
}

void MarkQueuesDirty(State& state, const std::vector<NodeId>& nodes) {
  if (nodes.empty()) return;
  IdVector<NodeId, char> marked(state.forest().size(), 0);
  for (NodeId node : nodes) marked[node] = 1;
  const auto is_one = [&](NodeId node) { return node != kNoId && marked[node] != 0; };
  for (WorkloadId id : state.workloads.Ids()) {  // In any order, so that no list need be made.
    const Workload& workload = std::as_const(state).At(id);
    if (workload.deleted) continue;  // As is every free slot.
    const bool holds = workload.admission && is_one(workload.admission->cluster_queue);
    if (holds || is_one(std::as_const(state).Local(workload.local_queue).cluster_queue)) state.MarkDirty(id);
  }
}

namespace {

// Moves the elements without a user from `deleting` to the result.
template <typename Id, typename IsUsed>
std::vector<Id> TakeUnused(std::set<Id>& deleting, IsUsed is_used) {
  std::vector<Id> unused;
  for (auto id = deleting.begin(); id != deleting.end();) {
    const bool used = is_used(*id);
    if (!used) unused.push_back(*id);
    id = used ? std::next(id) : deleting.erase(id);
  }
  return unused;
}

}  // namespace

void RemoveUnused(State& state) {
  Deleting& deleting = state.deleting;
  if (deleting.flavors.empty() && deleting.checks.empty() && deleting.topologies.empty()) return;
  const std::vector<NodeId> before = ActiveQueues(state);
  const auto any_queue = [&](auto refers) {
    const std::vector<NodeId>& queues = state.forest().Queues();
    return std::any_of(queues.begin(), queues.end(), [&](NodeId node) { return refers(state.Queue(node)); });
  };
  const auto flavor_used = [&](FlavorId id) {
    return any_queue([id](const ClusterQueue& queue) {
      return std::find(queue.flavors.begin(), queue.flavors.end(), id) != queue.flavors.end();
    });
  };
  const auto check_used = [&](CheckId id) {
    return any_queue([id](const ClusterQueue& queue) {
      return std::any_of(queue.checks.begin(), queue.checks.end(),
                         [id](const CheckIds& entry) { return entry.check == id; });
    });
  };
  // Flavors first, because a flavor uses its topology.
  for (FlavorId id : TakeUnused(deleting.flavors, flavor_used)) state.flavors[id].spec = nullptr;
  for (CheckId id : TakeUnused(deleting.checks, check_used)) state.checks[id] = AdmissionCheckState();
  const auto topology_used = [&](const std::string& name) {
    for (FlavorId id : state.flavors.Ids()) {
      if (state.Flavor(id) != nullptr && state.Flavor(id)->topology_name == name) return true;
    }
    return false;
  };
  for (const std::string& name : TakeUnused(deleting.topologies, topology_used))
    state.topology.levels.erase(name);
  ChangeActivity(state, before);
}

}  // namespace kueue
