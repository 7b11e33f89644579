// One scheduling cycle: heads, nomination, order, processing, requeue.
// Mirrors pkg/scheduler/scheduler.go (kueue ff69552e79).
#ifndef KUEUE_SCHEDULER_CYCLE_H_
#define KUEUE_SCHEDULER_CYCLE_H_

#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "flavor/assigner.h"
#include "lifecycle/admissibility.h"
#include "lifecycle/queueing.h"
#include "preemption/preemption.h"
#include "state/state.h"

namespace kueue {

enum class EntryStatus : uint8_t { kNotNominated, kSkipped, kGated, kAssumed, kEvicted };

// A head on its way through the cycle.
struct Entry {
  WorkloadId workload = kNoId;
  NodeId queue = kNoId;
  bool is_preemptor = false;
  int second_pass = 0;     // the iteration of a workload that has its quota already; 0: it has none
  bool nominated = false;  // has an assignment; otherwise it was inadmissible before one was tried, for
  Inadmissibility::Kind inadmissibility = Inadmissibility::Kind::kNone;
  bool decided = false;  // in this run of the cycle, not before it had to wait
  Assignment assignment;
  std::vector<Target> targets;
  WorkloadId replaced = kNoId;  // the elastic slice that it takes the place of
  EntryStatus status = EntryStatus::kNotNominated;
  RequeueReason requeue_reason = RequeueReason::kGeneric;
  Reason quota_reserved_reason = Reason::kEmpty;
  Message message;
};

struct CycleResult {
  bool idle = false;  // no active queue had a head, or the cycle under way still waits
  int admitted = 0;   // workloads that got quota
  int evicted = 0;    // workloads newly evicted
  int heads = 0;
  bool made_inadmissible = false;  // a head, which makes room for those behind it
  bool scanning = false;           // a head goes on with other flavors in the next cycle
  bool moved = false;              // something else changed: a bucket, or the progress of a scan
  std::vector<WorkloadId> admitted_workloads, evicted_workloads;
};

// Takes one head from each active queue and runs the cycle. With `keep`, the entries that it decided about
// are copied there.
class Cycle {
 public:
  explicit Cycle(State& state) : Cycle(state, state, WaitingCycle()) {}
  // One of many: it works in the memory that the last one has left.
  Cycle(State& state, std::vector<Entry>& memory) : Cycle(state) {
    memory_ = &memory;
    entries_.swap(memory);
  }
  // Resumes a cycle that waitForPodsReady blocked, by a replay on a copy of the state that it started from:
  // up to where it was blocked nothing happens in `live`, which has changed since; then both go on.
  Cycle(State& start, State& live, WaitingCycle waiting)
      : state_(start),
        live_(live),
        waiting_(std::move(waiting)),
        passed_(waiting_.passed),
        preemptor_(start) {}
  ~Cycle() {
    if (memory_ == nullptr) return;
    entries_.clear();
    entries_.swap(*memory_);
  }
  Cycle(const Cycle&) = delete;
  Cycle& operator=(const Cycle&) = delete;
  CycleResult Run(std::vector<Entry>* keep = nullptr);

  // What the cycle would answer for one workload of the queue alone, without changing anything.
  Entry Nominate(WorkloadId workload, NodeId queue);

 private:
  void TakeHeads();
  void Process();
  void End();
  void Remember();
  bool MustWait(Entry& entry);
  void Wait(Entry& entry);
  void NominateEntry(Entry& entry);
  bool Refuses(Entry& entry);
  void GetAssignments(Entry& entry, const NominationMapping* pinned);
  // Whether nothing but its class tells the entry from others, so that they are answered alike.
  bool IsToldByClass(const Entry& entry) const;
  // Answers as the queue has answered the class before, where that still holds; whether it does.
  bool Recall(Entry& entry) const;
  // Keeps the answer, where it is a refusal that rests on objects and usage alone.
  void KeepRefusal(const Entry& entry);
  void AddRead(ResourceId resource, NodeId queue, KnownRefusal& refusal) const;
  bool TryPartialAdmission(Entry& entry, FlavorAssigner& assigner);
  bool IsProgressOutdated(const Workload& workload, NodeId queue) const;
  std::vector<size_t> ClassicalOrder() const;
  void ProcessInFairOrder();
  void ProcessEntry(Entry& entry);
  enum class Fit : uint8_t { kOk, kNoQuota, kNoTopology };
  Fit CheckFit(const Entry& entry);
  bool FitsNow(const Entry& entry) { return CheckFit(entry) == Fit::kOk; }
  bool TakesOver(const Entry& entry) const;
  bool Overlaps(const Entry& entry) const;
  std::vector<WorkloadId>& PreemptedAround(const Entry& entry);
  // The victims so far that may make room for the entry.
  const std::vector<WorkloadId>& VictimsFor(const Entry& entry);
  void Recompute(Entry& entry, bool overlaps);
  void RecomputeIfNeeded(Entry& entry);
  bool EvictsForNode(Entry& entry);
  void PlaceAround(Entry& entry);
  void ShowAsAsked();
  void ShowAsIs();
  void Reserve(const Entry& entry);
  void IssuePreemptions(Entry& entry);
  void Preempt(State& state, const Entry& entry, const Target& target);
  bool IsAssignedAgain(WorkloadId workload) const;
  bool IsWritten(WorkloadId workload) const;
  void Admit(Entry& entry);
  void FinishReplaced(const Entry& entry);
  void FinishEntry(Entry& entry);
  void AddUsage(const Entry& entry);
  void SetProgress(const Entry& entry);

  bool IsResumed() const { return &live_ != &state_; }

  State& state_;                        // what is decided on
  State& live_;                         // where it happens; the same, unless the cycle had to wait
  WaitingCycle waiting_;                // during a replay: where it was blocked
  std::shared_ptr<const State> start_;  // with blockAdmission: the state that it started from
  const int passed_ = 0;                // admitted before it waited
  bool waits_ = false;
  Preemptor preemptor_;
  std::vector<Entry> entries_;
  std::vector<Entry>* memory_ = nullptr;
  bool recalls_ = false;  // what is answered may be what was answered before: nobody asks how it was found
  std::vector<SecondPass> second_passes_;  // taken, in the order of the first entries
  // By workload: its failed nodes and its admission as they are, while those of its pass are shown.
  std::vector<SecondPass> as_is_;
  // Victims of this cycle, by the root of their tree: those of another tree free nothing here.
  absl::flat_hash_map<NodeId, std::vector<WorkloadId>> preempted_;
  absl::flat_hash_set<WorkloadId> is_preempted_;
  std::vector<WorkloadId> all_preempted_;
  std::vector<size_t> admitted_;  // entries that were admitted
  // Workloads admitted in their second pass. Kueue writes admissions in the background and waits for
  // evictions: the first `written_` of these admissions are written, since the cycle has waited for an
  // eviction after them.
  std::vector<WorkloadId> assigned_again_;
  size_t written_ = 0;
  std::vector<std::pair<size_t, Target>> late_;  // evictions on top of those admissions, by entry
  CycleResult result_;
};

// What an entry with targets says while they have not left.
Message PendingPreemptions(const Entry& entry, ClassId cls);

// The elastic slice that the workload replaces in this queue, if it is charged there.
WorkloadId ReplacedSlice(const State& state, WorkloadId workload, NodeId queue);

}  // namespace kueue

#endif  // KUEUE_SCHEDULER_CYCLE_H_
