#include "state/state.h"

#include <algorithm>
#include <utility>

namespace kueue {
State::State() = default;
State::State(const State& other) = default;
State::State(State&& other) noexcept = default;
State& State::operator=(const State& other) = default;
State& State::operator=(State&& other) noexcept = default;
State::~State() = default;

NodeId State::QueueOf(const Workload& workload) const {
  const LocalQueue& local = Local(workload.local_queue);
  if (!local.exists || local.cluster_queue == kNoId) return kNoId;
  return forest().IsDeclared(local.cluster_queue) ? local.cluster_queue : kNoId;
}

NodeId State::RetryRoot(NodeId node) const {
  // Follows the parents instead of rebuilding the forest, because a rebuild for each added object would take
  // quadratic time in total.
  return stale || !refused.empty() ? RootByWalk(forest(), node, refused) : forest().Root(node);
}

void State::NotifyRetry(NodeId queue) {
  if (queue == kNoId) return;
  const NodeId root = RetryRoot(queue);
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

StatusDetails& State::EditStatus(Workload& workload) {
  auto status =
      workload.status ? std::make_shared<StatusDetails>(*workload.status) : std::make_shared<StatusDetails>();
  workload.status = status;
  return *status;
}

void NotifyRetryFor(State& state, const Workload& workload) {
  if (workload.assigned == kNoId) return;
  const LocalQueue& local = std::as_const(state).Local(workload.assigned);
  if (local.IsRunning() && local.cluster_queue != kNoId && state.forest().IsDeclared(local.cluster_queue))
    state.NotifyRetry(local.cluster_queue);
}

void RemoveDeleted(State& state) {
  if (state.waiting.start != nullptr) return;
  for (WorkloadId id : state.deleted) state.workloads.Remove(id);
  state.deleted.clear();
}

}  // namespace kueue
