// Quantity parser. Mirrors k8s.io/apimachinery/pkg/api/resource/quantity.go:ParseQuantity (kueue ff69552e79).
#include <cstdlib>
#include <limits>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "quantity/quantity.h"

namespace kueue {
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
