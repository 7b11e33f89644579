// Amounts saturate, and Unlimited is sticky.
#include "quantity/amount.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace kueue {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

// Values at which int64 arithmetic goes wrong, if it does.
const std::vector<int64_t>& Corners() {
  static const auto* const corners = new std::vector<int64_t>{
      kLeast, kLeast + 1,    -4'000'000'000'000'000'000, -3'037'000'500, -1000, -1, 0, 1,
      1000,   3'037'000'500, 4'000'000'000'000'000'000,  kMost - 1,      kMost};
  return *corners;
}

int64_t Clamp(Int128 value) {
  if (value > kMost) return kMost;
  if (value < kLeast) return kLeast;
  return static_cast<int64_t>(value);
}

TEST(Saturation, IsTheExactResultClamped) {
  for (const int64_t a : Corners()) {
    for (const int64_t b : Corners()) {
      SCOPED_TRACE(testing::Message() << a << " and " << b);
      EXPECT_EQ(SaturatingAdd(a, b), Clamp(static_cast<Int128>(a) + b));
      EXPECT_EQ(SaturatingSub(a, b), Clamp(static_cast<Int128>(a) - b));
      EXPECT_EQ(SaturatingMul(a, b), Clamp(static_cast<Int128>(a) * b));
    }
  }
}

TEST(Amount, AnAbsentLimitIsUnlimited) {
  EXPECT_TRUE(Amount::Unlimited().IsUnlimited());
  EXPECT_FALSE(Amount(kMost - 1).IsUnlimited());
  EXPECT_EQ(Amount(), Amount(0));
}

TEST(Amount, UnlimitedIsSticky) {
  for (const int64_t value : Corners()) {
    SCOPED_TRACE(value);
    const Amount amount(value);
    EXPECT_EQ(Amount::Unlimited() + amount, Amount::Unlimited());
    EXPECT_EQ(amount + Amount::Unlimited(), Amount::Unlimited());
    if (amount.IsUnlimited()) continue;
    EXPECT_EQ(Amount::Unlimited() - amount, Amount::Unlimited());
    EXPECT_EQ(amount - Amount::Unlimited(), Amount(kLeast));
  }
  EXPECT_EQ(Amount::Unlimited() - Amount::Unlimited(), Amount(0));
}

TEST(Amount, FiniteValuesSaturate) {
  EXPECT_EQ(Amount(kMost - 1) + Amount(5), Amount::Unlimited());
  EXPECT_EQ(Amount(kLeast) - Amount(5), Amount(kLeast));
  EXPECT_EQ(Amount(7) - Amount(9), Amount(-2));
  Amount amount(40);
  amount += Amount(2);
  amount -= Amount(50);
  EXPECT_EQ(amount, Amount(-8));
}

TEST(Amount, OrderIsTheOrderOfValues) {
  for (const int64_t a : Corners()) {
    for (const int64_t b : Corners()) {
      EXPECT_EQ(Amount(a) < Amount(b), a < b);
      EXPECT_EQ(Amount(a) >= Amount(b), a >= b);
      EXPECT_EQ(Min(Amount(a), Amount(b)).value(), a < b ? a : b);
      EXPECT_EQ(Max(Amount(a), Amount(b)).value(), a > b ? a : b);
    }
  }
}

}  // namespace
}  // namespace kueue
