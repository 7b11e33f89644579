// Result of one scheduling cycle. The ids in the record are resolved to names when Python reads the record.
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
  // of the active workloads left becomes the head of its queue in a later cycle.
  int64_t ahead = 0;
};

// Returns a tuple with a PodSetAdmissionView for each pod set of the admission.
py::tuple ViewAdmission(const State& state, const Admission& admission);
DecisionView ViewDecision(const State& state, const DecisionRecord& record, std::string message);
const char* ReasonName(PreemptionReason reason);
const char* ModeName(PreemptionMode mode);
const char* VerdictName(Verdict verdict);

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_DECISION_H_
