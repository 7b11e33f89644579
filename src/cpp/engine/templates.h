// Creation, change and deletion of the objects that determine the adjusted pod templates of workloads:
// LimitRanges and RuntimeClasses. Mirrors
// pkg/controller/core/workload_controller.go:queueReconcileForPending (kueue ff69552e79).
#ifndef KUEUE_ENGINE_TEMPLATES_H_
#define KUEUE_ENGINE_TEMPLATES_H_

#include <string>

#include "state/state.h"

namespace kueue {

// Create or replace objects, or delete them. Recompute the requests of pending workloads.
void ApplyLimitRange(State& state, const std::string& ns, const std::string& name, LimitRange limits);
void DeleteLimitRange(State& state, const std::string& ns, const std::string& name);
void ApplyRuntimeClass(State& state, const std::string& name, RuntimeClass runtime_class);
void DeleteRuntimeClass(State& state, const std::string& name);

}  // namespace kueue

#endif  // KUEUE_ENGINE_TEMPLATES_H_
