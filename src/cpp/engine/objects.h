// Creation, change and deletion of ResourceFlavors, LocalQueues, Namespaces and AdmissionChecks. Retries are
// triggered as in pkg/controller/core and pkg/cache/queue/manager.go (kueue ff69552e79).
#ifndef KUEUE_ENGINE_OBJECTS_H_
#define KUEUE_ENGINE_OBJECTS_H_

#include <map>
#include <string>

#include "model/queue.h"
#include "state/state.h"

namespace kueue {

// Create or replace objects, or delete them.
void ApplyFlavor(State& state, ResourceFlavor spec);
void DeleteFlavor(State& state, const std::string& name);
void ApplyLocalQueue(State& state, LocalQueueSpec spec);
void DeleteLocalQueue(State& state, const std::string& ns, const std::string& name);
void ApplyNamespace(State& state, const std::string& name, std::map<std::string, std::string> labels);
void DeleteNamespace(State& state, const std::string& name);
void ApplyCheck(State& state, AdmissionCheckSpec spec);
void DeleteCheck(State& state, const std::string& name);

}  // namespace kueue

#endif  // KUEUE_ENGINE_OBJECTS_H_
