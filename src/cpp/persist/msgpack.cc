#include "persist/msgpack.h"

#include <limits>

#include "absl/base/casts.h"

namespace kueue {
namespace {

// Returns whether the text is valid UTF-8, without overlong forms and surrogates.
bool IsUtf8(absl::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const auto first = static_cast<uint8_t>(text[at++]);
    if (first < 0x80) continue;
    const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    uint32_t point = first & (0x3f >> more);
    if (first < 0xc2 || first > 0xf4 || text.size() - at < static_cast<size_t>(more)) return false;
    for (int i = 0; i < more; ++i) {
      const auto next = static_cast<uint8_t>(text[at++]);
      if ((next & 0xc0) != 0x80) return false;
      point = point << 6 | (next & 0x3f);
    }
    constexpr uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
    if (point < kLeast[more] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return false;
  }
  return true;
}

}  // namespace

void MsgpackWriter::Number(uint8_t mark, uint64_t value, int bytes) {
  Byte(mark);
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) Byte(static_cast<uint8_t>(value >> shift));
}

void MsgpackWriter::Int(int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  if (value >= -32 && value < 128) {
    Byte(static_cast<uint8_t>(bits));
  } else if (value >= std::numeric_limits<int8_t>::min() && value <= std::numeric_limits<int8_t>::max()) {
    Number(0xd0, bits, 1);
  } else if (value >= std::numeric_limits<int16_t>::min() && value <= std::numeric_limits<int16_t>::max()) {
    Number(0xd1, bits, 2);
  } else if (value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max()) {
    Number(0xd2, bits, 4);
  } else {
    Number(0xd3, bits, 8);
  }
}

void MsgpackWriter::Double(double value) { Number(0xcb, absl::bit_cast<uint64_t>(value), 8); }

void MsgpackWriter::Sized(uint8_t mark, absl::string_view value) {
  const int width = value.size() < 0x100 ? 0 : value.size() < 0x10000 ? 1 : 2;
  Number(static_cast<uint8_t>(mark + width), value.size(), 1 << width);
  text_.append(value.data(), value.size());
}

void MsgpackWriter::Text(absl::string_view value) {
  if (value.size() >= 32) return Sized(0xd9, value);
  Byte(static_cast<uint8_t>(0xa0 | value.size()));
  text_.append(value.data(), value.size());
}

void MsgpackWriter::Binary(absl::string_view value) { Sized(0xc4, value); }

void MsgpackWriter::Array(size_t size) {
  if (size < 16) {
    Byte(static_cast<uint8_t>(0x90 | size));
  } else if (size < 0x10000) {
    Number(0xdc, size, 2);
  } else {
    Number(0xdd, size, 4);
  }
}

uint8_t MsgpackReader::Byte() {
  if (!ok_ || AtEnd()) {
    ok_ = false;
    return 0;
  }
  return static_cast<uint8_t>(text_[at_++]);
}

uint64_t MsgpackReader::Number(int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value = value << 8 | Byte();
  return value;
}

bool MsgpackReader::TakeByte(uint8_t byte) {
  if (!ok_ || AtEnd() || static_cast<uint8_t>(text_[at_]) != byte) return false;
  ++at_;
  return true;
}

bool MsgpackReader::Bool() {
  const uint8_t mark = Byte();
  if (mark != 0xc2 && mark != 0xc3) Fail();
  return mark == 0xc3;
}

int64_t MsgpackReader::Int() {
  const uint8_t mark = Byte();
  if (mark < 0x80 || mark >= 0xe0) return static_cast<int8_t>(mark);
  switch (mark) {
    case 0xd0:
      return static_cast<int8_t>(Number(1));
    case 0xd1:
      return static_cast<int16_t>(Number(2));
    case 0xd2:
      return static_cast<int32_t>(Number(4));
    case 0xd3:
      return static_cast<int64_t>(Number(8));
    default:
      Fail();
      return 0;
  }
}

double MsgpackReader::Double() {
  if (Byte() != 0xcb) Fail();
  const uint64_t bits = Number(8);
  return ok_ ? absl::bit_cast<double>(bits) : 0;
}

absl::string_view MsgpackReader::Text() {
  const uint8_t mark = Byte();
  size_t size = mark & 0x1f;
  if (mark == 0xd9 || mark == 0xda || mark == 0xdb) {
    size = Number(1 << (mark - 0xd9));
  } else if ((mark & 0xe0) != 0xa0) {
    Fail();
  }
  const absl::string_view text = Chunk(size);
  if (!IsUtf8(text)) Fail();
  return ok_ ? text : absl::string_view();
}

absl::string_view MsgpackReader::Binary() {
  const uint8_t mark = Byte();
  if (mark != 0xc4 && mark != 0xc5 && mark != 0xc6) Fail();
  return ok_ ? Chunk(Number(1 << (mark - 0xc4))) : absl::string_view();
}

absl::string_view MsgpackReader::Chunk(size_t size) {
  if (!ok_ || size > text_.size() - at_) {
    Fail();
    return absl::string_view();
  }
  const absl::string_view value = text_.substr(at_, size);
  at_ += size;
  return value;
}

size_t MsgpackReader::Array() {
  const uint8_t mark = Byte();
  size_t size = mark & 0x0f;
  if (mark == 0xdc || mark == 0xdd) {
    size = Number(mark == 0xdc ? 2 : 4);
  } else if ((mark & 0xf0) != 0x90) {
    Fail();
  }
  if (!ok_ || size > text_.size() - at_) {
    Fail();
    return 0;
  }
  return size;
}

}  // namespace kueue
