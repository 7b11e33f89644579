#include "model/poll.h"

#include <atomic>

namespace kueue {
namespace {

std::atomic<Listener> g_listener{nullptr};

}  // namespace

void SetListener(Listener listener) { g_listener.store(listener, std::memory_order_relaxed); }

namespace poll_internal {

thread_local int32_t left = kEvery;
thread_local bool is_muted = false;

void Ask() {
  left = kEvery;
  if (is_muted) return;
  if (const Listener listener = g_listener.load(std::memory_order_relaxed)) listener();
}

}  // namespace poll_internal
}  // namespace kueue
