// Quantity: Kubernetes' way to write an amount of a resource, and the integers that scheduling counts with.
// Mirrors k8s.io/apimachinery/pkg/api/resource/quantity.go,
// pkg/resources/{amount,requests,resource_formatter}.go (kueue ff69552e79).
#ifndef KUEUE_QUANTITY_QUANTITY_H_
#define KUEUE_QUANTITY_QUANTITY_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "quantity/amount.h"
#include "quantity/decimal.h"

namespace kueue {

// What a text may be at most, so that the cost of reading it is bounded. The reference knows no such limits.
constexpr int kMaxQuantityText = 64;        // bytes
constexpr int kMaxQuantityDigits = 40;      // without leading zeros
constexpr int kMaxQuantityExponent = 1000;  // of e or E, in magnitude

// How the text of a value is written; it never counts in comparisons.
enum class QuantityFormat : uint8_t { kDecimalSI, kBinarySI, kDecimalExponent };

// An exact number with the format of the text it was read from.
class Quantity {
 public:
  Quantity() = default;
  explicit Quantity(int64_t value, QuantityFormat format = QuantityFormat::kDecimalSI)
      : value_(value), format_(format) {}
  explicit Quantity(Decimal value, QuantityFormat format = QuantityFormat::kDecimalSI)
      : value_(std::move(value)), format_(format) {}

  // Reads what Go's parser reads, oddities as "." and "Gi" (both zero) included; the stricter pattern of the
  // API's schema is not checked here. More than nine digits behind the point round up, away from zero. A
  // binary suffix caps the magnitude at 2^63-1. InvalidArgument where the text is no quantity or exceeds the
  // limits above.
  static absl::StatusOr<Quantity> Parse(absl::string_view text);

  const Decimal& value() const { return value_; }
  QuantityFormat format() const { return format_; }
  bool IsZero() const { return value_.IsZero(); }
  bool IsNegative() const { return value_.IsNegative(); }

  // The canonical text: the largest suffix that leaves no fraction. A multiple of 10^21 keeps the suffix E,
  // where the reference drops the power.
  std::string ToText() const;

  // The nearest double, rounded to 64 bits first where the reference does (quantity.go:AsFloat64Slow).
  double AsDouble() const;

  // A zero takes over the format of what is added or subtracted.
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

// The text that the reference prints for a quantity read from `text`: some texts that are not canonical
// ("+5", "1.500", "12E6") are kept as they are. Parse() must have accepted the text.
std::string PrintedText(absl::string_view text);

// A request or usage as an integer: thousandths of cpu, units of all else, rounded up and clamped to int64
// (pkg/resources/requests.go:ResourceValue).
int64_t ResourceValue(absl::string_view resource, const Quantity& quantity);

// A quota as an amount: as ResourceValue, but Unlimited from (2^63-1)/1000 cores or 2^63-1 units on
// (pkg/resources/amount.go:AmountFromQuantity).
Amount AmountFromQuantity(absl::string_view resource, const Quantity& quantity);

// The text of a scheduler's integer (pkg/resources/resource_formatter.go:ResourceQuantityString). `as_bytes`:
// written with binary suffixes, as memory is, whatever the resource's name.
std::string ResourceQuantityString(absl::string_view resource, int64_t value, bool as_bytes = false);

}  // namespace kueue

#endif  // KUEUE_QUANTITY_QUANTITY_H_
