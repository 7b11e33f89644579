// The engine: accepts workloads, runs cycles and controllers, and makes the admission decisions.
#ifndef KUEUE_ENGINE_ENGINE_H_
#define KUEUE_ENGINE_ENGINE_H_

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/cycle.h"
#include "state/state.h"

namespace kueue {

// Status of a workload imported from a live cluster.
struct WorkloadStatus {
  struct ConditionRecord {
    std::string type, reason, message;
    bool status;
    Time transition;
  };
  struct PodSetRecord {
    std::string name;
    std::optional<int64_t> count;
    std::map<std::string, std::string> flavors;
    std::map<std::string, int64_t> usage;
    std::vector<std::string> levels;  // Levels of the topology assignment; empty if there is none.
    // Domains of the topology assignment, as pairs of level values and number of pods.
    std::vector<std::pair<std::vector<std::string>, int32_t>> domains;
    DelayedTopology delayed = DelayedTopology::kNone;
  };
  struct CheckRecord {
    std::string name, message;
    CheckState state = CheckState::kPending;
    Time transition = 0;
    std::optional<int64_t> requeue_after_seconds, retry_count;
    PodSetUpdates pod_set_updates;
  };
  std::vector<ConditionRecord> conditions;
  std::string cluster_queue;  // ClusterQueue of the admission; empty if there is none.
  std::vector<PodSetRecord> pod_sets;
  std::vector<CheckRecord> checks;
  std::optional<int64_t> requeue_count;
  std::optional<Time> requeue_at;
  std::optional<int64_t> past_execution_seconds;
  std::map<std::string, int64_t> reclaimable;
  std::vector<std::string> unhealthy_nodes;
};

// Objects are applied to its state (engine/objects.h, trees.h, templates.h, topologies.h, devices.h). The
// class is not thread-safe: use an engine from one thread at a time. Times are nanoseconds since the Unix
// epoch; the engine's clock never moves backwards.
class Engine {
 public:
  Engine(Config config, RequestsConfig requests);

  State& state() { return state_; }
  const State& state() const { return state_; }
  // Sets the time, in nanoseconds, that the job of an evicted workload needs to stop. The workload keeps its
  // quota until its job has stopped.
  void SetStopDelay(Time delay) { state_.stop_delay = delay; }
  void SetNow(Time now) { state_.now = now > state_.now ? now : state_.now; }

  // Creates a workload. No other workload may have the same key. The returned id is valid until the workload
  // is removed.
  WorkloadId Submit(WorkloadObject&& object, const WorkloadStatus* status = nullptr);
  // Handles an update of the workload's API object. `changed` is true if the spec differs from the previous
  // spec.
  void Update(WorkloadId id, WorkloadObject object, bool changed = true);
  // Finishes the workload, with a reason such as Succeeded or Failed. An empty message is replaced by the
  // default message of the reason.
  void Finish(WorkloadId id, Reason reason = Reason::kSucceeded, std::string message = "");
  void Delete(WorkloadId id);
  // Evicts the workload on behalf of an actor other than the scheduler. Does nothing if the workload holds no
  // quota.
  void Evict(WorkloadId id, Reason reason, std::string message);
  // Sets the state of an admission check, as its controller would. Omitted arguments leave the corresponding
  // fields unchanged.
  void SetCheckState(WorkloadId id, const std::string& check, CheckState state,
                     std::optional<std::string> message = std::nullopt,
                     std::optional<int64_t> requeue_after_seconds = std::nullopt,
                     std::optional<PodSetUpdates> pod_set_updates = std::nullopt);
  void SetPodsReady(WorkloadId id, bool ready);
  // Sets the time at which the job stops if the workload is evicted. The workload keeps its quota until its
  // job has stopped.
  void SetJobStop(WorkloadId id, Time at);
  // Marks the workload as the preemptor of its queue. The queue tries the preemptor first, because the
  // preemptor waits for its preemption victims to stop. Kueue stores the preemptor of a queue only in memory.
  // Does nothing if the workload is not in a queue.
  void SetPreemptor(WorkloadId id);
  void SetReclaimable(WorkloadId id, std::map<std::string, int64_t> reclaimable);

  // Runs the controllers until nothing changes; see kueue::Settle.
  void Settle(bool all_devices = false);
  // Performs the scheduled retries and runs one scheduling cycle if an active queue has a head. If an earlier
  // cycle is blocked, no new cycle starts; the blocked cycle is resumed once all pods have been ready.
  CycleResult RunCycle(std::vector<Entry>* keep = nullptr);
  // Returns the entry that a cycle would produce if this workload were its only head. The workload may be
  // pending, or may be in no queue.
  Entry TryAdmit(WorkloadId id);
  // Nominates heads of different cohort trees on up to `count` threads, in cycles with at least `least_heads`
  // heads. The decisions do not depend on the number of threads.
  void SetThreads(int count, size_t least_heads) { threads_.Set(count, least_heads); }
  // If `hold` is true, cycles do not perform the scheduled retries; only Retry() does. Kueue collects
  // scheduled retries for one second (pkg/cache/queue/inadmissible_workloads.go). If `hold` is false, the
  // next cycle performs all scheduled retries.
  void HoldRetries(bool hold) { state_.holds_retries = hold; }
  // Returns the names of the trees for which a retry is scheduled: "Cohort NAME", or "ClusterQueue NAME" for
  // a queue without a cohort.
  std::vector<std::string> NotifiedTrees() const;
  // Requeues the inadmissible workloads of the given trees. Skips trees for which no retry is scheduled.
  void Retry(const std::set<std::string>& trees);
  // Releases the quota of evicted workloads and requeues them, as Settle() would.
  void ReleaseEvictedNow(const std::vector<WorkloadId>& evicted);

 private:
  void SetStatus(WorkloadId id, const WorkloadStatus& status);

  State state_;
  // Entries of the current cycle; empty between cycles, but the memory is kept for reuse.
  std::vector<Entry> entries_;
  CycleThreads threads_;
};

// Returns whether at least one pod set has fewer pods than before and no pod set has more
// (pkg/workloadslicing:ScaledDown).
bool ScaledDown(const WorkloadSpec& before, const WorkloadSpec& after);

}  // namespace kueue

#endif  // KUEUE_ENGINE_ENGINE_H_
