// How a head of a cycle fared, as facts that outlast the cycle.
#ifndef KUEUE_QUESTIONS_DECISION_H_
#define KUEUE_QUESTIONS_DECISION_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/cycle.h"
#include "state/state.h"

namespace kueue {

enum class Verdict : uint8_t { kPending, kPreempting, kAdmitted };

// Who leaves, and whose quota that gives back.
struct TargetRecord {
  std::string workload;
  PreemptionReason reason;
  NodeId queue;
};

// One head of a cycle, told by its key: the workload may be gone when it is looked at.
struct DecisionRecord {
  std::string workload;
  NodeId queue = kNoId;
  Verdict verdict = Verdict::kPending;
  bool admitted = false;  // with kAdmitted: no admission check is outstanding
  int borrowing = 0;
  int32_t reason = 0;  // an id of State::reasons
  Message message;
  std::shared_ptr<const Admission> admission;
  std::vector<TargetRecord> targets;
  std::vector<std::pair<int, FlavorAttempt>> attempts;  // by pod set
};

// How an entry ended, read off the engine after its cycle or off a nomination that changed nothing.
DecisionRecord Decided(const State& state, const Entry& entry);
DecisionRecord Asked(const State& state, const Entry& entry);

// What keeps a workload out of every cycle; kNone: nothing does.
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
    kPodsReady,  // a cycle waits until all pods are ready
    kDevicesRefused,
    kDevicesUncounted,  // the workload controller has yet to look at it
  };
  Kind kind = Kind::kNone;
  std::string queue;  // of the four kinds that name one
  Reason reason = Reason::kEmpty;
  Message message;  // as its controller writes both

  bool IsNone() const { return kind == Kind::kNone; }
};
inline constexpr size_t kObstacleKinds = CountOf<Obstacle::Kind>();
Obstacle ObstacleOf(const State& state, const Workload& workload);

}  // namespace kueue

#endif  // KUEUE_QUESTIONS_DECISION_H_
