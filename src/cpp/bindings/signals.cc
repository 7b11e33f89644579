// Handling of Ctrl-C during long calls: runs Python's signal handlers every few milliseconds, without holding
// the GIL in between.
#include <chrono>

#include "bindings/pybind.h"
#include "model/poll.h"

namespace kueue::python {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPause(20);

void AskPython() {
  thread_local Clock::time_point asked = Clock::now();
  const Clock::time_point now = Clock::now();
  if (now - asked < kPause) return;
  asked = now;
  const py::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

}  // namespace

void BindSignals(py::module_&) { SetListener(&AskPython); }

}  // namespace kueue::python
