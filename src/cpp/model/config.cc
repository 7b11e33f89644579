#include "model/config.h"

namespace kueue {

FeatureGates::FeatureGates() {
  for (const FeatureGate& gate : kFeatureGates) this->*gate.field = gate.is_on;
}

bool FeatureGates::Set(const std::string& name, bool value) {
  for (const FeatureGate& gate : kFeatureGates) {
    if (name != gate.name) continue;
    this->*gate.field = value;
    return true;
  }
  return false;
}

void FeatureGates::Resolve() {
  tas_failed_node_replacement = tas_failed_node_replacement && topology_aware_scheduling;
  for (bool* gate : {&tas_failed_node_replacement_fail_fast, &tas_replace_node_on_pod_termination,
                     &tas_replace_node_due_to_not_ready_over_fixed_time}) {
    *gate = *gate && tas_failed_node_replacement;
  }
  elastic_jobs_via_workload_slices_with_tas = elastic_jobs_via_workload_slices_with_tas &&
                                              elastic_jobs_via_workload_slices && topology_aware_scheduling;
  for (bool* gate : {&dra_extended_resource, &dra_partitionable_devices, &dra_consumable_capacity}) {
    *gate = *gate && dra_integration;
  }
}

}  // namespace kueue
