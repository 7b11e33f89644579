// Result of one cycle. Names are resolved when Python reads the record.
#ifndef KUEUE_BINDINGS_DECISION_H_
#define KUEUE_BINDINGS_DECISION_H_

#include <vector>

#include "bindings/engine.h"
#include "bindings/pybind.h"
#include "questions/decision.h"

namespace kueue::python {

struct CycleRecord {
  CycleResult result;
  std::vector<DecisionRecord> decisions;
  // Number of active workloads left in BestEffortFIFO queues after the cycle. If nothing else changes, each
  // of them becomes a head in a later cycle.
  int64_t ahead = 0;
};

// Returns ((pod set, count, {resource: (flavor, amount)}, placement, delayed), ...). `delayed` is "Pending"
// or "Ready" if the topology assignment was delayed, otherwise "". See kueuepy.engine.facts.
py::tuple ViewAdmission(const State& state, const Admission& admission);
py::tuple ViewAttempts(const State& state, const DecisionRecord& record);
py::tuple ViewTargets(const State& state, const std::vector<TargetRecord>& targets);
const char* ReasonName(PreemptionReason reason);
const char* ModeName(PreemptionMode mode);
const char* VerdictName(Verdict verdict);

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_DECISION_H_
