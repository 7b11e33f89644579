#include "engine/templates.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "lifecycle/conditions.h"
#include "lifecycle/devices.h"
#include "lifecycle/queueing.h"
#include "state/names.h"

namespace kueue {
namespace {

// Returns the adjusted pod templates that a queue would contain now.
std::vector<PodTemplate> AdjustedTemplates(const State& state, const Workload& workload) {
  const LocalQueue& local = state.Local(workload.local_queue);
  const Namespace& space = state.namespaces[local.namespace_id];
  std::vector<PodTemplate> adjusted;
  for (const PodSetSpec& pod_set : workload.spec->pod_sets) {
    adjusted.push_back(Adjust(*pod_set.pod_template, state.runtime_classes, space.limit_ranges));
  }
  return adjusted;
}

bool SameResources(const PodTemplate& a, const PodTemplate& b) {
  const auto same = [](const Container& x, const Container& y) {
    return x.requests == y.requests && x.limits == y.limits;
  };
  const auto all_same = [&same](const std::vector<Container>& x, const std::vector<Container>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), same);
  };
  return all_same(a.init_containers, b.init_containers) && all_same(a.containers, b.containers) &&
         same(a.resources, b.resources) && a.overhead == b.overhead;
}

// Applies a change to the objects that determine adjusted templates. Recomputes the requests of pending
// workloads; a workload with different templates is requeued as if its spec had changed.
void Readjust(State& state, absl::FunctionRef<bool(const Workload&)> concerns,
              absl::FunctionRef<void()> change) {
  std::vector<std::pair<WorkloadId, std::vector<PodTemplate>>> before;
  for (WorkloadId id : state.Living()) {
    const Workload& workload = state.At(id);
    if (workload.HasQuotaReservation() || !concerns(workload)) continue;
    before.emplace_back(id, AdjustedTemplates(state, workload));
  }
  change();
  state.caches.classes.Edit().clear();
  state.topology.made.of_class.clear();
  state.devices_changed = state.devices_changed || state.devices != nullptr;
  state.caches.devices.Clear();
  for (const auto& [id, templates] : before) {
    state.MarkDirty(id);
    if (!IsAdmissible(state, state.At(id))) continue;
    const std::vector<PodTemplate> now = AdjustedTemplates(state, state.At(id));
    const bool same = std::equal(templates.begin(), templates.end(), now.begin(), now.end(), SameResources);
    if (NeedsDevices(state, state.At(id), now)) {  // Its devices are counted at the next settle.
      if (!same) NoteChange(state.At(id));
      continue;
    }
    Reclassify(state, id);
    AddOrUpdate(state, id, /*changed=*/!same);
  }
}

void ChangeLimitRange(State& state, const std::string& ns, absl::FunctionRef<void(Namespace&)> change) {
  const NamespaceId id = InternNamespace(state, ns);
  Readjust(
      state, [&](const Workload& workload) { return state.Local(workload.local_queue).namespace_id == id; },
      [&] { change(state.namespaces[id]); });
}

void ChangeRuntimeClass(State& state, const std::string& name, absl::FunctionRef<void()> change) {
  const auto names = [&name](const PodSetSpec& pod_set) {
    return pod_set.pod_template->runtime_class_name == name;
  };
  const auto concerns = [&names](const Workload& workload) {
    const std::vector<PodSetSpec>& pod_sets = workload.spec->pod_sets;
    return std::any_of(pod_sets.begin(), pod_sets.end(), names);
  };
  Readjust(state, concerns, change);
}

}  // namespace

void ApplyLimitRange(State& state, const std::string& ns, const std::string& name, LimitRange limits) {
  ChangeLimitRange(state, ns, [&](Namespace& space) { space.limit_ranges[name] = std::move(limits); });
}

void DeleteLimitRange(State& state, const std::string& ns, const std::string& name) {
  ChangeLimitRange(state, ns, [&](Namespace& space) { space.limit_ranges.erase(name); });
}

void ApplyRuntimeClass(State& state, const std::string& name, RuntimeClass runtime_class) {
  ChangeRuntimeClass(state, name, [&] { state.runtime_classes[name] = std::move(runtime_class); });
}

void DeleteRuntimeClass(State& state, const std::string& name) {
  ChangeRuntimeClass(state, name, [&] { state.runtime_classes.erase(name); });
}

}  // namespace kueue
