// Tables as Arrow streams (the Arrow C stream interface), without copying their columns.
#ifndef KUEUE_ARROW_STREAM_H_
#define KUEUE_ARROW_STREAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

// NOLINTBEGIN(readability-identifier-naming): the names of the interface
extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}
// NOLINTEND(readability-identifier-naming)

namespace kueue {

// Texts as Arrow stores them.
struct ArrowTexts {
  std::vector<int32_t> offsets{0};
  std::string bytes;

  absl::Status Add(absl::string_view text);
};

struct ArrowColumn {
  std::string name, format;
  int64_t length = 0, nulls = 0;
  const void* data = nullptr;
  std::vector<uint8_t> valid, bits;
  std::unique_ptr<ArrowTexts> texts, names;

  // Replaces `data`, one byte per value, by one bit per value.
  void PackBits();
  // Marks values below 0 as missing. The values are int32.
  void MarkMissing();
};

// Data shared by a stream and everything created from it. Any thread may be the last user.
struct ArrowTable {
  std::vector<ArrowColumn> columns;
  std::shared_ptr<const void> owner;  // Keeps the data of the columns alive.
  int64_t rows = 0;
};

// Returns a stream that the caller must release and delete.
ArrowArrayStream* NewArrowStream(std::shared_ptr<const ArrowTable> table);

}  // namespace kueue

#endif  // KUEUE_ARROW_STREAM_H_
