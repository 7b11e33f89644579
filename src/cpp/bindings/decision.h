// What one cycle decided, named when Python asks for it.
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
  int64_t ahead = 0;  // active workloads of BestEffortFIFO queues after it: each is a head once
};

// ((pod set, count, {resource: (flavor, amount)}, place, delayed), ...): where its pods go, and whether that
// is Pending or was. See kueuepy.engine.facts.
py::tuple ViewAdmission(const State& state, const Admission& admission);
py::tuple ViewAttempts(const State& state, const DecisionRecord& record);
py::tuple ViewTargets(const State& state, const std::vector<TargetRecord>& targets);
const char* ReasonName(PreemptionReason reason);
const char* ModeName(PreemptionMode mode);
const char* VerdictName(Verdict verdict);

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_DECISION_H_
