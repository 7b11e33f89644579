// Methods of the class Engine that return the status of workloads, queues and Cohorts.
#include "questions/status.h"

#include "bindings/decision.h"
#include "bindings/method.h"

namespace kueue::python {
namespace {

// Returns a method that returns the recorded events and drops them.
template <typename View>
auto Draining(std::vector<View> (*function)(const State&)) {
  return [function](SharedEngine& shared) {
    return shared.Write([function](Engine& engine) {
      std::vector<View> views = function(engine.state());
      engine.state().events.clear();
      return views;
    });
  };
}

std::string KeyOf(const State&, const Workload& workload) { return workload.Key(); }

std::optional<AdmissionView> AdmissionOf(const State& state, const Workload& workload) {
  if (!workload.admission) return std::nullopt;
  return AdmissionView{state.forest().Name(workload.admission->cluster_queue),
                       ViewAdmission(state, *workload.admission)};
}

void BindWorkloadStatus(py::module_& module) {
  AddMethod(module, "ids", Reading(&LivingIds));
  AddMethod(module, "key", ReadingWorkload(&KeyOf), py::arg("id"));
  AddMethod(module, "condition", ReadingWorkload(&ConditionOf), py::arg("id"), py::arg("type"));
  AddMethod(module, "conditions", ReadingWorkload(&ConditionsOf), py::arg("id"));
  AddMethod(module, "admission", ReadingWorkload(&AdmissionOf), py::arg("id"));
  AddMethod(module, "status_details", ReadingWorkload(&StatusOf), py::arg("id"));
  AddMethod(module, "pending_checks", Reading(&PendingChecks));
  AddMethod(module, "pending_workloads", Reading(&PendingIn), py::arg("cluster_queue"));
  AddMethod(module, "queues", Reading(&PendingByQueue));
}

}  // namespace

void BindStatus(py::module_& module) {
  py::list kinds;
  for (const char* name : Names<EventKind>::kAll) kinds.append(name);
  module.attr("EVENT_KINDS") = py::tuple(kinds);
  BindWorkloadStatus(module);
  AddMethod(module, "take_events", Draining(&ChangesOf));
  AddMethod(module, "drain_events", Draining(&EventsOf));
  AddMethod(module, "cycle_counts", ReadingStored(&CycleCounts));
  AddMethod(module, "cluster_queue_status", Reading(&ClusterQueueStatus));
  AddMethod(module, "local_queue_status", Reading(&LocalQueueStatus));
  AddMethod(module, "cohort_status", Reading(&CohortStatus));
  AddMethod(module, "backlogs", Reading(&Backlogs));
  AddMethod(module, "unadmitted_workloads", Reading(&Unadmitted));
  AddMethod(module, "usage", Reading(&UsageByQueue), py::arg("active") = false);
  AddMethod(module, "shares", Reading(&SharesByQueue));
  AddMethod(module, "consumed", Reading(&ConsumedByLocalQueue));
}

}  // namespace kueue::python
