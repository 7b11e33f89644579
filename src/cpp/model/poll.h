// Interruption points of long computations.
#ifndef KUEUE_MODEL_POLL_H_
#define KUEUE_MODEL_POLL_H_

#include <cstdint>

namespace kueue {

// Callback that Poll() invokes periodically, on the thread that runs the computation. The callback may throw
// an exception, which aborts the computation at that point. There is one listener per process; set the
// listener before any computation starts. Pass null to remove the listener.
using Listener = void (*)();
void SetListener(Listener listener);

namespace poll_internal {
inline constexpr int32_t kEvery = 256;
extern thread_local int32_t left;
extern thread_local bool is_muted;
void Ask();
}  // namespace poll_internal

// Marks an interruption point. Call this function between steps of about a microsecond or more, at points
// where the state is consistent.
inline void Poll() {
  if (--poll_internal::left <= 0) poll_internal::Ask();
}
// Makes interruption points have no effect on this thread. Only the thread of the caller, which may wait for
// this thread, is interrupted.
inline void MutePolls() { poll_internal::is_muted = true; }
// Makes interruption points have no effect on this thread during its lifetime, because the computation cannot
// continue from them.
class PollsMuted {
 public:
  PollsMuted() : before_(poll_internal::is_muted) { poll_internal::is_muted = true; }
  ~PollsMuted() { poll_internal::is_muted = before_; }
  PollsMuted(const PollsMuted&) = delete;
  PollsMuted& operator=(const PollsMuted&) = delete;

 private:
  bool before_;
};
// Calls the listener immediately. Call this function before a step that may take milliseconds.
inline void PollAtOnce() { poll_internal::Ask(); }

}  // namespace kueue

#endif  // KUEUE_MODEL_POLL_H_
