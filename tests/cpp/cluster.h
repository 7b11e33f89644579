// A small cluster to try the engine on: one flavor, one resource, quotas in thousandths.
#ifndef KUEUE_TESTS_CPP_CLUSTER_H_
#define KUEUE_TESTS_CPP_CLUSTER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/engine.h"
#include "engine/objects.h"
#include "engine/trees.h"

namespace kueue::testing_cluster {

inline ClusterQueueSpec QueueSpec(const std::string& name, const std::string& cohort, int64_t nominal) {
  ResourceQuota quota;
  quota.name = "cpu";
  quota.nominal = Amount(nominal);
  ClusterQueueSpec spec;
  spec.name = name;
  spec.cohort = cohort;
  spec.resource_groups = {{{"cpu"}, {{"default", {quota}}}}};
  spec.namespace_selector.emplace();
  spec.preemption.within_cluster_queue = PreemptionPolicy::kLowerPriority;
  spec.preemption.reclaim_within_cohort = PreemptionPolicy::kAny;
  return spec;
}

inline std::shared_ptr<const PodTemplate> Pod(absl::string_view cpu) {
  auto pod = std::make_shared<PodTemplate>();
  pod->containers.emplace_back();
  pod->containers.back().requests.emplace("cpu", Quantity::Parse(cpu).value());
  return pod;
}

inline WorkloadObject Submitted(const std::string& name, const std::string& queue, absl::string_view cpu,
                                int64_t priority = 0) {
  WorkloadSpec spec;
  spec.queue_name = queue;
  spec.priority = priority;
  spec.pod_sets.emplace_back();
  spec.pod_sets.back().pod_template = Pod(cpu);
  WorkloadObject job;
  job.name = job.uid = name;
  job.spec = std::make_shared<const WorkloadSpec>(std::move(spec));
  return job;
}

// An engine whose ClusterQueues have a LocalQueue of the same name each.
inline Engine Cluster(const std::vector<ClusterQueueSpec>& queues) {
  Engine engine{Config(), RequestsConfig()};
  ApplyNamespace(engine.state(), "default", {});
  ResourceFlavor flavor;
  flavor.name = "default";
  ApplyFlavor(engine.state(), flavor);
  for (const ClusterQueueSpec& queue : queues) {
    ApplyClusterQueue(engine.state(), queue, /*changed=*/true);
    LocalQueueSpec local;
    local.ns = "default";
    local.name = local.cluster_queue = queue.name;
    ApplyLocalQueue(engine.state(), local);
  }
  return engine;
}

// Cycles and settles until a cycle changes nothing; the names of those that hold quota.
inline std::vector<std::string> RunAll(Engine& engine) {
  for (int cycle = 0; cycle < 100; ++cycle) {
    const CycleResult result = engine.RunCycle();
    engine.Settle();
    if (result.idle || (result.admitted == 0 && result.evicted == 0 && !result.moved)) break;
  }
  std::vector<std::string> holding;
  for (WorkloadId id : engine.state().Living()) {
    const Workload& workload = engine.state().At(id);
    if (workload.HasQuotaReservation() && !workload.IsFinished()) {
      holding.push_back(workload.name);
    }
  }
  return holding;
}

}  // namespace kueue::testing_cluster

#endif  // KUEUE_TESTS_CPP_CLUSTER_H_
