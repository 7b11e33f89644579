// Decimal: an exact decimal number of any size.
#ifndef KUEUE_QUANTITY_DECIMAL_H_
#define KUEUE_QUANTITY_DECIMAL_H_

#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"

namespace kueue {

// Limbs of nine decimal digits, least significant first, `fraction_` of them behind the point: a nano is one
// limb, so rounding to nano and to whole units drops limbs, and no operation rescales. Always in lowest form
// (no leading zero limb, no trailing one behind the point, no negative zero), so equal numbers have equal
// members.
class Decimal {
 public:
  Decimal() = default;
  explicit Decimal(int64_t value);

  // The number that the digits write, times 10^exponent. `integer` and `fraction` hold digits only.
  static Decimal FromDigits(absl::string_view integer, absl::string_view fraction, int exponent);

  bool IsZero() const { return limbs_.empty(); }
  bool IsNegative() const { return negative_; }
  bool IsInteger() const { return fraction_ == 0; }

  // -1, 0 or 1 as *this is less than, equal to or greater than `other`.
  int Compare(const Decimal& other) const;
  // Compare() of the magnitudes.
  int CompareMagnitude(const Decimal& other) const;

  Decimal operator-() const;
  friend Decimal operator+(const Decimal& a, const Decimal& b);
  friend Decimal operator-(const Decimal& a, const Decimal& b) { return a + -b; }
  friend Decimal operator*(const Decimal& a, const Decimal& b);
  Decimal& operator+=(const Decimal& other) { return *this = *this + other; }

  // Multiplies in place; `factor` is below 2^32.
  void Scale(uint32_t factor);
  // Divides in place and is true where that leaves no remainder; otherwise nothing changes. An integer only.
  bool DivideExactly(uint32_t divisor);

  // Rounds the magnitude up, away from zero, to 9 * `limbs` digits behind the point.
  void RoundAwayFromZero(int limbs);

  // The least integer not below (for negatives: not above) the number, clamped to the range of int64.
  int64_t ToInt64() const;

  // |value| = digits * 10^exponent. The digits end in no zero; those of zero are "0".
  struct Digits {
    std::string digits;
    int exponent;
  };
  Digits ToDigits() const;

  // How many limbs are in use: what time and memory of a product grow with.
  size_t size() const { return limbs_.size(); }

  friend bool operator==(const Decimal& a, const Decimal& b) {
    return a.negative_ == b.negative_ && a.fraction_ == b.fraction_ && a.limbs_ == b.limbs_;
  }

 private:
  // Powers of 10^9 that the number may have digits at: [Low(), High()).
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
