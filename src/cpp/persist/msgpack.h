// MessagePack, as much of it as plain data needs: nil, booleans, integers, doubles, texts, bytes and
// arrays.
// https://github.com/msgpack/msgpack/blob/master/spec.md
#ifndef KUEUE_PERSIST_MSGPACK_H_
#define KUEUE_PERSIST_MSGPACK_H_

#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/string_view.h"

namespace kueue {

// Appends values to a text; each in its shortest form, so that equal values have equal bytes.
class MsgpackWriter {
 public:
  const std::string& text() const { return text_; }

  void Nil() { Byte(0xc0); }
  void Bool(bool value) { Byte(value ? 0xc3 : 0xc2); }
  void Int(int64_t value);
  void Double(double value);
  void Text(absl::string_view value);
  void Binary(absl::string_view value);
  // The items follow.
  void Array(size_t size);

 private:
  void Byte(uint8_t byte) { text_.push_back(static_cast<char>(byte)); }
  void Number(uint8_t mark, uint64_t value, int bytes);

  std::string text_;
};

// Takes values off the front of a text. After the first value that is missing or of another kind than asked
// for, the reader has failed: it stays where it is and gives zeros.
class MsgpackReader {
 public:
  explicit MsgpackReader(absl::string_view text) : text_(text) {}

  bool ok() const { return ok_; }
  void Fail() { ok_ = false; }
  bool AtEnd() const { return at_ == text_.size(); }
  absl::string_view Rest() const { return text_.substr(at_); }

  // Whether a nil is next; it is taken.
  bool TakeNil() { return TakeByte(0xc0); }
  bool Bool();
  int64_t Int();
  double Double();
  absl::string_view Text();
  absl::string_view Binary();
  // Whether an array of this size (below 16) is next; its head is taken.
  bool TakeArray(size_t size) { return TakeByte(static_cast<uint8_t>(0x90 | size)); }
  // How many items follow: never more than there are bytes left, as each takes one at least.
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
