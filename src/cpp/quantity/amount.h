// Amount: an int64 of quota or usage, in which INT64_MAX means Unlimited. Mirrors pkg/resources/amount.go
// (kueue ff69552e79).
#ifndef KUEUE_QUANTITY_AMOUNT_H_
#define KUEUE_QUANTITY_AMOUNT_H_

#include <cstdint>
#include <limits>

namespace kueue {

__extension__ using Int128 = __int128;

// Returns a + b, clamped to the range of int64.
inline int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

// Returns a - b, clamped to the range of int64. On overflow, the sign of b determines the bound.
inline int64_t SaturatingSub(int64_t a, int64_t b) {
  int64_t difference;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b > 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

// Returns a * b, clamped to the range of int64.
inline int64_t SaturatingMul(int64_t a, int64_t b) {
  int64_t product;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a > 0) == (b > 0) ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

// An amount in millicores for cpu and in whole units for every other resource. All arithmetic saturates.
// Unlimited + x and Unlimited - x equal Unlimited, Unlimited - Unlimited equals 0, and x - Unlimited equals
// INT64_MIN.
class Amount {
 public:
  constexpr Amount() = default;
  constexpr explicit Amount(int64_t value) : value_(value) {}
  static constexpr Amount Unlimited() { return Amount(std::numeric_limits<int64_t>::max()); }

  constexpr int64_t value() const { return value_; }
  constexpr bool IsUnlimited() const { return value_ == std::numeric_limits<int64_t>::max(); }

  friend Amount operator+(Amount a, Amount b) {
    if (a.IsUnlimited() || b.IsUnlimited()) return Unlimited();
    return Amount(SaturatingAdd(a.value_, b.value_));
  }
  friend Amount operator-(Amount a, Amount b) {
    if (a.IsUnlimited()) return b.IsUnlimited() ? Amount(0) : Unlimited();
    if (b.IsUnlimited()) return Amount(std::numeric_limits<int64_t>::min());
    return Amount(SaturatingSub(a.value_, b.value_));
  }
  Amount& operator+=(Amount other) { return *this = *this + other; }
  Amount& operator-=(Amount other) { return *this = *this - other; }

  friend constexpr bool operator==(Amount a, Amount b) { return a.value_ == b.value_; }
  friend constexpr bool operator!=(Amount a, Amount b) { return a.value_ != b.value_; }
  friend constexpr bool operator<(Amount a, Amount b) { return a.value_ < b.value_; }
  friend constexpr bool operator>(Amount a, Amount b) { return a.value_ > b.value_; }
  friend constexpr bool operator<=(Amount a, Amount b) { return a.value_ <= b.value_; }
  friend constexpr bool operator>=(Amount a, Amount b) { return a.value_ >= b.value_; }

 private:
  int64_t value_ = 0;
};

constexpr Amount Min(Amount a, Amount b) { return a < b ? a : b; }
constexpr Amount Max(Amount a, Amount b) { return a > b ? a : b; }

}  // namespace kueue

#endif  // KUEUE_QUANTITY_AMOUNT_H_
