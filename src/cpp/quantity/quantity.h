// Quantity: a Kubernetes resource quantity, and its conversion to the integers used for scheduling. Mirrors
// k8s.io/apimachinery/pkg/api/resource/quantity.go, pkg/resources/{amount,requests,resource_formatter}.go
// (kueue ff69552e79).
#ifndef KUEUE_QUANTITY_QUANTITY_H_
#define KUEUE_QUANTITY_QUANTITY_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "quantity/amount.h"
#include "quantity/decimal.h"

namespace kueue {

// Limits on the text of a quantity, which bound the cost of parsing. Kubernetes does not limit the text of a
// quantity.
constexpr int kMaxQuantityText = 64;        // Bytes.
constexpr int kMaxQuantityDigits = 40;      // Maximum number of digits, without leading zeros.
constexpr int kMaxQuantityExponent = 1000;  // Maximum absolute value of the exponent after `e` or `E`.

// Format used to print a value. Comparisons ignore it.
enum class QuantityFormat : uint8_t { kDecimalSI, kBinarySI, kDecimalExponent };

// An exact number with the format of the string from which it was parsed.
class Quantity {
 public:
  Quantity() = default;
  explicit Quantity(int64_t value, QuantityFormat format = QuantityFormat::kDecimalSI)
      : value_(value), format_(format) {}
  explicit Quantity(Decimal value, QuantityFormat format = QuantityFormat::kDecimalSI)
      : value_(std::move(value)), format_(format) {}

  // Parses a quantity as Go's parser does, including "." and "Gi" (both zero). Does not check the stricter
  // pattern of the API schema. A value with more than nine digits after the decimal point is rounded away
  // from zero. With a binary suffix, the absolute value is capped at 2^63-1. Returns InvalidArgument if the
  // text is not a quantity or exceeds the limits above.
  static absl::StatusOr<Quantity> Parse(absl::string_view text);

  const Decimal& value() const { return value_; }
  QuantityFormat format() const { return format_; }
  bool IsZero() const { return value_.IsZero(); }
  bool IsNegative() const { return value_.IsNegative(); }

  // Returns the canonical text, which uses the largest suffix that leaves no fraction. Multiples of 10^21
  // keep the suffix E; Kubernetes would drop the power of ten.
  std::string ToText() const;

  // Returns the nearest double. In the same cases as Kubernetes, first rounds the value to 64 bits
  // (quantity.go:AsFloat64Slow).
  double AsDouble() const;

  // Addition and subtraction. If one operand is zero, the result has the format of the other operand.
  Quantity& operator+=(const Quantity& other);
  Quantity& operator-=(const Quantity& other);
  friend Quantity operator+(Quantity a, const Quantity& b) { return a += b; }
  friend Quantity operator-(Quantity a, const Quantity& b) { return a -= b; }
  friend Quantity operator*(const Quantity& a, const Quantity& b) {
    return Quantity(a.value_ * b.value_, a.format_);
  }

  friend bool operator==(const Quantity& a, const Quantity& b) { return a.value_ == b.value_; }
  friend bool operator!=(const Quantity& a, const Quantity& b) { return !(a == b); }
  friend bool operator<(const Quantity& a, const Quantity& b) { return a.value_.Compare(b.value_) < 0; }
  friend bool operator>(const Quantity& a, const Quantity& b) { return b < a; }
  friend bool operator<=(const Quantity& a, const Quantity& b) { return !(b < a); }
  friend bool operator>=(const Quantity& a, const Quantity& b) { return !(a < b); }

 private:
  Decimal value_;
  QuantityFormat format_ = QuantityFormat::kDecimalSI;
};

// Returns the text that Kubernetes prints for a quantity parsed from `text`. Some non-canonical strings
// ("+5", "1.500", "12E6") are kept unchanged. The text must be one that Parse() accepts.
std::string PrintedText(absl::string_view text);

// Converts a request or usage to an integer, in millicores for cpu and in whole units for all other
// resources, rounded up and clamped to the range of int64 (pkg/resources/requests.go:ResourceValue).
int64_t ResourceValue(absl::string_view resource, const Quantity& quantity);

// Converts a quota to an amount. Like ResourceValue, but values of at least (2^63-1)/1000 cores or 2^63-1
// units become Unlimited (pkg/resources/amount.go:AmountFromQuantity).
Amount AmountFromQuantity(absl::string_view resource, const Quantity& quantity);

// Formats an integer used for scheduling (pkg/resources/resource_formatter.go:ResourceQuantityString). If
// `as_bytes` is set, uses binary suffixes, as for memory, regardless of the resource name.
std::string ResourceQuantityString(absl::string_view resource, int64_t value, bool as_bytes = false);

}  // namespace kueue

#endif  // KUEUE_QUANTITY_QUANTITY_H_
