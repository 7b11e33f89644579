// Result of one cycle. Names are resolved when Python reads the record.
#ifndef KUEUE_BINDINGS_DECISION_H_
#define KUEUE_BINDINGS_DECISION_H_

#include <string>
#include <vector>

#include "bindings/engine.h"
#include "bindings/pybind.h"
#include "bindings/records.h"
#include "questions/decision.h"

namespace kueue::python {

struct CycleRecord {
  CycleResult result;
  std::vector<DecisionRecord> decisions;
  // Number of active workloads left in BestEffortFIFO queues after the cycle. If nothing else changes, each
  // of them becomes a head in a later cycle.
  int64_t ahead = 0;
};

// Returns a PodSetAdmissionView for each pod set.
py::tuple ViewAdmission(const State& state, const Admission& admission);
DecisionView ViewDecision(const State& state, const DecisionRecord& record, std::string message);
const char* ReasonName(PreemptionReason reason);
const char* ModeName(PreemptionMode mode);
const char* VerdictName(Verdict verdict);

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_DECISION_H_
