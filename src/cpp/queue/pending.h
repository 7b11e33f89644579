// The workloads that wait in one ClusterQueue: active ones in order, inadmissible ones until they are
// requeued. Mirrors pkg/cache/queue/{cluster_queue,pending_workloads,inadmissible_workloads}.go (kueue
// ff69552e79).
#ifndef KUEUE_QUEUE_PENDING_H_
#define KUEUE_QUEUE_PENDING_H_

#include <map>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "model/reason.h"
#include "model/workload_table.h"
#include "queue/usage_heap.h"
#include "queue/workload_run.h"

namespace kueue {

// Workloads are held by equivalence class and LocalQueue: a class is inadmissible, and a queue requeued, by
// moving whole runs, whatever their length. With admission fair sharing a heap beside them tells who is next.
class PendingQueue {
 public:
  // The workloads, and each LocalQueue's usage, which orders them with admission fair sharing.
  struct Tables {
    WorkloadTable& workloads;
    const std::vector<double>& usage;
  };

  enum class As { kActive, kInadmissible, kDelayed };

  // Puts a workload that is nowhere into its place.
  void Insert(Tables tables, WorkloadId workload, As as);
  // Takes a workload out, from wherever it is in this queue.
  void Erase(Tables tables, WorkloadId workload);
  // An active workload is replaced by its equal.
  void Touch(Tables tables, WorkloadId workload);
  // Follows an active workload through a change of what it is ordered by, which `change` makes.
  void Update(Tables tables, WorkloadId workload, absl::FunctionRef<void()> change);

  // Whether the workload waits here to be requeued (it must be in this queue).
  bool IsInadmissible(const WorkloadTable& workloads, WorkloadId workload) const;

  // Makes the first active workload the one in flight; kNoId where there is none. The workloads of the
  // LocalQueue with the lowest usage come first, if they are ordered by that; then the sticky one; then by
  // priority, time, UID. Usage that changed counts from the next Reorder on, or where `has_pending_penalty`
  // says that a LocalQueue of this queue has a pending penalty.
  WorkloadId Pop(Tables tables, absl::FunctionRef<bool(LocalQueueId)> has_pending_penalty);
  // Puts the active workloads in the order of their LocalQueues' usage as of now.
  void Reorder(Tables tables);

  // Makes inadmissible every active workload of the class, and those that come until the next
  // QueueInadmissible.
  void MarkInadmissible(Tables tables, ClassId cls, Reason reason);
  // The reason that a class was inadmissible with; nullptr where it was not.
  const Reason* InadmissibleReason(ClassId cls) const;
  // Moves inadmissible workloads back: those of LocalQueues that `may_requeue` and whose backoff has
  // `expired`.
  void QueueInadmissible(Tables tables, absl::FunctionRef<bool(LocalQueueId)> may_requeue,
                         absl::FunctionRef<bool(WorkloadId)> expired);

  // Active and inadmissible workloads together, in the order of the queue as of now, and the head of a cycle
  // that waits.
  std::vector<WorkloadId> Ordered(const WorkloadTable& workloads, const std::vector<double>& usage) const;
  // How many of those go before the workload, which waits here; and the first of them, kNoId where nobody
  // waits. Both look at one workload a class, not at all.
  int PositionOf(const WorkloadTable& workloads, const std::vector<double>& usage, WorkloadId id) const;
  WorkloadId First(const WorkloadTable& workloads, const std::vector<double>& usage) const;
  // The active workloads as the heap holds them, which decides what follows once usage has changed; none
  // unless usage orders them.
  const std::vector<WorkloadId>& HeapOrder() const { return heap_.items(); }
  // How many active and inadmissible workloads there are of each class, those in flight with the active ones.
  std::map<ClassId, std::pair<int, int>> CountByClass(const WorkloadTable& workloads) const;
  // Forgets buckets of nobody.
  void Prune();
  // The same, and brings the others into an order that does not tell how they came to be.
  void Tidy(const WorkloadTable& workloads);

  bool HasActive() const { return !heads_.empty(); }
  int active_count() const { return active_count_; }
  int inadmissible_count() const { return inadmissible_count_; }

  WorkloadId inflight() const { return inflight_; }
  void ForgetInflight() { inflight_ = kNoId; }

  // The workload that waits for its victims to leave; a sticky one goes before all others.
  WorkloadId preemptor = kNoId;
  bool sticky = false;
  // Whether LocalQueue usage orders the workloads; as the ClusterQueue said when it was created.
  bool by_usage = false;
  // Pops that found a workload, and what that was when inadmissible ones were last moved back: Kueue counts
  // the others as well, and asks only whether they were moved back since the pop of a workload in flight.
  int64_t pop_cycle = 0;
  int64_t queue_inadmissible_cycle = -1;

 private:
  friend class FieldLists;             // persist/field_lists.h
  friend class PendingQueueInspector;  // queue/check.cc
  struct Bucket {
    ClassId cls;
    LocalQueueId local_queue;
    int64_t priority;
    WorkloadRun active, inadmissible;
    int32_t place_in_heads = -1;
    bool listed_as_inadmissible = false;
  };
  static size_t Index(int32_t index) { return static_cast<size_t>(index); }
  int32_t BucketOf(const Workload& workload);
  void MakeRoom();
  const Bucket& FindBucket(const Workload& workload) const;
  bool Less(const WorkloadTable& workloads, const std::vector<double>& usage, WorkloadId a,
            WorkloadId b) const;
  auto LessNow(Tables tables) const {
    return [this, tables](WorkloadId a, WorkloadId b) { return Less(tables.workloads, tables.usage, a, b); };
  }
  bool PreemptorWaits(const WorkloadTable& workloads) const;
  bool IsStickyWaiting(const WorkloadTable& workloads) const;
  void AddActive(Tables tables, WorkloadId workload);
  void RemoveActive(Tables tables, WorkloadId workload);
  WorkloadId PopFirst(WorkloadTable& workloads);
  bool HeadLess(const WorkloadTable& workloads, int32_t a, int32_t b) const;
  void Sift(const WorkloadTable& workloads, size_t place);
  void UpdateHead(const WorkloadTable& workloads, int32_t bucket);
  void ListAsInadmissible(int32_t bucket);

  std::vector<Bucket> buckets_;
  absl::btree_map<std::pair<ClassId, LocalQueueId>, int32_t> bucket_of_;  // those of a class side by side
  std::vector<int32_t> heads_;                 // buckets with active workloads: a binary heap by their first
  UsageHeap heap_;                             // the active workloads, where usage orders them
  std::vector<int32_t> inadmissible_buckets_;  // buckets that may have inadmissible workloads
  std::vector<WorkloadId> delayed_;
  absl::flat_hash_map<ClassId, Reason> inadmissible_classes_;
  WorkloadId inflight_ = kNoId;
  int active_count_ = 0;
  int inadmissible_count_ = 0;
};

// Whether `a` goes before `b` by priority, time and UID; of equals, the one submitted first.
bool GoesBefore(const Workload& a, const Workload& b);

}  // namespace kueue

#endif  // KUEUE_QUEUE_PENDING_H_
