// The workload to which flavors are assigned. Mirrors pkg/scheduler/flavorassigner/flavorassigner.go (kueue
// ff69552e79).
#ifndef KUEUE_FLAVOR_SUBJECT_H_
#define KUEUE_FLAVOR_SUBJECT_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "state/state.h"

namespace kueue {

// For each pod set and resource, the flavor that a recomputation within the same cycle must use.
using NominationMapping = std::vector<absl::InlinedVector<std::pair<ResourceId, FlavorId>, 2>>;

// The workload to assign flavors to, and its queue.
struct AssignmentSubject {
  NodeId queue;
  WorkloadId workload;
  WorkloadId replaced;              // Elastic slice that the workload replaces, or kNoId.
  const NominationMapping* pinned;  // If null, all flavors may be assigned.
  // Whether the request is known not to fit in the first flavor, which saves an attempt.
  bool lacks_quota = false;
};

// A group of pod sets that must be assigned the same flavors. Each pod set is identified by its index in the
// equivalence class. Most groups contain a single pod set.
using PodSetGroup = absl::InlinedVector<int, 1>;
std::vector<PodSetGroup> GroupsOf(const EquivalenceClass& cls);

// The admission of the elastic slice that a workload replaces.
class ReplacedAdmission {
 public:
  // `replaced` is kNoId if the workload replaces no slice.
  ReplacedAdmission(const State& state, WorkloadId replaced) : state_(state), replaced_(replaced) {}

  WorkloadId id() const { return replaced_; }
  bool exists() const { return replaced_ != kNoId; }
  // Return the pod set at an index, or with a name; null if there is none.
  const PodSetAdmission* At(int pod_set) const;
  const PodSetAdmission* Named(const std::string& name) const;
  // Returns the usage that the pod set still holds; 0 if `old` is null.
  int64_t RequestOf(const PodSetAdmission* old, ResourceId resource) const;
  // Returns kNoId if the pod set at this index has no flavor for the resource.
  FlavorId FlavorOf(int pod_set, ResourceId resource) const;

 private:
  const State& state_;
  const WorkloadId replaced_;
};

// A subject with everything that the search for flavors reads about it. Adding a workload or a ClusterQueue
// invalidates it.
struct ResolvedSubject {
  ResolvedSubject(const State& state, const AssignmentSubject& subject)
      : queue_id(subject.queue),
        queue(state.Queue(subject.queue)),
        workload_id(subject.workload),
        workload(state.At(subject.workload)),
        cls(state.Class(workload.cls)),
        replaced(state, subject.replaced),
        pinned(subject.pinned),
        lacks_quota(subject.lacks_quota) {}

  const NodeId queue_id;
  const ClusterQueue& queue;
  const WorkloadId workload_id;
  const Workload& workload;
  const EquivalenceClass& cls;
  const ReplacedAdmission replaced;
  const NominationMapping* const pinned;
  const bool lacks_quota;
};

}  // namespace kueue

#endif  // KUEUE_FLAVOR_SUBJECT_H_
