// Interning of names in a state, and the index of workloads by their keys.
#ifndef KUEUE_STATE_NAMES_H_
#define KUEUE_STATE_NAMES_H_

#include <string>

#include "state/state.h"

namespace kueue {

// Return the id of a name. A new name gets the next free id, and an entry in the tables of the state.
FlavorId InternFlavor(State& state, absl::string_view name);
ResourceId InternResource(State& state, absl::string_view name);
NamespaceId InternNamespace(State& state, absl::string_view name);
LocalQueueId InternLocalQueue(State& state, absl::string_view ns, absl::string_view name);
CheckId InternCheck(State& state, absl::string_view name);
NodeId InternClusterQueue(State& state, absl::string_view name);
NodeId InternCohort(State& state, absl::string_view name);
FlavorResourceId InternFlavorResource(State& state, FlavorId flavor, ResourceId resource);
// Same as InternLocalQueue(), but for the LocalQueue of a spec; faster if the LocalQueue is found in a cache.
LocalQueueId LocalQueueOf(State& state, const WorkloadSpec& spec);

// Returns the workload with this key (`namespace/name`), or kNoId. After DropKeys(), the time of a call is
// proportional to the number of workloads.
WorkloadId FindByKey(const State& state, const std::string& key);
// Add the workload to the index of keys, and remove it. Without an effect after DropKeys().
void SetKey(State& state, WorkloadId id);
void EraseKey(State& state, WorkloadId id);
// DropKeys() ends the indexing of workloads by their keys, for a simulation that finds none by its key.
// RestoreKeys() reverses DropKeys().
void DropKeys(State& state);
void RestoreKeys(State& state);
// Makes the index of keys anew, also after DropKeys().
void IndexKeys(State& state);

}  // namespace kueue

#endif  // KUEUE_STATE_NAMES_H_
