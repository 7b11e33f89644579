// The subset of MessagePack needed for plain data: nil, booleans, integers, doubles, strings, binary data and
// arrays.
// https://github.com/msgpack/msgpack/blob/master/spec.md
#ifndef KUEUE_PERSIST_MSGPACK_H_
#define KUEUE_PERSIST_MSGPACK_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace kueue {

// Appends values to a buffer. Each value is written in its shortest form, so equal values have equal bytes.
class MsgpackWriter {
 public:
  const std::string& text() const { return text_; }

  void Nil() { Byte(0xc0); }
  void Bool(bool value) { Byte(value ? 0xc3 : 0xc2); }
  void Int(int64_t value);
  void Double(double value);
  void Text(absl::string_view value);
  void Binary(absl::string_view value);
  // Writes the header of an array; its items must follow.
  void Array(size_t size);

 private:
  void Byte(uint8_t byte) { text_.push_back(static_cast<char>(byte)); }
  void Number(uint8_t mark, uint64_t value, int bytes);
  // Writes a text or binary data after the mark for its size, which `mark` is the first of.
  void Sized(uint8_t mark, absl::string_view value);

  std::string text_;
};

// Reads values from the front of a buffer. A read fails if the next value is missing or has an unexpected
// type. After the first failure, the reader keeps its position and returns zeros. The buffer must outlive the
// reader and the views that the reader returns.
class MsgpackReader {
 public:
  explicit MsgpackReader(absl::string_view text) : text_(text) {}

  bool ok() const { return ok_; }
  void Fail() { ok_ = false; }
  bool AtEnd() const { return at_ == text_.size(); }
  absl::string_view Rest() const { return text_.substr(at_); }

  // Consumes the next value if the value is nil. Returns whether the next value was nil.
  bool TakeNil() { return TakeByte(0xc0); }
  bool Bool();
  int64_t Int();
  double Double();
  absl::string_view Text();
  absl::string_view Binary();
  // If the next value is an array of this size (less than 16), consumes the header of the array. Returns
  // whether the header was consumed.
  bool TakeArray(size_t size) { return TakeByte(static_cast<uint8_t>(0x90 | size)); }
  // Reads the header of an array and returns the number of items that follow. The returned number never
  // exceeds the number of bytes left, since each item takes at least one byte.
  size_t Array();

 private:
  absl::string_view Chunk(size_t size);
  uint8_t Byte();
  bool TakeByte(uint8_t byte);
  uint64_t Number(int bytes);

  absl::string_view text_;
  size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace kueue

#endif  // KUEUE_PERSIST_MSGPACK_H_
