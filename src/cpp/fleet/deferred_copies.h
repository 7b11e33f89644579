// Deferred copies of a fleet: copies that were not submitted to their workers, because it is known that they
// only wait there. On busy workers, most copies are deleted before anything else happens on the worker.
#ifndef KUEUE_FLEET_DEFERRED_COPIES_H_
#define KUEUE_FLEET_DEFERRED_COPIES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "fleet/dispatcher.h"
#include "fleet/reconcile_queue.h"
#include "simulation/simulation.h"

namespace kueue {

struct DeferredCopy {
  int32_t job = kNoId;
  Serial serial = kNoId;  // Of the manager's workload.
  Time created = 0;
  // Time of the first cycle that refused the copy. A copy without such a cycle is inadmissible because a
  // copy before it is.
  std::optional<Time> refused;
};

// A worker is identified by its site: the sites are the manager, followed by the workers in the order of
// their indexes.
class DeferredCopies {
 public:
  using Sites = std::vector<std::shared_ptr<Simulation>>;

  explicit DeferredCopies(size_t sites) : waiting_(sites) {}
  // Sets the objects that the following calls use. They must outlive the calls.
  void Attach(const Sites* sites, Dispatcher* dispatcher, ReconcileQueue* queue);

  bool IsEmpty(size_t site) const { return waiting_[site].copies.empty(); }
  // Returns how the deferred copies of a worker wait.
  const Wait& WaitOf(size_t site) const { return waiting_[site].wait; }

  // Adds a copy with this spec, which was created now. Returns false if the copy cannot be deferred.
  bool Add(size_t site, const DeferredCopy& copy, const WorkloadSpec& made);
  // Submits all deferred copies of a worker, or of all workers.
  void Realize(size_t site);
  void RealizeAll();
  // Submits the first of the deferred copies of a worker, if the others need not be submitted before a change
  // that frees quota or has no effect on queues. Otherwise, submits all.
  void RealizeFirst(size_t site);
  // Returns whether a deferred copy of a worker can be deleted by Pass(). Otherwise, submits all.
  bool MayPass(size_t site);
  // Deletes the deferred copy of a workload of the manager.
  void Pass(size_t site, Serial serial);
  // Makes the decisions on a worker with deferred copies. Submits a copy only if it may be admitted. Returns
  // false if there are no deferred copies, or no longer, and decisions are still to be made.
  bool Decide(size_t site, Time now);

 private:
  // The deferred copies of a worker, in the order of their creation. They wait in one queue and have one
  // class, so that a cycle refuses the first copy and makes all inadmissible.
  struct Waiting {
    absl::InlinedVector<DeferredCopy, 2> copies;
    Wait wait;  // `cycles` are those that refused the first of the deferred copies.
    // `decided` is true after the cycles that make the copies inadmissible, and `stirred` is true if
    // something happened on the worker after those cycles. If both are false, the only copy is new.
    bool decided = false, stirred = false;
  };

  Simulation& Site(size_t site) const { return *(*sites_)[site]; }
  State& StateOf(size_t site) const { return Site(site).data().engine.state(); }
  bool PrepareHead(size_t site, Time now);
  void DecideOnHead(size_t site);
  bool Refuse(size_t site, const Wait& wait, Time now);
  bool CanBeLeft(size_t site);
  void RealizeOne(size_t site, const DeferredCopy& copy, bool is_new);
  void SubmitFirst(size_t site);

  std::vector<Waiting> waiting_;  // By site.
  const Sites* sites_ = nullptr;
  Dispatcher* dispatcher_ = nullptr;
  ReconcileQueue* queue_ = nullptr;
};

}  // namespace kueue

#endif  // KUEUE_FLEET_DEFERRED_COPIES_H_
