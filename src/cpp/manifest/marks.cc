#include "manifest/marks.h"

#include <cstring>

namespace kueue {

bool HasControls(absl::string_view text) {
  constexpr size_t kAtOnce = 1 << 16;
  for (; !text.empty(); text.remove_prefix(text.size() < kAtOnce ? text.size() : kAtOnce)) {
    unsigned found = 0;
    for (const char each : text.substr(0, kAtOnce)) {
      const auto c = static_cast<unsigned char>(each);
      found |= static_cast<unsigned>((c < 0x20) & (c != '\t') & (c != '\n') & (c != '\r')) | (c == 0x7f);
    }
    if (found != 0) return true;
  }
  return false;
}

std::pair<std::vector<size_t>, std::optional<size_t>> Marks(absl::string_view text) {
  std::vector<size_t> marks;
  std::optional<size_t> directive;
  const char* const end = text.data() + text.size();
  for (const char* line = text.data(); line != end;) {
    const auto left = static_cast<size_t>(end - line), offset = static_cast<size_t>(line - text.data());
    if (*line == '%' && !directive) directive = offset;
    if (left >= 3 && (*line == '-' || *line == '.') && line[1] == *line && line[2] == *line &&
        (left == 3 || std::strchr(" \t\r\n", line[3]) != nullptr)) {
      marks.push_back(offset);
    }
    const void* const next = std::memchr(line, '\n', left);
    if (next == nullptr) break;
    line = static_cast<const char*>(next) + 1;
  }
  return {std::move(marks), directive};
}

}  // namespace kueue
