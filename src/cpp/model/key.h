// Parts of the keys of caches.
#ifndef KUEUE_MODEL_KEY_H_
#define KUEUE_MODEL_KEY_H_

#include <string>

#include "absl/strings/str_cat.h"

namespace kueue {

// Prefixes the part with its length, so that different lists of parts have different keys.
inline void AppendPart(std::string& key, absl::string_view part) {
  absl::StrAppend(&key, part.size(), ":", part, ";");
}

}  // namespace kueue

#endif  // KUEUE_MODEL_KEY_H_
