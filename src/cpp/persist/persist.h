// Saves and loads the complete state of an engine. A loaded engine makes the same decisions as the engine
// that was saved.
#ifndef KUEUE_PERSIST_PERSIST_H_
#define KUEUE_PERSIST_PERSIST_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "state/state.h"

namespace kueue {

// Returns the state as MessagePack: ["kueuepy-state", version, list of [kind of record, its fields], pool of
// shared objects, state]. Removed objects are omitted and ids are canonical (persist/compact.h), so the bytes
// depend only on the present contents and not on the history.
std::string SaveState(const State& state);

// Loads a saved state. Returns InvalidArgument if the data was not written by SaveState(), and
// FailedPrecondition if its version is unknown. LoadState() is safe for arbitrary input.
absl::StatusOr<State> LoadState(absl::string_view text);

// Returns a description of the first id in the state that refers to no object, or an empty string.
std::string BrokenReference(const State& state);

}  // namespace kueue

#endif  // KUEUE_PERSIST_PERSIST_H_
