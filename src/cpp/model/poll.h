// Work that may take long asks periodically whether it is to go on.
#ifndef KUEUE_MODEL_POLL_H_
#define KUEUE_MODEL_POLL_H_

#include <cstdint>

namespace kueue {

// Called by Poll() every so often, on the thread that works; it may throw, and the work then ends where it
// asked. One for the whole process, given once before any work begins; null: nobody listens.
using Listener = void (*)();
void SetListener(Listener listener);

namespace poll_internal {
inline constexpr int32_t kEvery = 256;
extern thread_local int32_t left;
void Ask();
}  // namespace poll_internal

// To be called between steps that leave the state sound, each of about a microsecond or more.
inline void Poll() {
  if (--poll_internal::left <= 0) poll_internal::Ask();
}
// The same before a step that may take milliseconds.
inline void PollAtOnce() { poll_internal::Ask(); }

}  // namespace kueue

#endif  // KUEUE_MODEL_POLL_H_
