// Implementation of the Python class Engine.
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
#include "bindings/fork_safe_mutex.h"
#include "bindings/pybind.h"
#include "engine/engine.h"
#include "persist/compact.h"
#include "state/check.h"
#include "state/rebuild.h"

namespace kueue::python {

// Returns the id of the workload with this serial number. Python identifies workloads by serial number.
// Throws NotFound if the workload was removed or never existed.
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

// In builds with KUEUE_CHECK, throws if an invariant of the engine is violated.
inline void RequireSound([[maybe_unused]] const Engine& engine) {
#ifdef KUEUE_CHECK
  const std::vector<std::string> problems = Check(engine.state());
  if (!problems.empty()) ThrowIfError(absl::InternalError(absl::StrJoin(problems, "; ")));
#endif
}

// A Legend defines the meaning of ids that were returned by an earlier call. The ids refer to `kept`, a copy
// of the names made before the state was renumbered, or to the current state if `kept` is null.
struct Legend {
  std::shared_ptr<const State> kept;
};

// An engine protected by a mutex. Calls on one engine are serialized; calls on different engines run in
// parallel. Forks share one state until one of them changes it.
//
// A thread must not wait for the mutex while it holds the GIL, because the thread that holds the mutex may
// need the GIL to create Python objects. While Python objects are created, Python may run other threads or
// finalizers.
class SharedEngine {
 public:
  // All names that the engine's state already contains are assumed to be in use.
  explicit SharedEngine(std::shared_ptr<Engine> engine)
      : shared_(std::make_shared<Shared>(std::move(engine))), tidy_at_(NextTidy(shared_->engine->state())) {}
  ~SharedEngine() {
    if (!mutex_.IsLost()) {
      Leave();
      return;
    }
    // The thread that was changing the engine exists only in the parent process. Objects that were being
    // changed cannot be destroyed safely, so they are leaked.
    static_cast<void>(new std::shared_ptr<Shared>(std::move(shared_)));
    static_cast<void>(new std::shared_ptr<Legend>(std::move(legend_)));
  }
  SharedEngine(const SharedEngine&) = delete;
  SharedEngine& operator=(const SharedEngine&) = delete;

  std::unique_ptr<SharedEngine> Fork() {
    const Lock lock(*this);
    Build();
    shared_->users.fetch_add(1, std::memory_order_relaxed);
    return std::unique_ptr<SharedEngine>(new SharedEngine(shared_, tidy_at_));
  }

  // Runs `use` with exclusive access to the engine, after copying the state if a fork shares it. A Python
  // finalizer that runs during another call on this engine may read the engine, but not change it. The
  // function `use` must return a value.
  template <typename Use>
  auto Write(Use use) {
    const Lock lock(*this);
    if (depth_ > 1) {
      ThrowIfError(absl::FailedPreconditionError(
          "this Scheduler is in use by another call of the same thread; try again after that call"));
    }
    if (shared_->users.load(std::memory_order_acquire) > 1) {
      auto own = std::make_shared<Shared>(std::make_shared<Engine>(*shared_->engine));
      Leave();
      shared_ = std::move(own);
    }
    auto result = use(*shared_->engine);
    EndCall(shared_->engine->state());
    Tidy();
    RequireSound(*shared_->engine);
    return result;
  }
  // Same as Write(), but for a function `use` that returns nothing.
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
  // Same, for values that are independent of the derived ones. A call that reads them after each of n changes
  // needs no rebuild, and so n changes need one.
  template <typename Use>
  auto ReadStored(Use use) {
    const Lock lock(*this);
    return use(static_cast<const Engine&>(*shared_->engine));
  }

  // Returns the Legend for results that are computed now. Pass this Legend to ReadWith() to interpret the ids
  // in these results later.
  std::shared_ptr<const Legend> legend() {
    const Lock lock(*this);
    return legend_;
  }
  // Calls `use` with the state in which the ids from earlier results are valid. `legend` is the Legend that
  // was returned when these results were computed.
  template <typename Use>
  auto ReadWith(const Legend& legend, Use use) {
    return Read([&](const Engine& engine) { return use(legend.kept ? *legend.kept : engine.state()); });
  }

 private:
  // Ensures that the state is rebuilt before it is read. A state shared by forks is already up to date,
  // because it was rebuilt before the first fork.
  void Build() {
    State& state = shared_->engine->state();
    if (!state.stale || shared_->users.load(std::memory_order_acquire) > 1) return;
    if (depth_ > 1) {
      ThrowIfError(absl::FailedPreconditionError(
          "this Scheduler is in use by another call of the same thread; try again after that call"));
    }
    EnsureBuilt(state);
  }

  // Removes unused names each time the number of names has doubled.
  void Tidy() {
    State& state = shared_->engine->state();
    if (EntriesOf(state) < tidy_at_) return;
    if (legend_.use_count() > 1) legend_->kept = std::make_shared<const State>(NamesOf(state));
    legend_ = std::make_shared<Legend>();
    Compact(state);
    tidy_at_ = NextTidy(state);
  }
  // Counts the domains of the nodes, too, which Compact() removes and the next cycle adds again: otherwise
  // each write to a cluster with many nodes would compact the state.
  static size_t NextTidy(const State& state) {
    const size_t domains = state.topology.nodes.size() * state.topology.levels.size();
    return std::max(kFewEntries, 2 * (EntriesOf(state) + domains));
  }

  static constexpr size_t kFewEntries = 2048;
  // An engine and the number of its current users. Users are counted explicitly, because use_count() of a
  // shared_ptr does not guarantee that other users have finished reading.
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

  SharedEngine(std::shared_ptr<Shared> shared, size_t tidy_at)
      : shared_(std::move(shared)), tidy_at_(tidy_at) {}
  void Leave() { shared_->users.fetch_sub(1, std::memory_order_release); }

  ForkSafeMutex mutex_;
  int depth_ = 0;  // Nesting depth of the calls by the thread that holds the mutex.
  std::shared_ptr<Shared> shared_;
  std::shared_ptr<Legend> legend_ = std::make_shared<Legend>();
  size_t tidy_at_ = kFewEntries;
};

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_ENGINE_H_
