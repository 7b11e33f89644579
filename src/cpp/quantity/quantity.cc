#include "quantity/quantity.h"

#include <cmath>
#include <limits>
#include <utility>

#include "absl/numeric/bits.h"
#include "absl/numeric/int128.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace kueue {
namespace {

constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();
constexpr int kExa = 18;

// Returns the DecimalSI suffix of 10^exponent. The exponent must be in the range of the table.
absl::string_view DecimalSuffix(int exponent) {
  static constexpr absl::string_view kSuffixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  return kSuffixes[exponent / 3 + 3];
}

std::string DecimalText(const Decimal& value, QuantityFormat format) {
  auto [digits, exponent] = value.ToDigits();
  const bool si = format == QuantityFormat::kDecimalSI;
  const int excess = si && exponent > kExa ? exponent - kExa : ((exponent % 3) + 3) % 3;
  digits.append(static_cast<size_t>(excess), '0');
  exponent -= excess;
  const absl::string_view sign = value.IsNegative() ? "-" : "";
  if (exponent == 0) return absl::StrCat(sign, digits);
  if (si && exponent >= -9) return absl::StrCat(sign, digits, DecimalSuffix(exponent));
  return absl::StrCat(sign, digits, "e", exponent);
}

std::string BinaryText(Decimal value) {
  static constexpr absl::string_view kSuffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  size_t power = 0;
  while (power + 1 < std::size(kSuffixes) && value.DivideExactly(1024)) ++power;
  const auto [digits, exponent] = value.ToDigits();
  return absl::StrCat(value.IsNegative() ? "-" : "", digits, std::string(static_cast<size_t>(exponent), '0'),
                      kSuffixes[power]);
}

// Returns value / 2^bits, rounded to the nearest integer, ties to even.
absl::uint128 ShiftToNearest(absl::uint128 value, int bits) {
  if (bits <= 0) return value;
  const absl::uint128 half = absl::uint128(1) << (bits - 1);
  const absl::uint128 rest = value & ((half << 1) - 1);
  const absl::uint128 quotient = value >> bits;
  const bool up = rest > half || (rest == half && (quotient & 1) != 0);
  return up ? quotient + 1 : quotient;
}

int BitWidth(absl::uint128 value) {
  const uint64_t high = absl::Uint128High64(value);
  return high != 0 ? 128 - absl::countl_zero(high) : 64 - absl::countl_zero(absl::Uint128Low64(value));
}

// Returns unscaled / 10^places, rounded to 64 bits and then to a double. `places` is at most 9.
double Divide(uint64_t unscaled, int places) {
  uint64_t divisor = 1;
  for (int i = 0; i < places; ++i) divisor *= 10;
  const int shift = 128 - BitWidth(unscaled);
  const absl::uint128 dividend = absl::uint128(unscaled) << shift;
  // The quotient has at least 98 bits. The remainder only has to set the last bit.
  absl::uint128 quotient = dividend / divisor;
  if (dividend % divisor != 0) quotient |= 1;
  const int excess = BitWidth(quotient) - 64;
  const absl::uint128 rounded = ShiftToNearest(quotient, excess);
  const int rest = BitWidth(rounded) - std::numeric_limits<double>::digits;
  const uint64_t mantissa = absl::Uint128Low64(ShiftToNearest(rounded, rest));
  return std::ldexp(static_cast<double>(mantissa), rest + excess - shift);
}

bool IsByteValued(absl::string_view resource) {
  return resource == "memory" || resource == "ephemeral-storage" || absl::StartsWith(resource, "hugepages-");
}

}  // namespace

std::string Quantity::ToText() const {
  static const Decimal* const kilo = new Decimal(1024);
  const bool binary =
      format_ == QuantityFormat::kBinarySI && value_.IsInteger() && value_.CompareMagnitude(*kilo) >= 0;
  if (binary) return BinaryText(value_);
  return DecimalText(value_, format_ == QuantityFormat::kBinarySI ? QuantityFormat::kDecimalSI : format_);
}

double Quantity::AsDouble() const {
  const auto [digits, exponent] = value_.ToDigits();
  uint64_t unscaled = 0;
  double magnitude = 0;
  if (exponent < 0 && exponent >= -9 && absl::SimpleAtoi(digits, &unscaled)) {
    magnitude = Divide(unscaled, -exponent);
  } else if (!absl::SimpleAtod(absl::StrCat(digits, "e", exponent), &magnitude)) {
    magnitude = std::numeric_limits<double>::infinity();
  }
  return IsNegative() ? -magnitude : magnitude;
}

Quantity& Quantity::operator+=(const Quantity& other) {
  if (IsZero()) format_ = other.format_;
  value_ += other.value_;
  return *this;
}

Quantity& Quantity::operator-=(const Quantity& other) {
  if (IsZero()) format_ = other.format_;
  value_ += -other.value_;
  return *this;
}

int64_t ResourceValue(absl::string_view resource, const Quantity& quantity) {
  if (resource != "cpu") return quantity.value().ToInt64();
  Decimal milli = quantity.value();
  milli.Scale(1000);
  return milli.ToInt64();
}

Amount AmountFromQuantity(absl::string_view resource, const Quantity& quantity) {
  static const Decimal* const most_cores = new Decimal(kMaxInt64 / 1000);
  static const Decimal* const most_units = new Decimal(kMaxInt64);
  const Decimal& most = resource == "cpu" ? *most_cores : *most_units;
  if (quantity.value().Compare(most) >= 0) return Amount::Unlimited();
  return Amount(ResourceValue(resource, quantity));
}

std::string ResourceQuantityString(absl::string_view resource, int64_t value, bool as_bytes) {
  constexpr int64_t step = 1000;  // Between two suffixes.
  if (resource == "cpu") {
    if (value > 0 && value % step != 0) return absl::StrCat(value, "m");
    if (value > 0 && value / step % step != 0) return absl::StrCat(value / step);
    Decimal cores = Decimal(value) * Decimal::FromDigits("1", "", -3);
    return Quantity(std::move(cores)).ToText();
  }
  if (!as_bytes && !IsByteValued(resource)) {
    return value > 0 && value % step != 0 ? absl::StrCat(value) : Quantity(value).ToText();
  }
  // Parsing the result again would turn a text without a binary suffix into a decimal quantity, so format it
  // as one.
  return Quantity::Parse(Quantity(value, QuantityFormat::kBinarySI).ToText())->ToText();
}

}  // namespace kueue
