// Mirrors k8s.io/apimachinery/pkg/api/resource/quantity.go and
// pkg/resources/{amount,requests,resource_formatter}.go (kueue ff69552e79).
#include "quantity/quantity.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include "absl/numeric/bits.h"
#include "absl/numeric/int128.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
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
namespace {

constexpr absl::string_view kSuffixes = "n u m k M G T P E Ki Mi Gi Ti Pi Ei or e<exponent>";

// Parts of a quantity text: sign, digits before the decimal point (without leading zeros), digits after it,
// suffix.
struct Parts {
  bool negative = false;
  bool has_digits = false;
  absl::string_view integer, fraction, suffix;
};

// Meaning of a suffix: a factor of 10^exponent or, for kBinarySI, 2^exponent.
struct Scale {
  QuantityFormat format;
  int exponent;
};

absl::string_view TakeDigits(absl::string_view* text) {
  size_t size = 0;
  while (size < text->size() && absl::ascii_isdigit(static_cast<unsigned char>((*text)[size]))) ++size;
  const absl::string_view digits = text->substr(0, size);
  text->remove_prefix(size);
  return digits;
}

absl::string_view WithoutLeadingZeros(absl::string_view digits) {
  const size_t first = digits.find_first_not_of('0');
  return first == absl::string_view::npos ? absl::string_view() : digits.substr(first);
}

// Returns whether the text consists of letters, a sign and digits, in this order.
bool IsSuffixShaped(absl::string_view text) {
  const size_t letters = text.find_first_not_of("eEinumkKMGTP");
  if (letters == absl::string_view::npos) return true;
  text.remove_prefix(letters);
  if (text.front() == '+' || text.front() == '-') text.remove_prefix(1);
  TakeDigits(&text);
  return text.empty();
}

std::optional<Parts> Split(absl::string_view text) {
  Parts parts;
  if (text.empty()) return std::nullopt;
  parts.negative = text.front() == '-';
  if (text.front() == '-' || text.front() == '+') text.remove_prefix(1);
  const absl::string_view integer = TakeDigits(&text);
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    parts.fraction = TakeDigits(&text);
  }
  parts.integer = WithoutLeadingZeros(integer);
  parts.has_digits = !integer.empty() || !parts.fraction.empty();
  parts.suffix = text;
  if (!IsSuffixShaped(text)) return std::nullopt;
  return parts;
}

// Returns the exponent after `e` or `E`. If it exceeds the limit, returns any number that exceeds it too.
std::optional<int> ReadExponent(absl::string_view text) {
  const bool negative = text.front() == '-';
  if (text.front() == '-' || text.front() == '+') text.remove_prefix(1);
  const absl::string_view all = TakeDigits(&text);
  if (all.empty() || !text.empty()) return std::nullopt;
  int exponent = 0;
  for (const char digit : WithoutLeadingZeros(all).substr(0, 4)) exponent = 10 * exponent + (digit - '0');
  return negative ? -exponent : exponent;
}

std::optional<Scale> ReadSuffix(absl::string_view suffix) {
  constexpr absl::string_view kDecimal = "numkMGTPE";
  constexpr absl::string_view kBinary = "KMGTPE";
  if (suffix.empty()) return Scale{QuantityFormat::kDecimalSI, 0};
  if (suffix.size() == 1 && absl::StrContains(kDecimal, suffix)) {
    const int place = static_cast<int>(kDecimal.find(suffix.front()));
    return Scale{QuantityFormat::kDecimalSI, 3 * (place < 3 ? place - 3 : place - 2)};
  }
  if (suffix.size() == 2 && suffix[1] == 'i' && absl::StrContains(kBinary, suffix.substr(0, 1))) {
    return Scale{QuantityFormat::kBinarySI, 10 * static_cast<int>(kBinary.find(suffix.front()) + 1)};
  }
  if (suffix.size() == 1 || (suffix.front() != 'e' && suffix.front() != 'E')) return std::nullopt;
  const std::optional<int> exponent = ReadExponent(suffix.substr(1));
  if (!exponent) return std::nullopt;
  return Scale{QuantityFormat::kDecimalExponent, *exponent};
}

template <typename... Text>
absl::Status Refuse(absl::string_view text, const Text&... why) {
  const bool shorten = text.size() > static_cast<size_t>(kMaxQuantityText);
  return absl::InvalidArgumentError(absl::StrCat("quantity \"",
                                                 absl::Utf8SafeCHexEscape(text.substr(0, kMaxQuantityText)),
                                                 shorten ? "..." : "", "\": ", why...));
}

// Kubernetes reads a text without digits as zero, except on its slow path.
bool LacksDigits(const Parts& parts, const Scale& scale) {
  const bool binary = scale.format == QuantityFormat::kBinarySI;
  return !parts.has_digits && (binary ? scale.exponent >= 50 : scale.exponent < -9);
}

absl::Status CheckLimits(absl::string_view text, const Parts& parts, const Scale& scale) {
  if (parts.integer.size() + parts.fraction.size() > static_cast<size_t>(kMaxQuantityDigits)) {
    return Refuse(text, "has more than ", kMaxQuantityDigits, " digits");
  }
  if (scale.format == QuantityFormat::kDecimalExponent && std::abs(scale.exponent) > kMaxQuantityExponent) {
    return Refuse(text, "the exponent must lie between -", kMaxQuantityExponent, " and ",
                  kMaxQuantityExponent);
  }
  if (LacksDigits(parts, scale)) return Refuse(text, "has no digits");
  return absl::OkStatus();
}

Decimal ReadMagnitude(const Parts& parts, const Scale& scale) {
  const bool binary = scale.format == QuantityFormat::kBinarySI;
  Decimal value = Decimal::FromDigits(parts.integer, parts.fraction, binary ? 0 : scale.exponent);
  for (int bits = binary ? scale.exponent : 0; bits > 0; bits -= 10) value.Scale(1024);
  value.RoundAwayFromZero(1);
  static const Decimal* const most = new Decimal(std::numeric_limits<int64_t>::max());
  return binary && value.Compare(*most) > 0 ? *most : value;
}

}  // namespace

absl::StatusOr<Quantity> Quantity::Parse(absl::string_view text) {
  if (text.empty()) return Refuse(text, "is empty; write a number, as 2, 1.5, 500m or 64Gi");
  if (text.size() > static_cast<size_t>(kMaxQuantityText)) {
    return Refuse(text, "is longer than ", kMaxQuantityText, " bytes");
  }
  const std::optional<Parts> parts = Split(text);
  if (!parts) return Refuse(text, "is not a number with a suffix; write one as 2, 1.5, 500m or 64Gi");
  const std::optional<Scale> scale = ReadSuffix(parts->suffix);
  if (!scale) return Refuse(text, "\"", parts->suffix, "\" is not a suffix; it must be one of ", kSuffixes);
  if (absl::Status status = CheckLimits(text, *parts, *scale); !status.ok()) return status;

  Decimal magnitude = ReadMagnitude(*parts, *scale);
  static const Decimal* const one = new Decimal(1);
  const bool below_one = !magnitude.IsZero() && magnitude.Compare(*one) < 0;
  const bool decimal = scale->format == QuantityFormat::kBinarySI && below_one;
  return Quantity(parts->negative ? -magnitude : magnitude,
                  decimal ? QuantityFormat::kDecimalSI : scale->format);
}

std::string PrintedText(absl::string_view text) {
  const Parts parts = *Split(text);
  const Scale scale = *ReadSuffix(parts.suffix);
  const std::string digits = absl::StrCat(parts.integer.empty() ? "0" : parts.integer, parts.fraction);
  const int size = static_cast<int>(digits.size());
  bool kept;
  if (scale.format == QuantityFormat::kBinarySI) {
    const bool small = parts.fraction.empty() && 14 - size - scale.exponent * 3 / 10 >= 0;
    // A number is a multiple of eight if and only if its last three digits are.
    const int last = std::atoi(digits.substr(size < 3 ? 0 : digits.size() - 3).c_str());
    kept = small && last % 8 != 0;
  } else {
    const int power = scale.exponent - static_cast<int>(parts.fraction.size());
    kept = size <= 18 && power >= -9 && power % 3 == 0 && !absl::EndsWith(digits, "000") &&
           digits.front() != '0';
  }
  return kept ? std::string(text) : Quantity::Parse(text)->ToText();
}

}  // namespace kueue
