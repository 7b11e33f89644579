// Result of a cycle for one head, in a form that remains valid after the cycle.
#ifndef KUEUE_QUESTIONS_DECISION_H_
#define KUEUE_QUESTIONS_DECISION_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "scheduler/cycle.h"
#include "state/state.h"

namespace kueue {

enum class Verdict : uint8_t { kPending, kPreempting, kAdmitted };

// A preemption target, and the queue whose quota its preemption frees.
struct TargetRecord {
  std::string workload;
  PreemptionReason reason;
  NodeId queue;
};

// Decision about one head of a cycle. The record identifies the workload by its key, because the workload may
// be removed before the record is read.
struct DecisionRecord {
  std::string workload;
  NodeId queue = kNoId;
  Verdict verdict = Verdict::kPending;
  bool admitted = false;  // Whether all admission checks are ready; valid only if the verdict is kAdmitted.
  int borrowing = 0;
  Reason reason = Reason::kEmpty;
  Message message;
  std::shared_ptr<const Admission> admission;
  std::vector<TargetRecord> targets;
  absl::InlinedVector<std::pair<int, FlavorAttempt>, 1> attempts;  // By pod set.
};

// Create a record from an entry. Decided() is for entries of a completed cycle; Asked() is for entries of a
// dry-run nomination, which does not change the state.
DecisionRecord Decided(const State& state, const Entry& entry);
DecisionRecord Asked(const State& state, const Entry& entry);

// The reason why no cycle considers a workload; kNone if there is no such reason.
struct Obstacle {
  enum class Kind : uint8_t {
    kNone,
    kDeactivated,
    kLocalQueueMissing,
    kLocalQueueStopped,
    kClusterQueueMissing,
    kClusterQueueInactive,
    kGated,
    kOnHold,
    kPodsReady,  // A cycle is blocked until all pods are ready.
    kDevicesRefused,
    kDevicesUncounted,  // The workload controller has not counted the devices yet.
  };
  Kind kind = Kind::kNone;
  std::string queue;  // Name of the queue, if the kind refers to a queue.
  Reason reason = Reason::kEmpty;
  Message message;  // `reason` and `message` have the values that the workload controller writes.

  bool IsNone() const { return kind == Kind::kNone; }
};
Obstacle ObstacleOf(const State& state, const Workload& workload);

}  // namespace kueue

#endif  // KUEUE_QUESTIONS_DECISION_H_
