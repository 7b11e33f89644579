// What several threads, and processes that fork, may do with the objects of the core.
#ifndef KUEUE_BINDINGS_THREADS_H_
#define KUEUE_BINDINGS_THREADS_H_

#include <atomic>
#include <cstdint>
#include <mutex>

namespace kueue::python {

// A recursive mutex that a child process can tell to be lost: another thread held it when the process forked.
// That thread does not exist in the child, and what it was changing is incomplete there.
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
  bool is_lost_ = false;  // set by the only thread of a new child
  ForkSafeMutex* next_ = nullptr;
  ForkSafeMutex** link_ = nullptr;  // the pointer to this mutex in the list of all
};

// The right to use an object, which one thread at a time has.
class Turn {
 public:
  // Raises StateError where another thread has it, or waits for that thread where `waits` is true. The thread
  // that has it may take it again where `again` is true.
  void Enter(const char* what, bool again, bool waits = false);
  void Leave();
  // Whether a thread had it that does not exist in this process, since that was forked.
  bool IsLost() const;

 private:
  std::atomic<uint64_t> holder_{0};  // the fork and the thread; 0: none
  int depth_ = 0;
};

// Takes a turn for the length of a call, which may not be entered again.
class Alone {
 public:
  Alone(Turn& turn, const char* what) : turn_(turn) { turn_.Enter(what, /*again=*/false); }
  // Where `waits` is true, waits until another thread has left: for objects whose calls are all short.
  Alone(Turn& turn, const char* what, bool waits) : turn_(turn) { turn_.Enter(what, /*again=*/false, waits); }
  ~Alone() { turn_.Leave(); }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  Turn& turn_;
};

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_THREADS_H_
