// First part of a scheduling cycle: finds for each head a flavor assignment and, if necessary, preemption
// targets. Mirrors pkg/scheduler/scheduler.go:nominate (kueue ff69552e79).
#ifndef KUEUE_SCHEDULER_NOMINATION_H_
#define KUEUE_SCHEDULER_NOMINATION_H_

#include <memory>
#include <vector>

#include "flavor/assigner.h"
#include "preemption/preemption.h"
#include "scheduler/entry.h"
#include "scheduler/threads.h"
#include "state/state.h"

namespace kueue {

class Nomination {
 public:
  // `is_resumed`: whether the cycle was blocked, and is now replayed on its start state.
  Nomination(State& state, bool is_resumed) : state_(state), is_resumed_(is_resumed), preemptor_(state) {}

  // Starts a cycle. `recalls`: whether cached answers may be used; not if the caller needs the details of
  // each decision.
  void BeginCycle(bool recalls) {
    recalls_ = recalls;
    preemptor_.BeginCycle();
  }
  // Returns whether cached answers may be used.
  bool recalls() const { return recalls_; }

  // Nominates the heads, if possible on several threads. `threads` may be null.
  void NominateAll(std::vector<Entry>& entries, CycleThreads* threads);
  void Nominate(Entry& entry);
  // Computes the assignment and the targets of an entry. If `pinned` is not null, only these flavors may be
  // assigned.
  void Assign(Entry& entry, const NominationMapping* pinned);
  // Caches the admission of the entry if it depends only on objects and on the available quota.
  void KeepFit(const Entry& entry, const std::shared_ptr<const Admission>& admission);
  // Returns the preemptor that nominates the queue's head.
  Preemptor& PreemptorOf(NodeId queue) {
    return preemptors_.empty() ? preemptor_ : *preemptors_[state_.quota.PartOf(queue)];
  }

 private:
  bool Refuses(Entry& entry);
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
  // Caches the refusal of the entry if the refusal depends only on objects and usage.
  void KeepRefusal(const Entry& entry);
  void AddRead(ResourceId resource, NodeId queue, KnownRefusal& refusal) const;
  bool TryPartialAdmission(Entry& entry, FlavorAssigner& assigner);
  bool IsProgressOutdated(const Workload& workload, NodeId queue) const;
  void PlaceAround(Entry& entry, const std::optional<TopologyAnswers>& if_empty);
  void SetProgress(const Entry& entry);

  State& state_;
  const bool is_resumed_;
  bool recalls_ = false;
  Preemptor preemptor_;
  // By part of the trees: the preemptors of a cycle that nominates on several threads. Otherwise empty.
  std::vector<std::unique_ptr<Preemptor>> preemptors_;
};

// Returns the elastic slice that the workload replaces in this queue, or kNoId if no such slice is charged in
// this queue.
WorkloadId ReplacedSlice(const State& state, WorkloadId workload, NodeId queue);

}  // namespace kueue

#endif  // KUEUE_SCHEDULER_NOMINATION_H_
