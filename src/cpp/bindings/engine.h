// What the Python class Engine holds.
#ifndef KUEUE_BINDINGS_ENGINE_H_
#define KUEUE_BINDINGS_ENGINE_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "bindings/errors.h"
#include "bindings/pybind.h"
#include "engine/engine.h"
#include "state/check.h"

namespace kueue::python {

// Python knows a workload by its serial number. Where it is; throws where it is gone or never was.
inline WorkloadId PlaceOf(const State& state, Serial serial) {
  const WorkloadId id = state.workloads.Find(serial);
  if (id == kNoId || state.At(id).deleted) {
    ThrowIfError(absl::NotFoundError(absl::StrCat("no workload has the id ", serial)));
  }
  return id;
}
inline const Workload& WorkloadOf(const State& state, Serial serial) {
  return state.At(PlaceOf(state, serial));
}

// In test builds (KUEUE_CHECK): throws where an invariant of the engine does not hold.
inline void RequireSound([[maybe_unused]] const Engine& engine) {
#ifdef KUEUE_CHECK
  const std::vector<std::string> problems = Check(engine.state());
  if (!problems.empty()) ThrowIfError(absl::InternalError(absl::StrJoin(problems, "; ")));
#endif
}

// An engine behind a mutex: calls on one are serialised, those on different ones run at once. Forks share one
// state until either of them changes it.
//
// Nobody waits for the mutex while holding the GIL. So whoever has the mutex gets the GIL in the end, which a
// call that makes Python objects may need to do: Python may run other threads, or finalizers, in the midst of
// it.
class SharedEngine {
 public:
  explicit SharedEngine(std::shared_ptr<Engine> engine)
      : shared_(std::make_shared<Shared>(std::move(engine))) {}
  ~SharedEngine() { Leave(); }
  SharedEngine(const SharedEngine&) = delete;
  SharedEngine& operator=(const SharedEngine&) = delete;

  std::unique_ptr<SharedEngine> Fork() {
    const Lock lock(*this);
    shared_->users.fetch_add(1, std::memory_order_relaxed);
    return std::unique_ptr<SharedEngine>(new SharedEngine(shared_));
  }

  // Runs `use` on the engine alone; the state is copied first where a fork shares it. A finalizer that Python
  // runs in the midst of another call on this engine may read it, not change it. `use` returns something.
  template <typename Use>
  auto Write(Use use) {
    const Lock lock(*this);
    if (depth_ > 1) {
      ThrowIfError(
          absl::FailedPreconditionError("this engine is in the midst of another call of the same thread"));
    }
    if (shared_->users.load(std::memory_order_acquire) > 1) {
      auto own = std::make_shared<Shared>(std::make_shared<Engine>(*shared_->engine));
      Leave();
      shared_ = std::move(own);
    }
    auto result = use(*shared_->engine);
    // Whoever reads finds it built; and when it is built does not depend on who reads, as a journal's replay
    // asks.
    shared_->engine->state().EnsureBuilt();
    RequireSound(*shared_->engine);
    return result;
  }
  template <typename Use>
  auto Read(Use use) {
    const Lock lock(*this);
    return use(static_cast<const Engine&>(*shared_->engine));
  }

 private:
  // The count is the project's own: that of shared_ptr does not say that the other users are done reading.
  struct Shared {
    explicit Shared(std::shared_ptr<Engine> value) : engine(std::move(value)) {}
    std::shared_ptr<Engine> engine;
    std::atomic<int> users{1};
  };

  class Lock {
   public:
    explicit Lock(SharedEngine& engine) : engine_(engine) {
      if (!engine_.mutex_.try_lock()) {
        if (PyGILState_Check() != 0) {
          const py::gil_scoped_release release;
          engine_.mutex_.lock();
        } else {
          engine_.mutex_.lock();
        }
      }
      ++engine_.depth_;
    }
    ~Lock() {
      --engine_.depth_;
      engine_.mutex_.unlock();
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    SharedEngine& engine_;
  };

  explicit SharedEngine(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  void Leave() { shared_->users.fetch_sub(1, std::memory_order_release); }

  std::recursive_mutex mutex_;
  int depth_ = 0;  // calls of the thread that has the mutex
  std::shared_ptr<Shared> shared_;
};

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_ENGINE_H_
