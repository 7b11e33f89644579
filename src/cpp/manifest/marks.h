// Scans of the text of a manifest before it is parsed.
#ifndef KUEUE_MANIFEST_MARKS_H_
#define KUEUE_MANIFEST_MARKS_H_

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace kueue {

// Returns whether the text contains control characters other than tabs and line breaks.
bool HasControls(absl::string_view text);

// Returns the offsets of document separator lines, and the offset of the first line that starts with %, if
// there is such a line.
std::pair<std::vector<size_t>, std::optional<size_t>> Marks(absl::string_view text);

}  // namespace kueue

#endif  // KUEUE_MANIFEST_MARKS_H_
