// The whole state of an engine as plain data, and back: what goes on from there is what would have gone on.
#ifndef KUEUE_PERSIST_PERSIST_H_
#define KUEUE_PERSIST_PERSIST_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "state/state.h"

namespace kueue {

// MessagePack: ["kueuepy-state", version, [kind of record, its fields]s, what the state points at, the
// state]. What is gone is left out, and what is there is numbered by what it is (persist/compact.h), so that
// the bytes tell what there is and what happens next, and nothing of what was there before.
std::string SaveState(const State& state);

// The state that was saved. InvalidArgument where the text is not what SaveState writes, FailedPrecondition
// where it is of a version that this one does not know. Any text is safe to read.
absl::StatusOr<State> LoadState(absl::string_view text);

// What keeps the numbers of the state from referring to one another: empty where nothing does.
std::string BrokenReference(const State& state);

}  // namespace kueue

#endif  // KUEUE_PERSIST_PERSIST_H_
