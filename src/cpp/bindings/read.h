// Python's values as values of the core, and helpers for the arguments of bound functions.
#ifndef KUEUE_BINDINGS_READ_H_
#define KUEUE_BINDINGS_READ_H_

#include <optional>
#include <string>
#include <vector>

#include "bindings/pybind.h"
#include "engine/engine.h"
#include "objects/value.h"

namespace kueue::python {

// Returns a reference to an object, with which the readers of the core (objects/) read it. The fields of a
// record are its attributes; a map is a dict, and a list is a list or a tuple.
Value ValueOf(const py::handle& object);

// Returns a cached Python string for a literal. Fields are read so often that creating a Python string for
// each field name every time would be slow.
py::handle Interned(const char* literal);

// Reads a row of a job table as a workload without a status. Returns nullopt unless the row is known to be
// valid.
std::optional<WorkloadObject> ReadPlainRow(const py::handle& row);

// A workload that was converted once; Python's class Question.
struct Question {
  WorkloadObject object;
};

// Returns the results of `read` for the items of a sequence.
template <typename Read>
auto ReadItems(const py::handle& sequence, Read read) {
  std::vector<decltype(read(sequence))> all;
  for (const py::handle& item : sequence) all.push_back(read(item));
  return all;
}
std::string Briefly(const py::handle& value);  // The repr of a value, or its type if repr() fails.

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_READ_H_
