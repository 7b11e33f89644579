// Data types of the MultiKueue controllers.
#ifndef KUEUE_FLEET_MULTIKUEUE_H_
#define KUEUE_FLEET_MULTIKUEUE_H_

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace kueue {

// Preemption gate added to copies with orchestrated preemption.
inline constexpr const char* kMultiKueueGate = "kueue.x-k8s.io/multikueue";

// When the status of a worker's job is copied to the manager's job: always but while the manager's job is
// suspended and the worker's job is not, always, or never.
enum class StatusCopy : uint8_t { kUnlessSuspended, kAlways, kNever };

// How a workload that shares its job with others takes part in the choice of a cluster. The groups of a
// LeaderWorkerSet share it: the first one leads, the others follow it, and all wait until all of them exist.
// The slices of an elastic job, like all workloads that share nothing, decide for themselves.
enum class GroupRole : uint8_t { kAlone, kLeads, kFollows, kWaits };

enum class DispatcherKind : uint8_t { kAllAtOnce, kIncremental, kExternal };

struct DispatcherOptions {
  DispatcherKind kind = DispatcherKind::kAllAtOnce;
  int32_t step = 3;             // Number of clusters nominated in each round.
  Time round = 300 * kSecond;   // Duration of a round of the incremental dispatcher, in nanoseconds.
  bool in_config_order = true;  // Nominate clusters in the order of the configuration; if false, by name.
  Time worker_lost_timeout = 900 * kSecond;
  // Minimum time between opening two preemption gates of one workload, in nanoseconds.
  Time gate_timeout = 300 * kSecond;
  // If true, a round ends when the time reaches its deadline; if false, a round ends only after the deadline.
  bool is_virtual_time = false;
  // If a worker has a workload of the same name, that workload counts as a copy even if another actor created
  // it.
  bool finds_by_name = false;
};

// A MultiKueue admission check, and the clusters of its MultiKueueConfig in their configured order.
struct CheckClusters {
  std::string check;
  std::vector<int32_t> clusters;
  bool has_config = true;  // If false, the MultiKueueConfig does not exist.
};

// A worker cluster, identified by its index in the list of worker clusters. A cluster without an engine is
// never connected.
struct WorkerCluster {
  std::string name;
  Engine* engine = nullptr;
  bool connected = true;
  Time lost_since = 0;
  bool declared = true;  // If false, the MultiKueueCluster does not exist, and there is no connection.
};

// A copy of a manager's workload: a workload with the same name on a worker.
struct Copy {
  int32_t cluster = kNoId;
  WorkloadId id = kNoId;
  Serial serial = kNoId;
  // Spec of the manager's workload from which the copy was created, and spec of the copy.
  std::shared_ptr<const WorkloadSpec> local, made;
  // The copy was not submitted to the worker, because it would only wait there; see DispatchListener.
  bool deferred = false;
  bool has_job = false;  // Whether the job existed on the worker at the last reconciliation.
  bool removed = false;  // The copy was deleted, and its record is erased before the reconciliation ends.
};

// A workload of the manager that has been reconciled at least once.
struct Local {
  WorkloadId id = kNoId;
  Serial serial = kNoId;
  std::string key;
  // Index of the workload's check in the checks of the Dispatcher; kNoId if the workload has no MultiKueue
  // check or the check is Rejected.
  int32_t config = kNoId;
  StatusCopy status_copy = StatusCopy::kUnlessSuspended;
  GroupRole role = GroupRole::kAlone;
  std::vector<std::string> kin;  // Keys of the other workloads of the same job.
  bool gone = false;             // Whether the workload was deleted and has been reconciled since then.
  std::vector<Copy> copies;      // Sorted by cluster.
  std::vector<int32_t> jobs;     // Clusters that still have a job although another actor deleted the copy.
  std::optional<Time> round;     // Start of the current round of the incremental dispatcher.
  std::optional<Time> again;     // Next time at which a reconciliation may have a different result.
  int32_t rounds = 0;            // Number of rounds of the incremental dispatcher so far.

  void LookAgain(Time at) { again = again ? std::min(*again, at) : at; }
};

enum class Move : uint8_t { kCreated, kDeleted, kUpdated, kStarted, kStopped, kOpened, kDeactivating };

// Observer of a dispatcher. The dispatcher reports a deletion before the deletion happens.
class DispatchListener {
 public:
  virtual ~DispatchListener() = default;
  virtual void Moved(Move move, const Local& local, const Copy& copy) = 0;
  // Called before a copy is created. Returns whether the copy is deferred: the dispatcher does not submit the
  // copy, and the listener applies the effects that the copy would have on its worker.
  virtual bool Defers(const Local&, int32_t /*cluster*/, const WorkloadSpec& /*made*/) { return false; }
  // Called before the dispatcher changes a worker. The listener must then call Realize() for the deferred
  // copies on this worker. If `queues_stay`, the change does not depend on the contents of the worker's
  // queues, except that it may remove a workload and make others active again.
  virtual void Needs(int32_t /*cluster*/, bool /*queues_stay*/) {}
  // Called before the deletion of a deferred copy. If the result is false, the listener has called Realize()
  // for the copy; otherwise Pass() follows.
  virtual bool MayPass(int32_t /*cluster*/) { return false; }
  // Applies the effects that the creation and the deletion of the deferred copy have on its worker. Called
  // after the deletion was reported.
  virtual void Pass(const Local&, int32_t /*cluster*/) {}
};

}  // namespace kueue

#endif  // KUEUE_FLEET_MULTIKUEUE_H_
