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
// Returns an Admitted, Preempting or Pending of kueuepy.engine.decisions.
py::object ViewDecision(const State& state, const DecisionRecord& record, absl::string_view message,
                        const py::tuple& not_modelled);

// Returns a tuple with the result of `make` for each item.
template <typename Items, typename Make>
py::tuple TupleOf(const Items& items, Make make) {
  py::tuple made(items.size());
  ssize_t at = 0;
  for (const auto& item : items) {
    PyTuple_SET_ITEM(made.ptr(), at++, py::detail::object_or_cast(make(item)).release().ptr());
  }
  return made;
}

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_DECISION_H_
