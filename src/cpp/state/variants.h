// Workloads that are tried in several flavors at the same time: parents, which are in no queue and use no
// quota, and their variants, one for each flavor. Mirrors pkg/workload/concurrentadmission (kueue
// ff69552e79).
#ifndef KUEUE_STATE_VARIANTS_H_
#define KUEUE_STATE_VARIANTS_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "state/state.h"

namespace kueue {

inline bool IsVariant(const State& state, const Workload& workload) {
  return state.config.gates.concurrent_admission && !workload.spec->parent_uid.empty();
}

inline bool IsLabelledParent(const State& state, const Workload& workload) {
  return state.config.gates.concurrent_admission && workload.spec->is_labelled_parent;
}

// Returns whether the queue has a policy of concurrent admission and the workload is not a variant.
inline bool IsParentIn(const State& state, const Workload& workload, NodeId queue) {
  return state.config.gates.concurrent_admission && queue != kNoId &&
         state.Queue(queue).spec.concurrent_admission && workload.spec->parent_uid.empty();
}

inline bool IsParent(const State& state, const Workload& workload) {
  return state.config.gates.concurrent_admission &&
         (workload.spec->is_labelled_parent || IsParentIn(state, workload, state.QueueOf(workload)));
}

// Returns the flavors of the first resource group of a queue, which has none without quotas.
inline absl::Span<const FlavorQuotas> RacedFlavors(const State& state, NodeId queue) {
  const std::vector<ResourceGroup>& groups = state.Queue(queue).spec.resource_groups;
  if (groups.empty()) return {};
  return groups.front().flavors;
}

// Returns the place of a flavor in the first resource group of a queue, or the place of a variant's flavor;
// -1 if the flavor is not there. The queue prefers flavors with a lower place.
inline int RankOf(const State& state, NodeId queue, const std::string& flavor) {
  const absl::Span<const FlavorQuotas> flavors = RacedFlavors(state, queue);
  for (size_t rank = 0; rank < flavors.size(); ++rank) {
    if (flavors[rank].name == flavor) return static_cast<int>(rank);
  }
  return -1;
}
inline int RankOf(const State& state, NodeId queue, WorkloadId variant) {
  const std::vector<std::string>& allowed = state.At(variant).spec->allowed_flavors;
  return allowed.empty() ? -1 : RankOf(state, queue, allowed.front());
}

}  // namespace kueue

#endif  // KUEUE_STATE_VARIANTS_H_
