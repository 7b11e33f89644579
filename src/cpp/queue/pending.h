// Pending workloads of one ClusterQueue: active workloads in queue order, and inadmissible workloads until
// they are requeued. Mirrors pkg/cache/queue/{cluster_queue,pending_workloads,inadmissible_workloads}.go
// (kueue ff69552e79).
#ifndef KUEUE_QUEUE_PENDING_H_
#define KUEUE_QUEUE_PENDING_H_

#include <cstdint>
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

using UsageByLocalQueue = IdVector<LocalQueueId, double>;

// The rule by which one workload of a queue precedes another one, in the order in which the rules apply.
enum class Precedence : uint8_t { kUsage, kPreemptor, kPriority, kTime, kUid };

// Workloads are grouped into buckets by equivalence class and LocalQueue. When a class becomes inadmissible
// or inadmissible workloads are requeued, all workloads of a bucket are moved together. With admission fair
// sharing, a separate heap determines the next workload.
class PendingQueue {
 public:
  // The workload table, and the usage of each LocalQueue. Admission fair sharing orders workloads by this
  // usage.
  struct Tables {
    WorkloadTable& workloads;
    const UsageByLocalQueue& usage;
  };

  enum class As { kActive, kInadmissible, kDelayed };

  // Adds a workload whose place is kNowhere.
  void Insert(Tables tables, WorkloadId workload, As as);
  // Removes a workload from this queue, regardless of its QueuePlace.
  void Erase(Tables tables, WorkloadId workload);
  // Restores the heap order after an update of an active workload that left its sort fields unchanged.
  void Touch(Tables tables, WorkloadId workload);
  // Calls `change` and then moves the active workload to its new position. `change` may change the fields
  // that determine the position of the workload.
  void Update(Tables tables, WorkloadId workload, absl::FunctionRef<void()> change);

  // Returns whether the workload is inadmissible, that is, waits until an event requeues it. The workload
  // must be in this queue.
  bool IsInadmissible(const WorkloadTable& workloads, WorkloadId workload) const;

  // Makes the first active workload the workload in flight and returns it. Returns kNoId if there is no
  // active workload. Workloads are ordered by the usage of their LocalQueue, lowest first, if `by_usage` is
  // true. Otherwise, or if the usage is equal, the sticky workload comes first, and the others are ordered by
  // priority, highest first, then by queue time and UID. A change of usage takes effect at the next
  // Reorder(), or in this call of Pop() if `has_pending_penalty` returns true for a LocalQueue of this queue.
  WorkloadId Pop(Tables tables, absl::FunctionRef<bool(LocalQueueId)> has_pending_penalty);
  // Reorders the active workloads by the current usage of their LocalQueues.
  void Reorder(Tables tables);

  // Makes all active workloads of the class inadmissible. Workloads of the class that are added before the
  // next QueueInadmissible() also become inadmissible.
  void MarkInadmissible(Tables tables, ClassId cls, Reason reason);
  // Returns the reason for which the class was marked inadmissible, or nullptr if the class is not marked.
  // The next non-const call invalidates the pointer.
  const Reason* InadmissibleReason(ClassId cls) const;
  // Returns whether all workloads of this queue are of the class and have an earlier queue time.
  bool HasOnly(ClassId cls, Time before) const;
  // Makes inadmissible workloads active again if `may_requeue` is true for their LocalQueue and, for delayed
  // workloads, `expired` is true for their backoff.
  void QueueInadmissible(Tables tables, absl::FunctionRef<bool(LocalQueueId)> may_requeue,
                         absl::FunctionRef<bool(WorkloadId)> expired);

  // Returns the active workloads, the inadmissible workloads and the workload in flight, in the current queue
  // order.
  std::vector<WorkloadId> Ordered(const WorkloadTable& workloads, const UsageByLocalQueue& usage) const;
  // PositionOf() returns the number of workloads that precede `id` in Ordered(). `id` must be in this queue.
  // Ahead() returns the first of them, at most `most`, with the rule by which each precedes `id`.
  // PositionOf() and Ahead() inspect buckets, not every workload.
  int PositionOf(const WorkloadTable& workloads, const UsageByLocalQueue& usage, WorkloadId id) const;
  std::vector<std::pair<WorkloadId, Precedence>> Ahead(const WorkloadTable& workloads,
                                                       const UsageByLocalQueue& usage, WorkloadId id,
                                                       int most) const;
  // Returns the active workloads in heap order. After usage has changed, the heap order affects which
  // workloads become the next heads. The result is empty unless the queue is ordered by usage.
  const std::vector<WorkloadId>& HeapOrder() const { return heap_.items(); }
  // Returns the numbers of active and inadmissible workloads by class. The workload in flight counts as
  // active.
  std::map<ClassId, std::pair<int, int>> CountByClass(const WorkloadTable& workloads) const;
  // Removes empty buckets.
  void Prune();
  // Like Prune(), and also brings the remaining buckets into an order that is independent of their history.
  void Tidy(const WorkloadTable& workloads);

  bool HasActive() const { return !heads_.empty(); }
  // Returns the workload that Pop() would return, provided that the queue has an active workload, is not
  // ordered by usage, and has no sticky workload.
  WorkloadId FirstActive() const { return buckets_[Index(heads_.front())].active.Front().workload; }
  int active_count() const { return active_count_; }
  int inadmissible_count() const { return inadmissible_count_; }

  WorkloadId inflight() const { return inflight_; }

  // The workload that waits for its preemption victims to stop. If `sticky` is true, the preemptor precedes
  // all other workloads.
  WorkloadId preemptor = kNoId;
  bool sticky = false;
  // Whether the workloads are ordered by the usage of their LocalQueues. The value is set when the
  // ClusterQueue is created; later changes of the spec do not affect it.
  bool by_usage = false;
  // `pop_cycle` is the number of pops that returned a workload. `queue_inadmissible_cycle` is the value of
  // `pop_cycle` when inadmissible workloads were last requeued. Kueue also counts unsuccessful pops, but uses
  // both counters only to check whether workloads were requeued after the workload in flight was popped.
  int64_t pop_cycle = 0;
  int64_t queue_inadmissible_cycle = -1;

 private:
  friend class FieldLists;             // persist/field_lists.h
  friend class PendingQueueInspector;  // queue/check.cc
  struct Bucket {
    ClassId cls;  // Workload::hash of its workloads, as everywhere in this class.
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
  bool Less(const WorkloadTable& workloads, const UsageByLocalQueue& usage, WorkloadId a, WorkloadId b) const;
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
  absl::btree_map<std::pair<ClassId, LocalQueueId>, int32_t> bucket_of_;  // Buckets of a class are adjacent.
  // Buckets with active workloads: a binary heap ordered by their first workload.
  std::vector<int32_t> heads_;
  UsageHeap heap_;                             // Active workloads, if the queue is ordered by usage.
  std::vector<int32_t> inadmissible_buckets_;  // Buckets that may contain inadmissible workloads.
  std::vector<WorkloadId> delayed_;
  absl::flat_hash_map<ClassId, Reason> inadmissible_classes_;
  WorkloadId inflight_ = kNoId;
  int active_count_ = 0;
  int inadmissible_count_ = 0;
};

// Returns whether `a` precedes `b` by priority, time and UID; ties are broken by order of submission.
bool GoesBefore(const Workload& a, const Workload& b);

}  // namespace kueue

#endif  // KUEUE_QUEUE_PENDING_H_
