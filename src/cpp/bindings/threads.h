// Exclusive use of the core's objects by one thread of Python.
#ifndef KUEUE_BINDINGS_THREADS_H_
#define KUEUE_BINDINGS_THREADS_H_

#include <atomic>
#include <cstdint>

namespace kueue::python {

// Exclusive right to use an object, held by one thread at a time.
class Turn {
 public:
  // Acquires the exclusive right to use the object. If another thread holds the right, waits if `waits` is
  // true and otherwise raises StateError. If `again` is true, the thread that holds the right may acquire it
  // again.
  void Enter(const char* what, bool again, bool waits = false);
  void Leave();
  // Returns whether another thread held the right when this process was forked. The child process does not
  // contain the thread that held the right.
  bool IsLost() const;

 private:
  // Fork count and id of the thread that holds the right; 0 if no thread holds it.
  std::atomic<uint64_t> holder_{0};
  int depth_ = 0;
};

// Holds a Turn for the duration of a call. Re-entrant calls from the same thread are rejected.
class Alone {
 public:
  Alone(Turn& turn, const char* what) : turn_(turn) { turn_.Enter(what, /*again=*/false); }
  // If `waits` is true, waits for another thread to finish. Waiting is suitable only for objects without
  // long-running calls.
  Alone(Turn& turn, const char* what, bool waits) : turn_(turn) { turn_.Enter(what, /*again=*/false, waits); }
  ~Alone() { turn_.Leave(); }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  Turn& turn_;
};

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_THREADS_H_
