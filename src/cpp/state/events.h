// Events in the life of a workload, for observers of the engine.
#ifndef KUEUE_STATE_EVENTS_H_
#define KUEUE_STATE_EVENTS_H_

#include <memory>
#include <optional>
#include <string>

#include "model/message.h"
#include "model/reason.h"
#include "model/workload.h"

namespace kueue {

struct State;

enum class EventKind : uint8_t {
  kReserved,
  kAdmitted,
  kEvicted,
  kReleased,
  kPending,
  kFinished,
  kDeleted,
  kCreated,
  kPodsReady,
  // The workload has preemption targets, but another workload of the same cycle needs the same targets or
  // their quota.
  kPreemptionSkipped,
  // The targets were recomputed because another workload of the same cycle has overlapping targets.
  kTargetsRecomputed,
  kAssigned,       // An admitted workload's topology assignment changed.
  kUnhealthyNodes  // The set of failed nodes of the topology assignment changed.
};
// An event. The workload may be removed before the event is read, so the event stores its name and spec.
struct Event {
  EventKind kind;
  Serial workload;
  std::string name;
  std::shared_ptr<const WorkloadSpec> spec;
  Serial by = kNoId;  // For an eviction by preemption: the preemptor.
  std::string by_key;
  NodeId by_queue = kNoId;
  Time time = 0;
  int64_t cycle = 0;  // Number of scheduling cycles started before the event.
  // Queue whose quota the workload holds. If the workload holds no quota, this is the queue in which the
  // workload is pending.
  NodeId queue = kNoId;
  Reason reason =
      Reason::kEmpty;  // `reason` and `message` are copied from the condition that records the event.
  Reason preemption = Reason::kEmpty;  // For an eviction by preemption: reason of the Preempted condition.
  // For an eviction other than a preemption: the underlying cause. For kTargetsRecomputed: the outcome of the
  // recomputation.
  Reason cause = Reason::kEmpty;
  Message message;
  Time queued_since = 0;  // Time at which the workload was created or last requeued.
  // Start of the phase that the event ends. For kFinished: start of the execution.
  std::optional<Time> since;
};

// A step in a workload's life, for observers of a running simulation. Unlike an Event, a step refers to the
// workload by id, so observers must read the step before the id can be reused.
struct Step {
  EventKind kind;
  WorkloadId workload;
  WorkloadId by = kNoId;  // For an eviction by preemption: the preemptor.
};

// Returns whether a workload gains or loses quota, its admission or its job with an event of this kind.
constexpr bool ChangesJob(EventKind kind) {
  return kind == EventKind::kReserved || kind == EventKind::kAdmitted || kind == EventKind::kEvicted ||
         kind == EventKind::kReleased || kind == EventKind::kFinished;
}

// Returns an event that happens to the workload now. `cause` is the outcome of kTargetsRecomputed; the event
// of an eviction contains its underlying cause instead.
Event MakeEvent(const State& state, EventKind kind, WorkloadId workload, Reason cause);

}  // namespace kueue

#endif  // KUEUE_STATE_EVENTS_H_
