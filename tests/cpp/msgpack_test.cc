// MessagePack: shortest forms out; anything at all in.
#include "persist/msgpack.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace kueue {
namespace {

std::string Written(int64_t value) {
  MsgpackWriter out;
  out.Int(value);
  return out.text();
}

TEST(MsgpackWriter, IntegersUseTheFewestBytes) {
  EXPECT_EQ(Written(0), std::string(1, '\0'));
  EXPECT_EQ(Written(-1), "\xff");
  EXPECT_EQ(Written(127).size(), 1u);
  EXPECT_EQ(Written(-33).size(), 2u);
  EXPECT_EQ(Written(128).size(), 3u);
  EXPECT_EQ(Written(-32'769).size(), 5u);
  EXPECT_EQ(Written(int64_t{1} << 31).size(), 9u);
}

TEST(Msgpack, IntegersReadBack) {
  for (int shift = 0; shift < 63; ++shift) {
    for (const int64_t near : {-1, 0, 1}) {
      for (const int64_t sign : {-1, 1}) {
        const int64_t value = sign * ((int64_t{1} << shift) + near);
        const std::string text = Written(value);
        MsgpackReader in(text);
        EXPECT_EQ(in.Int(), value);
        EXPECT_TRUE(in.ok() && in.AtEnd());
      }
    }
  }
  const std::string least = Written(std::numeric_limits<int64_t>::min());
  EXPECT_EQ(MsgpackReader(least).Int(), std::numeric_limits<int64_t>::min());
}

TEST(Msgpack, EveryOtherKindReadsBack) {
  const std::string lengths[] = {"", std::string(31, 'a'), std::string(32, 'b'), std::string(256, 'c'),
                                 std::string(70'000, 'd')};
  MsgpackWriter out;
  out.Array(20);
  out.Nil();
  out.Bool(true);
  out.Double(-0.1);
  out.Double(std::numeric_limits<double>::infinity());
  for (const std::string& text : lengths) out.Text(text);
  for (const std::string& text : lengths) out.Binary(text + '\xff');
  out.Array(3);
  out.Text("grüße \xf0\x9f\x8e\x89");
  MsgpackReader in(out.text());
  EXPECT_EQ(in.Array(), 20u);
  EXPECT_FALSE(in.TakeArray(3));
  EXPECT_TRUE(in.TakeNil());
  EXPECT_FALSE(in.TakeNil());
  EXPECT_TRUE(in.Bool());
  EXPECT_EQ(in.Double(), -0.1);
  EXPECT_TRUE(std::isinf(in.Double()));
  for (const std::string& text : lengths) EXPECT_EQ(in.Text(), text);
  for (const std::string& text : lengths) EXPECT_EQ(in.Binary(), text + '\xff');
  EXPECT_TRUE(in.TakeArray(3));
  EXPECT_EQ(in.Text(), "grüße \xf0\x9f\x8e\x89");
  EXPECT_TRUE(in.ok() && in.AtEnd());
}

TEST(MsgpackReader, StaysFailed) {
  MsgpackReader in("\x05\xc3");
  EXPECT_FALSE(in.Bool());
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.Int(), 0);
  EXPECT_FALSE(in.Bool());
  EXPECT_EQ(in.Text(), "");
  EXPECT_EQ(in.Array(), 0u);
  EXPECT_FALSE(in.ok());
}

TEST(MsgpackReader, ChecksEveryLength) {
  for (const absl::string_view text :
       {absl::string_view("\xdb\xff\xff\xff\xff"), absl::string_view("\xda\x00\x09short", 8),
        absl::string_view("\xc6\xff\xff\xff\xff"), absl::string_view("\xdd\xff\xff\xff\xff"),
        absl::string_view("\x9f"), absl::string_view("\xdb"), absl::string_view("\xd3\x01")}) {
    MsgpackReader as_text(text), as_binary(text), as_array(text), as_number(text);
    EXPECT_EQ(as_text.Text(), "");
    EXPECT_EQ(as_binary.Binary(), "");
    EXPECT_EQ(as_array.Array(), 0u);
    as_number.Int();
    EXPECT_FALSE(as_text.ok() || as_binary.ok() || as_array.ok() || as_number.ok());
  }
}

TEST(MsgpackReader, RejectsTextThatIsNotUtf8) {
  const std::vector<std::string> wrong = {"\xff",     "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                          "\xe2\x82", "a\x80"};
  for (const std::string& bytes : wrong) {
    MsgpackWriter out;
    out.Text(bytes);
    MsgpackReader in(out.text());
    in.Text();
    EXPECT_FALSE(in.ok());
  }
}

// Whatever the bytes, each kind of read ends within them.
TEST(MsgpackReader, AnyTwoBytesAreReadOrRejected) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const char bytes[] = {static_cast<char>(first), static_cast<char>(second)};
      const absl::string_view text(bytes, sizeof bytes);
      MsgpackReader readers[] = {MsgpackReader(text), MsgpackReader(text), MsgpackReader(text),
                                 MsgpackReader(text), MsgpackReader(text), MsgpackReader(text)};
      readers[0].Int();
      readers[1].Text();
      readers[2].Binary();
      EXPECT_LE(readers[3].Array(), 1u);
      readers[4].Double();
      readers[5].Bool();
      for (const MsgpackReader& reader : readers) EXPECT_LE(reader.Rest().size(), reader.ok() ? 1u : 2u);
    }
  }
}

}  // namespace
}  // namespace kueue
