#include "bindings/fork_safe_mutex.h"

#include <pthread.h>

#include <atomic>
#include <new>

namespace kueue::python {
namespace {

std::atomic<uint32_t> forks{0};

}  // namespace

// All mutexes. The list is locked during a fork. This never blocks for long, because only constructors and
// destructors of mutexes lock it.
struct ForkSafeMutexes {
  std::mutex mutex;
  ForkSafeMutex* first = nullptr;

  static ForkSafeMutexes& All() {
    static ForkSafeMutexes* const all = Make();
    return *all;
  }
  static ForkSafeMutexes* Make() {
    pthread_atfork([] { All().mutex.lock(); }, [] { All().mutex.unlock(); }, &InChild);
    return new ForkSafeMutexes;
  }
  static void InChild() {
    ++forks;
    for (ForkSafeMutex* at = All().first; at != nullptr; at = at->next_) {
      if (at->mutex_.try_lock()) {
        at->mutex_.unlock();
      } else {
        at->is_lost_ = true;
        new (&at->mutex_) std::recursive_mutex;
      }
    }
    All().mutex.unlock();
  }
};

ForkSafeMutex::ForkSafeMutex() {
  ForkSafeMutexes& all = ForkSafeMutexes::All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  next_ = all.first;
  link_ = &all.first;
  if (next_ != nullptr) next_->link_ = &next_;
  all.first = this;
}

ForkSafeMutex::~ForkSafeMutex() {
  const std::lock_guard<std::mutex> lock(ForkSafeMutexes::All().mutex);
  *link_ = next_;
  if (next_ != nullptr) next_->link_ = link_;
}

uint32_t ForkCount() { return forks; }

}  // namespace kueue::python
