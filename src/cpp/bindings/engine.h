// What the Python class Engine holds.
#ifndef KUEUE_BINDINGS_ENGINE_H_
#define KUEUE_BINDINGS_ENGINE_H_

#include <memory>
#include <mutex>

#include "scheduler/engine.h"

namespace kueue::python {

// An engine behind a mutex. Forks share one state until either of them changes it.
class SharedEngine {
 public:
  explicit SharedEngine(std::shared_ptr<Engine> engine) : engine_(std::move(engine)) {}

  std::unique_ptr<SharedEngine> Fork() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::make_unique<SharedEngine>(engine_);
  }

  // Runs `use` on the engine alone; the state is copied first where a fork shares it.
  template <typename Use>
  auto Write(Use use) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (engine_.use_count() > 1) engine_ = std::make_shared<Engine>(*engine_);
    return use(*engine_);
  }
  template <typename Use>
  auto Read(Use use) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return use(static_cast<const Engine&>(*engine_));
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<Engine> engine_;
};

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_ENGINE_H_
