// What the Python class Engine holds.
#ifndef KUEUE_BINDINGS_ENGINE_H_
#define KUEUE_BINDINGS_ENGINE_H_

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "bindings/errors.h"
#include "bindings/pybind.h"
#include "bindings/threads.h"
#include "engine/engine.h"
#include "persist/compact.h"
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

// What the ids in an answer mean that is looked at later: what the engine says, as long as `kept` is null;
// else what it said before it numbered its names anew.
struct Legend {
  std::shared_ptr<const State> kept;
};

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
  ~SharedEngine() {
    if (!mutex_.IsLost()) {
      Leave();
      return;
    }
    // The thread that was changing it is in another process: what it left behind cannot be taken apart.
    static_cast<void>(new std::shared_ptr<Shared>(std::move(shared_)));
    static_cast<void>(new std::shared_ptr<Legend>(std::move(legend_)));
  }
  SharedEngine(const SharedEngine&) = delete;
  SharedEngine& operator=(const SharedEngine&) = delete;

  std::unique_ptr<SharedEngine> Fork() {
    const Lock lock(*this);
    Build();
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
    shared_->engine->state().EndCall();
    Tidy();
    RequireSound(*shared_->engine);
    return result;
  }
  // The same where nothing is returned.
  template <typename Use>
  void Change(Use use) {
    Write([&use](Engine& engine) {
      use(engine);
      return 0;
    });
  }
  template <typename Use>
  auto Read(Use use) {
    const Lock lock(*this);
    Build();
    return use(static_cast<const Engine&>(*shared_->engine));
  }

  // What ids mean that a call gives now.
  std::shared_ptr<const Legend> legend() {
    const Lock lock(*this);
    return legend_;
  }
  // Reads with the state that ids of that legend belong to.
  template <typename Use>
  auto ReadWith(const Legend& legend, Use use) {
    return Read([&](const Engine& engine) { return use(legend.kept ? *legend.kept : engine.state()); });
  }

 private:
  // Whoever reads finds the state built. One that forks share is: it was built before the first fork.
  void Build() {
    State& state = shared_->engine->state();
    if (!state.stale || shared_->users.load(std::memory_order_acquire) > 1) return;
    if (depth_ > 1) {
      ThrowIfError(
          absl::FailedPreconditionError("this engine is in the midst of another call of the same thread"));
    }
    state.EnsureBuilt();
  }

  // Forgets names that nothing needs any more, once they may be half of what there is.
  void Tidy() {
    State& state = shared_->engine->state();
    if (EntriesOf(state) < tidy_at_) return;
    if (legend_.use_count() > 1) legend_->kept = std::make_shared<const State>(NamesOf(state));
    legend_ = std::make_shared<Legend>();
    Compact(state);
    tidy_at_ = std::max(kFewEntries, 2 * EntriesOf(state));
  }

  static constexpr size_t kFewEntries = 2048;
  // The count is the project's own: that of shared_ptr does not say that the other users are done reading.
  struct Shared {
    explicit Shared(std::shared_ptr<Engine> value) : engine(std::move(value)) {}
    std::shared_ptr<Engine> engine;
    std::atomic<int> users{1};
  };

  class Lock {
   public:
    explicit Lock(SharedEngine& engine) : engine_(engine) {
      if (!engine_.mutex_.TryLock()) {
        if (PyGILState_Check() != 0) {
          const py::gil_scoped_release release;
          engine_.mutex_.Lock();
        } else {
          engine_.mutex_.Lock();
        }
      }
      if (engine_.mutex_.IsLost()) {
        engine_.mutex_.Unlock();
        ThrowIfError(
            absl::FailedPreconditionError("this Scheduler was in use by another thread when this process was "
                                          "forked, and is incomplete here; "
                                          "make it again in this process, or fork while no call is running"));
      }
      ++engine_.depth_;
    }
    ~Lock() {
      --engine_.depth_;
      engine_.mutex_.Unlock();
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    SharedEngine& engine_;
  };

  explicit SharedEngine(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  void Leave() { shared_->users.fetch_sub(1, std::memory_order_release); }

  ForkSafeMutex mutex_;
  int depth_ = 0;  // calls of the thread that has the mutex
  std::shared_ptr<Shared> shared_;
  std::shared_ptr<Legend> legend_ = std::make_shared<Legend>();
  size_t tidy_at_ = kFewEntries;
};

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_ENGINE_H_
