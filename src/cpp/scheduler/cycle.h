// One scheduling cycle: heads, nomination, ordering, processing, requeuing. Mirrors
// pkg/scheduler/scheduler.go (kueue ff69552e79).
#ifndef KUEUE_SCHEDULER_CYCLE_H_
#define KUEUE_SCHEDULER_CYCLE_H_

#include <memory>
#include <optional>
#include <vector>

#include "flavor/assigner.h"
#include "lifecycle/admissibility.h"
#include "lifecycle/queueing.h"
#include "preemption/preemption.h"
#include "scheduler/threads.h"
#include "scheduler/victims.h"
#include "state/state.h"

namespace kueue {

enum class EntryStatus : uint8_t { kNotNominated, kSkipped, kGated, kAssumed, kEvicted };

// A head processed by the cycle.
struct Entry {
  WorkloadId workload = kNoId;
  NodeId queue = kNoId;
  bool is_preemptor = false;
  // Iteration of the workload's second pass; 0 if the entry is not a second pass.
  int second_pass = 0;
  // Whether the entry has an assignment. If the entry has no assignment, `inadmissibility` contains the
  // reason.
  bool nominated = false;
  Inadmissibility::Kind inadmissibility = Inadmissibility::Kind::kNone;
  // Whether this call of Run() decided the entry, rather than an earlier call before the cycle was blocked.
  bool decided = false;
  Assignment assignment;
  std::shared_ptr<const Admission> admission;  // Null: made from the assignment.
  std::vector<Target> targets;
  WorkloadId replaced = kNoId;  // Elastic slice that the workload replaces, or kNoId.
  EntryStatus status = EntryStatus::kNotNominated;
  RequeueReason requeue_reason = RequeueReason::kGeneric;
  Reason quota_reserved_reason = Reason::kEmpty;
  Message message;
};

struct CycleResult {
  bool idle = false;  // True if no active queue had a head or the current cycle is still blocked.
  int admitted = 0;   // Number of workloads that received a quota reservation.
  int evicted = 0;    // Number of newly evicted workloads.
  int heads = 0;
  bool made_inadmissible = false;  // Whether a head became inadmissible, so that its queue has a new head.
  bool scanning = false;           // Whether a head continues its flavor scan in the next cycle.
  bool moved = false;              // Whether something else changed, such as a condition or scan progress.
  std::vector<WorkloadId> admitted_workloads, evicted_workloads;
};

// Takes one head from each active queue and runs the cycle. If `keep` is not null, Run() copies the entries
// that this call has decided to `*keep`.
class Cycle {
 public:
  explicit Cycle(State& state) : Cycle(state, state, WaitingCycle()) {}
  // Reuses the memory of a previous cycle, for callers that run many cycles.
  Cycle(State& state, std::vector<Entry>& memory, CycleThreads& threads) : Cycle(state) {
    memory_ = &memory;
    threads_ = &threads;
    entries_.swap(memory);
  }
  // Resumes a cycle that was blocked by waitForPodsReady. The cycle is replayed on a copy of its start state.
  // The replay modifies `live`, the current state, only after the point where the cycle was blocked.
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

  // Returns the entry that a cycle with this workload as its only head would produce. Changes nothing.
  Entry Nominate(WorkloadId workload, NodeId queue);

 private:
  void TakeHeads();
  void NominateEntries();
  // Returns whether threads may nominate heads of different trees at the same time.
  bool AreTreesIndependent() const;
  // Returns the entries of each part of the trees that has any; see Quota::PartOf().
  std::vector<std::vector<size_t>> EntriesByPart() const;
  void Process();
  void End();
  void Remember();
  bool MustWait(Entry& entry);
  void Wait(Entry& entry);
  void NominateEntry(Entry& entry);
  bool Refuses(Entry& entry);
  void GetAssignments(Entry& entry, const NominationMapping* pinned);
  // Returns whether the result for the entry depends only on its equivalence class.
  bool IsToldByClass(const Entry& entry) const;
  // Reuses the cached refusal of the entry's equivalence class if it is still valid. Returns whether a
  // refusal was reused.
  bool Recall(Entry& entry) const;
  // Reuses the cached admission of the entry's equivalence class if its usage fits. Returns whether it was
  // reused.
  bool TakeKnown(const KnownFit& known, Entry& entry) const;
  void TakeKnownFlavors(const Admission& admission, Entry& entry) const;
  bool CanReproduceFlavors(const Entry& entry) const;
  // Caches the admission of the entry if it depends only on objects and on the available quota.
  void KeepFit(const Entry& entry, const std::shared_ptr<const Admission>& admission);
  // Caches the refusal of the entry if the refusal depends only on objects and usage.
  void KeepRefusal(const Entry& entry);
  void AddRead(ResourceId resource, NodeId queue, KnownRefusal& refusal) const;
  bool TryPartialAdmission(Entry& entry, FlavorAssigner& assigner);
  bool IsProgressOutdated(const Workload& workload, NodeId queue) const;
  std::vector<size_t> ClassicalOrder() const;
  void ProcessInFairOrder();
  void ProcessEntry(Entry& entry);
  enum class Fit : uint8_t { kOk, kNoQuota, kNoTopology };
  Fit CheckFit(const Entry& entry);
  bool TakesOver(const Entry& entry) const;
  bool Overlaps(const Entry& entry) const;
  void Recompute(Entry& entry, bool overlaps);
  std::optional<Fit> RecomputeIfNeeded(Entry& entry);
  bool EvictsForNode(Entry& entry);
  void PlaceAround(Entry& entry, const std::optional<TopologyAnswers>& if_empty);
  void ShowAsAsked();
  void ShowAsIs();
  void Reserve(const Entry& entry);
  void IssuePreemptions(Entry& entry);
  void Preempt(State& state, const Entry& entry, const Target& target);
  bool IsAssignedAgain(WorkloadId workload) const;
  bool IsWritten(WorkloadId workload) const;
  bool HoldsTopologyUsage(const Entry& entry) const;
  void Admit(Entry& entry);
  void FinishReplaced(const Entry& entry);
  void FinishEntry(Entry& entry);
  void AddUsage(const Entry& entry);
  void SetProgress(const Entry& entry);

  // The preemptor that nominated the queue's head.
  Preemptor& PreemptorOf(NodeId queue) {
    return preemptors_.empty() ? preemptor_ : *preemptors_[state_.quota.PartOf(queue)];
  }
  bool IsResumed() const { return &live_ != &state_; }

  State& state_;  // State from which decisions are computed.
  // State to which decisions are applied. `live_` differs from `state_` only in a resumed cycle.
  State& live_;
  WaitingCycle waiting_;                // In a resumed cycle, the point at which the cycle was blocked.
  std::shared_ptr<const State> start_;  // With blockAdmission: the state at the start of the cycle.
  const int passed_ = 0;                // Number of workloads admitted before the cycle was blocked.
  bool waits_ = false;
  Preemptor preemptor_;
  // By part of the trees: the preemptors of a cycle that nominates on several threads. Otherwise empty.
  std::vector<std::unique_ptr<Preemptor>> preemptors_;
  CycleThreads* threads_ = nullptr;
  std::vector<Entry> entries_;
  std::vector<Entry>* memory_ = nullptr;
  // Whether cached refusals may be reused. The value is false if the caller needs the details of each
  // decision.
  bool recalls_ = false;
  // The second passes of this cycle; the i-th pass belongs to the i-th entry.
  std::vector<SecondPass> second_passes_;
  // Current failed nodes and admissions of the workloads in `second_passes_`. The values are saved here while
  // the cycle temporarily replaces them with the values recorded in `second_passes_`.
  std::vector<SecondPass> as_is_;
  Victims victims_;
  std::vector<size_t> admitted_;  // Indexes of admitted entries.
  // Workloads admitted in a second pass. Kueue writes admissions asynchronously but evictions synchronously.
  // The first `written_` of these admissions had been written when the last eviction was written.
  std::vector<WorkloadId> assigned_again_;
  size_t written_ = 0;
  // Evictions of workloads in `assigned_again_`, each with the index of the preempting entry. The evictions
  // are applied after the admissions of the cycle.
  std::vector<std::pair<size_t, Target>> late_;
  CycleResult result_;
};

// Returns the message of an entry whose preemption targets have not stopped yet.
Message PendingPreemptions(const Entry& entry, ClassId cls);

// Returns the elastic slice that the workload replaces in this queue, or kNoId if no such slice is charged in
// this queue.
WorkloadId ReplacedSlice(const State& state, WorkloadId workload, NodeId queue);

}  // namespace kueue

#endif  // KUEUE_SCHEDULER_CYCLE_H_
