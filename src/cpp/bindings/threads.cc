#include "bindings/threads.h"

#include <chrono>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "bindings/errors.h"
#include "bindings/fork_safe_mutex.h"
#include "bindings/pybind.h"
#include "model/poll.h"

namespace kueue::python {
namespace {

// Returns a number that identifies the calling thread. No other thread has the same number, not even in a
// child process.
uint32_t ThreadNumber() {
  static std::atomic<uint32_t> last{0};
  thread_local const uint32_t number = ++last;
  return number;
}

uint64_t Me() { return static_cast<uint64_t>(ForkCount()) << 32 | ThreadNumber(); }
bool IsMe(uint64_t holder) { return static_cast<uint32_t>(holder) == ThreadNumber(); }
bool IsOfThisProcess(uint64_t holder) { return static_cast<uint32_t>(holder >> 32) == ForkCount(); }

// Runs Python's signal handlers every few milliseconds, without holding the GIL in between, so that Ctrl-C
// ends a long call.
void CheckSignals() {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds pause(20);
  thread_local Clock::time_point checked = Clock::now();
  const Clock::time_point now = Clock::now();
  if (now - checked < pause) return;
  checked = now;
  const py::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

}  // namespace

void Turn::Enter(const char* what, bool again, bool waits) {
  uint64_t holder = 0;
  while (!holder_.compare_exchange_strong(holder, Me(), std::memory_order_acquire)) {
    if (!waits || IsMe(holder) || !IsOfThisProcess(holder)) break;
    const py::gil_scoped_release release;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    holder = 0;
  }
  if (holder == 0) {
    depth_ = 1;
    return;
  }
  if (IsMe(holder) && again) {
    ++depth_;
    return;
  }
  const char* why = IsMe(holder) ? " is in use by another call of the same thread; try again after that call"
                    : IsOfThisProcess(holder)
                        ? " is in use by another thread; use it in one thread at a time, "
                          "or fork() it for each"
                        : " was in use by another thread when this process was forked, and "
                          "is incomplete here; make it again in this process";
  ThrowIfError(absl::FailedPreconditionError(absl::StrCat(what, why)));
}

void Turn::Leave() {
  if (--depth_ == 0) holder_.store(0, std::memory_order_release);
}

bool Turn::IsLost() const {
  const uint64_t holder = holder_.load(std::memory_order_relaxed);
  return holder != 0 && !IsMe(holder) && !IsOfThisProcess(holder);
}

void BindThreads(py::module_& module) {
  SetListener(&CheckSignals);
  struct Named {
    std::string what;
    Turn turn;
    explicit Named(std::string name) : what(std::move(name)) {}
  };
  py::class_<Named>(module, "Turn")
      .def(py::init<std::string>(), py::arg("what"))
      .def("__enter__", [](Named& self) { self.turn.Enter(self.what.c_str(), /*again=*/true); })
      .def("__exit__", [](Named& self, const py::args&) { self.turn.Leave(); });
}

}  // namespace kueue::python
