// What one cycle decided, kept as facts until Python asks for it.
#ifndef KUEUE_BINDINGS_DECISION_H_
#define KUEUE_BINDINGS_DECISION_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings/engine.h"
#include "bindings/pybind.h"

namespace kueue::python {

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

struct CycleRecord {
  CycleResult result;
  std::vector<DecisionRecord> decisions;
};

// How an entry ended, read off the engine after its cycle or off a nomination that changed nothing.
DecisionRecord Decided(const State& state, const Entry& entry);
DecisionRecord Asked(const State& state, const Entry& entry);

// What keeps the workload out of every cycle, as its controller writes it; no text where nothing does.
std::pair<Reason, std::string> Obstacle(const State& state, const Workload& workload);

// ((pod set, count, {resource: (flavor, amount)}), ...).
py::tuple ViewAdmission(const State& state, const Admission& admission);
py::tuple ViewAttempts(const State& state, const DecisionRecord& record);
py::tuple ViewTargets(const State& state, const std::vector<TargetRecord>& targets);
const char* ReasonName(PreemptionReason reason);
const char* ModeName(PreemptionMode mode);
const char* VerdictName(Verdict verdict);

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_DECISION_H_
