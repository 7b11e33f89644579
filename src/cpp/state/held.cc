#include "state/held.h"

#include <algorithm>

namespace kueue {

int64_t CountAfterReclaim(const State& state, const Workload& workload, const PodSetSpec& pod_set) {
  if (workload.status == nullptr || !state.config.gates.reclaimable_pods) return pod_set.count;
  const auto& reclaimable = workload.Status().reclaimable;
  const auto entry = reclaimable.find(pod_set.name);
  return entry == reclaimable.end() ? pod_set.count : pod_set.count - std::min(entry->second, pod_set.count);
}

int64_t HeldCount(const State& state, const Workload& workload, const PodSetAdmission& admitted) {
  for (const PodSetSpec& pod_set : workload.spec->pod_sets) {
    if (pod_set.name != admitted.name) continue;
    return std::min(admitted.count, CountAfterReclaim(state, workload, pod_set));
  }
  return admitted.count;
}

}  // namespace kueue
