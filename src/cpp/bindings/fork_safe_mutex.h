// Synchronization between threads and across fork().
#ifndef KUEUE_BINDINGS_FORK_SAFE_MUTEX_H_
#define KUEUE_BINDINGS_FORK_SAFE_MUTEX_H_

#include <cstdint>
#include <mutex>

namespace kueue::python {

// Returns the number of forks in the chain of parent processes that led to this process, since the first
// ForkSafeMutex was made.
uint32_t ForkCount();

// A recursive mutex. After a fork, the child process can detect that another thread held the mutex at the
// time of the fork. The other thread does not exist in the child process, so the objects that it was changing
// remain incomplete there.
class ForkSafeMutex {
 public:
  ForkSafeMutex();
  ~ForkSafeMutex();
  ForkSafeMutex(const ForkSafeMutex&) = delete;
  ForkSafeMutex& operator=(const ForkSafeMutex&) = delete;

  bool TryLock() { return mutex_.try_lock(); }
  void Lock() { mutex_.lock(); }
  void Unlock() { mutex_.unlock(); }
  bool IsLost() const { return is_lost_; }

 private:
  friend struct ForkSafeMutexes;
  std::recursive_mutex mutex_;
  bool is_lost_ = false;  // Set to true in a new child process, by the only thread of that process.
  ForkSafeMutex* next_ = nullptr;
  ForkSafeMutex** link_ = nullptr;  // Address of the pointer to this mutex in the linked list of all mutexes.
};

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_FORK_SAFE_MUTEX_H_
