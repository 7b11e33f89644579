// Mirrors pkg/workload/workload.go:NeedsSecondPass and pkg/cache/queue/{second_pass_queue,manager}.go
// (kueue ff69552e79).
#include "lifecycle/second_pass.h"

#include <algorithm>

#include "lifecycle/conditions.h"
#include "topology/replacement.h"

namespace kueue {

bool HasUnhealthyAssignment(const State& state, const Workload& workload) {
  const std::vector<std::string>& nodes = workload.Status().unhealthy_nodes;
  if (nodes.empty() || !workload.IsAdmitted() || !workload.admission) return false;
  for (const PodSetAdmission& pod_set : workload.admission->pod_sets) {
    if (!pod_set.topology) continue;
    for (const DomainCount& entry : pod_set.topology->domains) {
      const std::string lowest = LowestValue(state.topology.domains.Name(entry.domain));
      if (std::find(nodes.begin(), nodes.end(), lowest) != nodes.end()) return true;
    }
  }
  return false;
}

bool HasPendingTopology(const Workload& workload) {
  if (!workload.admission) return false;
  const auto& pod_sets = workload.admission->pod_sets;
  return std::any_of(pod_sets.begin(), pod_sets.end(), [](const PodSetAdmission& pod_set) {
    return !pod_set.topology && pod_set.delayed == DelayedTopology::kPending;
  });
}

bool NeedsSecondPass(const State& state, const Workload& workload) {
  if (!workload.HasQuotaReservation() || workload.IsFinished() || workload.IsEvicted() ||
      IsOnHold(workload)) {
    return false;
  }
  if (HasUnhealthyAssignment(state, workload)) return true;
  return !workload.Status().checks.empty() && HasAllChecksReady(workload) && HasPendingTopology(workload) &&
         !workload.IsAdmitted();
}

namespace {

// Adds a request. Until it is due, further requests for the same workload are ignored.
void Ask(State& state, SecondPass pass) {
  std::vector<SecondPass>& passes = state.second_passes;
  const auto waits = [&](const SecondPass& other) {
    return other.workload == pass.workload && other.due > state.now;
  };
  if (std::any_of(passes.begin(), passes.end(), waits)) return;
  constexpr Time kMost = 30 * kSecond;
  ++pass.iteration;
  pass.due =
      SaturatingAdd(state.now, pass.iteration > 5 ? kMost : std::min(kMost, kSecond << (pass.iteration - 1)));
  passes.push_back(std::move(pass));
}

}  // namespace

void QueueSecondPass(State& state, WorkloadId id) {
  const Workload& workload = state.At(id);
  if (!NeedsSecondPass(state, workload)) return;
  Ask(state, {id, 0, 0, workload.Status().unhealthy_nodes, workload.admission});
}

void RepeatSecondPass(State& state, SecondPass pass) { Ask(state, std::move(pass)); }

void ForgetSecondPass(State& state, WorkloadId id) {
  if (state.second_passes.empty()) return;
  auto& passes = state.second_passes;
  passes.erase(std::remove_if(passes.begin(), passes.end(),
                              [id](const SecondPass& pass) { return pass.workload == id; }),
               passes.end());
}

std::vector<SecondPass> TakeSecondPasses(State& state) {
  std::vector<SecondPass> taken, left;
  for (const SecondPass& pass : state.second_passes) {
    if (pass.due > state.now) {
      left.push_back(pass);
      continue;
    }
    if (state.At(pass.workload).deleted || !state.At(pass.workload).admission) continue;
    const auto same = [&pass](const SecondPass& other) { return other.workload == pass.workload; };
    const auto known = std::find_if(taken.begin(), taken.end(), same);
    if (known == taken.end()) {
      taken.push_back(pass);
    } else {
      *known = pass;
    }
  }
  state.second_passes = std::move(left);
  return taken;
}

}  // namespace kueue
