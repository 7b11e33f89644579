// Exact numbers and the texts that write them.
#include "quantity/quantity.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "quantity/nano.h"

namespace kueue {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();

Decimal Number(const char* integer, const char* fraction = "", int exponent = 0) {
  return Decimal::FromDigits(integer, fraction, exponent);
}

Quantity Read(absl::string_view text) { return Quantity::Parse(text).value(); }

TEST(Decimal, HasOneRepresentation) {
  EXPECT_EQ(Number("1", "", 9), Number("1000000000"));
  EXPECT_EQ(Number("0010", "500"), Number("105", "", -1));
  EXPECT_EQ(Number("", "000"), Decimal());
  EXPECT_EQ(-Decimal(), Decimal());
  EXPECT_FALSE((-Decimal()).IsNegative());
  EXPECT_TRUE(Number("2", "50", 1).IsInteger());
  EXPECT_FALSE(Number("2", "55", 1).IsInteger());
}

TEST(Decimal, CarriesAndBorrowsAcrossLimbs) {
  const Decimal nines = Number("999999999999999999"), one(1);
  EXPECT_EQ(nines + one, Number("1", "", 18));
  EXPECT_EQ(Number("1", "", 18) - one, nines);
  EXPECT_EQ(one - Number("1", "", 18), -nines);
  EXPECT_EQ(nines - nines, Decimal());
  EXPECT_EQ(nines * nines, Number("999999999999999998000000000000000001"));
  EXPECT_EQ(Number("", "000000001") * Number("", "000000001"), Number("1", "", -18));
}

TEST(Decimal, ComparesBySignThenMagnitude) {
  const std::vector<Decimal> ascending = {-Number("1", "", 20), Decimal(kSmallest), Decimal(-1),
                                          Number("1", "", -12), Number("", "5"),    Decimal(1),
                                          Decimal(kLargest),    Number("1", "", 20)};
  for (size_t i = 0; i < ascending.size(); ++i) {
    for (size_t j = 0; j < ascending.size(); ++j) {
      EXPECT_EQ(ascending[i].Compare(ascending[j]), i < j ? -1 : i > j ? 1 : 0) << i << " " << j;
    }
  }
  EXPECT_EQ(Decimal(-7).CompareMagnitude(Decimal(7)), 0);
}

TEST(Decimal, RoundsAwayFromZeroAndClamps) {
  Decimal tiny = Number("1", "", -10);
  tiny.RoundAwayFromZero(1);
  EXPECT_EQ(tiny, Number("1", "", -9));
  EXPECT_EQ(Number("1", "", -9).ToInt64(), 1);
  EXPECT_EQ((-Number("2", "1")).ToInt64(), -3);
  EXPECT_EQ(Number("1", "", 30).ToInt64(), kLargest);
  EXPECT_EQ((-Number("1", "", 30)).ToInt64(), kSmallest);
  EXPECT_EQ(Decimal(kSmallest).ToInt64(), kSmallest);
}

TEST(Decimal, DividesOnlyExactly) {
  Decimal number = Number("3", "", 18);
  EXPECT_TRUE(number.DivideExactly(1024));
  EXPECT_EQ(number * Decimal(1024), Number("3", "", 18));
  const Decimal before = number;
  EXPECT_FALSE(number.DivideExactly(7));
  EXPECT_EQ(number, before);
}

TEST(Quantity, HasTheValueOfItsText) {
  EXPECT_EQ(Read("1500m"), Read("1.5"));
  EXPECT_EQ(Read("1Ki"), Read("1024"));
  EXPECT_EQ(Read("12E6"), Read("12e6"));
  EXPECT_EQ(Read("1E"), Read("1e18"));
  EXPECT_EQ(Read("0.1n"), Read("1n"));  // rounded up to a nano
  EXPECT_EQ(ResourceValue("cpu", Read("1m")), 1);
  EXPECT_EQ(ResourceValue("cpu", Read("1u")), 1);
  EXPECT_EQ(ResourceValue("memory", Read("1m")), 1);
  EXPECT_EQ(ResourceValue("cpu", Read("9e30")), kLargest);
}

TEST(Quantity, QuotaIsUnlimitedFromTheHighestAmountOn) {
  EXPECT_TRUE(AmountFromQuantity("cpu", Read("9223372036854775807")).IsUnlimited());
  EXPECT_TRUE(AmountFromQuantity("cpu", Read("9223372036854775")).IsUnlimited());
  EXPECT_EQ(AmountFromQuantity("cpu", Read("9223372036854774")), Amount(9'223'372'036'854'774'000));
  EXPECT_EQ(AmountFromQuantity("memory", Read("9223372036854775806")), Amount(kLargest - 1));
  EXPECT_TRUE(AmountFromQuantity("memory", Read("9223372036854775807")).IsUnlimited());
}

TEST(Quantity, CanonicalTextReadsBack) {
  for (const char* text : {"0", "1", "-1", "1500m", "1Gi", "1e3", "123456789n", "9223372036854775807",
                           "1025Ki", "999999999999999999999", "7u", "-12.5"}) {
    const Quantity quantity = Read(text);
    EXPECT_EQ(Read(quantity.ToText()), quantity) << text;
    EXPECT_EQ(Read(quantity.ToText()).ToText(), quantity.ToText()) << text;
  }
}

TEST(Quantity, RejectsInvalidAndTooLongTexts) {
  const std::string digits(kMaxQuantityDigits + 1, '9');
  const std::string text(kMaxQuantityText + 1, '0');
  for (const std::string& wrong : {std::string(), std::string("1 "), std::string("1KB"), std::string("0x10"),
                                   std::string("1e"), std::string("1e1001"), std::string("1..2"),
                                   std::string("1\0", 2), std::string("\xff"), digits, text}) {
    EXPECT_FALSE(Quantity::Parse(wrong).ok()) << wrong;
  }
  EXPECT_TRUE(Quantity::Parse(std::string(kMaxQuantityText, '0')).ok());
}

TEST(Nano, IsConvertedFromAndToText) {
  EXPECT_TRUE(NanoOf(Read("1500m")) == Int128{1'500'000'000});
  EXPECT_TRUE(NanoOf(Read("-1n")) == Int128{-1});
  EXPECT_TRUE(NanoOf(Read("1e40")) == Int128{kLargest} * 1'000'000'000);
  EXPECT_EQ(NanoDecimalText(0), "0.000000000");
  EXPECT_EQ(NanoDecimalText(-1), "-0.000000001");
  EXPECT_EQ(NanoDecimalText(Int128{12'345'678'901}), "12.345678901");
  EXPECT_EQ(NanoQuantityText(0), "0");
  EXPECT_EQ(NanoQuantityText(Int128{1'500'000'000}), "1500m");
  EXPECT_EQ(NanoQuantityText(Int128{-2} * 1'000'000'000), "-2");
}

}  // namespace
}  // namespace kueue
