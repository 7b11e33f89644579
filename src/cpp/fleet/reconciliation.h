// One reconciliation of a workload by the MultiKueue controller. Mirrors workload.go:Reconcile,
// reconcileGroup.
#ifndef KUEUE_FLEET_RECONCILIATION_H_
#define KUEUE_FLEET_RECONCILIATION_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "fleet/copies.h"
#include "lifecycle/dispatched.h"

namespace kueue {

// All referenced objects must outlive the reconciliation.
class Reconciliation {
 public:
  // `id` is the check on the manager. `ranks` has the position of each cluster in the configuration of the
  // check; kNoId if the configuration does not contain the cluster.
  Reconciliation(const DispatcherOptions& options, Copies& copies, Local& local, const CheckClusters& check,
                 CheckId id, const std::vector<int32_t>& ranks)
      : options_(options), copies_(copies), local_(local), check_(check), id_(id), ranks_(ranks) {}

  struct Result {
    bool changed = false;
    bool nominates = false;  // Whether clusters are to be nominated, and copies to be created there.
  };
  Result Run();

 private:
  // Determines the visible copies.
  void See();
  bool FinishAs(const Copy& copy);
  std::optional<bool> FollowEviction(const Copy& copy);
  bool SyncSpecs();
  bool LoseAdmitting();
  bool Converge(const Copy& copy);
  bool Admit(int32_t cluster);
  bool SyncTopology(int32_t cluster);
  bool OpenNextGate();
  bool OwnsJob(const Copy& copy) const;
  bool SyncJob(const Copy& copy);
  bool Deactivate(const Copy& copy);
  // The first visible copy, by the time of the transition, for which a condition is true; kNoId if none is.
  // Without the gate MultiKueueWaitForWorkloadAdmitted, `admitted` is the first that has a quota reservation.
  struct FirstTrue {
    int32_t finished = kNoId, evicted = kNoId, admitted = kNoId;
  };
  FirstTrue FindFirstTrue() const;
  const WorkloadCheck& Check() const;
  bool IsElastic() const { return kueue::IsElastic(manager(), *workload().spec); }
  void SetCheck(CheckState state, std::string message);

  State& manager() const { return copies_.manager(); }
  Workload& workload() const { return copies_.WorkloadOf(local_); }
  const Workload& WorkloadOf(const Copy& copy) const { return copies_.WorkloadOf(copy); }
  Copy* CopyOn(int32_t cluster) const { return copies_.CopyOn(local_, cluster); }
  const WorkerCluster& At(int32_t cluster) const { return copies_.At(cluster); }

  const DispatcherOptions& options_;
  Copies& copies_;
  Local& local_;
  const CheckClusters& check_;
  const CheckId id_;
  const std::vector<int32_t>& ranks_;
  CheckState state_{};  // State of the check at the start.
  // Connected clusters with a copy, in the order of the configuration. Other copies are ignored.
  absl::InlinedVector<int32_t, 8> visible_;
};

}  // namespace kueue

#endif  // KUEUE_FLEET_RECONCILIATION_H_
