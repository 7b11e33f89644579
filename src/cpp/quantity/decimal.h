// Decimal: an exact decimal number of arbitrary size.
#ifndef KUEUE_QUANTITY_DECIMAL_H_
#define KUEUE_QUANTITY_DECIMAL_H_

#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"

namespace kueue {

// The number is stored as limbs of nine decimal digits, least significant first; the lowest `fraction_` limbs
// are after the decimal point. The first limb after the point holds the digits from 10^-1 to 10^-9 (nano), so
// rounding to nano or to whole units only drops whole limbs. The representation is normalized (no leading
// zero limb, no trailing zero limb after the point, no negative zero), so equal numbers have equal members.
class Decimal {
 public:
  Decimal() = default;
  explicit Decimal(int64_t value);

  // Returns the number `integer.fraction` * 10^exponent. `integer` and `fraction` contain digits only.
  static Decimal FromDigits(absl::string_view integer, absl::string_view fraction, int exponent);

  bool IsZero() const { return limbs_.empty(); }
  bool IsNegative() const { return negative_; }
  bool IsInteger() const { return fraction_ == 0; }

  // Returns -1, 0 or 1 if *this is less than, equal to or greater than `other`.
  int Compare(const Decimal& other) const;
  // Compares the absolute values; returns -1, 0 or 1 like Compare().
  int CompareMagnitude(const Decimal& other) const;

  Decimal operator-() const;
  friend Decimal operator+(const Decimal& a, const Decimal& b);
  friend Decimal operator-(const Decimal& a, const Decimal& b) { return a + -b; }
  friend Decimal operator*(const Decimal& a, const Decimal& b);
  Decimal& operator+=(const Decimal& other) { return *this = *this + other; }

  // Multiplies in place.
  void Scale(uint32_t factor);
  // Divides in place and returns true if there is no remainder; otherwise leaves the number unchanged and
  // returns false. The number must be an integer.
  bool DivideExactly(uint32_t divisor);

  // Rounds away from zero to 9 * `limbs` digits after the decimal point.
  void RoundAwayFromZero(int limbs);

  // Rounds away from zero to an integer and clamps it to the range of int64.
  int64_t ToInt64() const;

  // Absolute value as digits * 10^exponent. The digits have no trailing zero, except "0" for zero.
  struct Digits {
    std::string digits;
    int exponent;
  };
  Digits ToDigits() const;

  // Returns the number of limbs. The time and memory that a product needs grow with the number of limbs.
  size_t size() const { return limbs_.size(); }

  friend bool operator==(const Decimal& a, const Decimal& b) {
    return a.negative_ == b.negative_ && a.fraction_ == b.fraction_ && a.limbs_ == b.limbs_;
  }

 private:
  // Only limbs with an exponent in the range [Low(), High()) can be nonzero; the limb with exponent e counts
  // multiples of 10^(9e).
  int Low() const { return -fraction_; }
  int High() const { return static_cast<int>(limbs_.size()) - fraction_; }
  uint32_t Limb(int power) const;
  void Normalize();
  static Decimal AddMagnitudes(const Decimal& a, const Decimal& b);
  static Decimal SubtractMagnitudes(const Decimal& larger, const Decimal& smaller);

  absl::InlinedVector<uint32_t, 4> limbs_;
  int32_t fraction_ = 0;
  bool negative_ = false;
};

}  // namespace kueue

#endif  // KUEUE_QUANTITY_DECIMAL_H_
