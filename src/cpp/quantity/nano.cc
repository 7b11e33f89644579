#include "quantity/nano.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace kueue {
namespace {

// Returns the digits of the absolute value; empty for 0.
std::string DigitsOf(Int128 value) {
  std::string digits;
  for (Int128 rest = value < 0 ? -value : value; rest > 0; rest /= 10) {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
  }
  return digits;
}

}  // namespace

Int128 NanoOf(const Quantity& quantity) {
  constexpr size_t kMostDigits = 38;
  const Decimal::Digits written = quantity.value().ToDigits();
  const int exponent = written.exponent + 9;
  if (written.digits.size() + static_cast<size_t>(std::max(exponent, 0)) > kMostDigits) {
    return Int128{std::numeric_limits<int64_t>::max()} * 1'000'000'000;
  }
  Int128 nano = 0;
  for (char digit : written.digits) nano = nano * 10 + (digit - '0');
  for (int i = 0; i < exponent; ++i) nano *= 10;
  return quantity.IsNegative() ? -nano : nano;
}

std::string NanoDecimalText(Int128 nano) {
  std::string digits = DigitsOf(nano);
  if (digits.size() < 10) digits.insert(0, 10 - digits.size(), '0');
  digits.insert(digits.size() - 9, ".");
  return (nano < 0 ? "-" : "") + digits;
}

std::string NanoQuantityText(Int128 nano) {
  const std::string digits = DigitsOf(nano);
  const Decimal magnitude = Decimal::FromDigits(digits.empty() ? "0" : digits, "", -9);
  return Quantity(nano < 0 ? -magnitude : magnitude).ToText();
}

}  // namespace kueue
