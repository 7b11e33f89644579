#include "quantity/decimal.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_format.h"

namespace kueue {
namespace {

constexpr uint32_t kBase = 1'000'000'000;
constexpr int kLimbDigits = 9;
constexpr uint32_t kPowers[kLimbDigits] = {1,       10,        100,        1'000,      10'000,
                                           100'000, 1'000'000, 10'000'000, 100'000'000};

// Integer division rounded towards minus infinity.
int FloorDivide(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

}  // namespace

Decimal::Decimal(int64_t value) : negative_(value < 0) {
  uint64_t rest = negative_ ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  for (; rest != 0; rest /= kBase) limbs_.push_back(static_cast<uint32_t>(rest % kBase));
}

Decimal Decimal::FromDigits(absl::string_view integer, absl::string_view fraction, int exponent) {
  Decimal result;
  const int lowest = exponent - static_cast<int>(fraction.size());
  const int highest = exponent + static_cast<int>(integer.size());
  result.fraction_ = std::max(0, -FloorDivide(lowest, kLimbDigits));
  result.limbs_.resize(
      static_cast<size_t>(std::max(0, FloorDivide(highest, kLimbDigits) + 1 + result.fraction_)));
  int power = highest;
  for (const absl::string_view part : {integer, fraction}) {
    for (const char digit : part) {
      --power;
      const int limb = FloorDivide(power, kLimbDigits);
      result.limbs_[static_cast<size_t>(limb + result.fraction_)] +=
          static_cast<uint32_t>(digit - '0') * kPowers[power - limb * kLimbDigits];
    }
  }
  result.Normalize();
  return result;
}

uint32_t Decimal::Limb(int power) const {
  return power >= Low() && power < High() ? limbs_[static_cast<size_t>(power + fraction_)] : 0;
}

void Decimal::Normalize() {
  while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
  const auto behind = limbs_.begin() + std::min(fraction_, static_cast<int32_t>(limbs_.size()));
  const auto first = std::find_if(limbs_.begin(), behind, [](uint32_t limb) { return limb != 0; });
  fraction_ -= static_cast<int32_t>(first - limbs_.begin());
  limbs_.erase(limbs_.begin(), first);
  if (!limbs_.empty()) return;
  fraction_ = 0;
  negative_ = false;
}

int Decimal::CompareMagnitude(const Decimal& other) const {
  if (High() != other.High() && !IsZero() && !other.IsZero()) return High() < other.High() ? -1 : 1;
  for (int power = std::max(High(), other.High()) - 1; power >= std::min(Low(), other.Low()); --power) {
    const uint32_t mine = Limb(power), theirs = other.Limb(power);
    if (mine != theirs) return mine < theirs ? -1 : 1;
  }
  return 0;
}

int Decimal::Compare(const Decimal& other) const {
  if (negative_ != other.negative_) return negative_ ? -1 : 1;
  return negative_ ? -CompareMagnitude(other) : CompareMagnitude(other);
}

Decimal Decimal::operator-() const {
  Decimal result = *this;
  result.negative_ = !negative_ && !IsZero();
  return result;
}

Decimal Decimal::AddMagnitudes(const Decimal& a, const Decimal& b) {
  Decimal sum;
  sum.fraction_ = std::max(a.fraction_, b.fraction_);
  uint32_t carry = 0;
  for (int power = sum.Low(); power < std::max(a.High(), b.High()) || carry != 0; ++power) {
    const uint32_t limb = a.Limb(power) + b.Limb(power) + carry;
    carry = limb >= kBase ? 1 : 0;
    sum.limbs_.push_back(carry != 0 ? limb - kBase : limb);
  }
  return sum;
}

Decimal Decimal::SubtractMagnitudes(const Decimal& larger, const Decimal& smaller) {
  Decimal difference;
  difference.fraction_ = std::max(larger.fraction_, smaller.fraction_);
  uint32_t borrow = 0;
  for (int power = difference.Low(); power < larger.High(); ++power) {
    const uint32_t minuend = larger.Limb(power), subtrahend = smaller.Limb(power) + borrow;
    borrow = minuend < subtrahend ? 1 : 0;
    difference.limbs_.push_back(minuend + borrow * kBase - subtrahend);
  }
  return difference;
}

Decimal operator+(const Decimal& a, const Decimal& b) {
  const bool subtract = a.negative_ != b.negative_;
  const bool swap = subtract && a.CompareMagnitude(b) < 0;
  const Decimal& first = swap ? b : a;
  const Decimal& second = swap ? a : b;
  Decimal result =
      subtract ? Decimal::SubtractMagnitudes(first, second) : Decimal::AddMagnitudes(first, second);
  result.negative_ = first.negative_;
  result.Normalize();
  return result;
}

Decimal operator*(const Decimal& a, const Decimal& b) {
  Decimal product;
  product.limbs_.resize(a.limbs_.size() + b.limbs_.size());
  product.fraction_ = a.fraction_ + b.fraction_;
  product.negative_ = a.negative_ != b.negative_;
  for (size_t i = 0; i < a.limbs_.size(); ++i) {
    uint64_t carry = 0;
    for (size_t j = 0; j < b.limbs_.size(); ++j) {
      carry += product.limbs_[i + j] + uint64_t{a.limbs_[i]} * b.limbs_[j];
      product.limbs_[i + j] = static_cast<uint32_t>(carry % kBase);
      carry /= kBase;
    }
    product.limbs_[i + b.limbs_.size()] = static_cast<uint32_t>(carry);
  }
  product.Normalize();
  return product;
}

void Decimal::Scale(uint32_t factor) {
  uint64_t carry = 0;
  for (uint32_t& limb : limbs_) {
    carry += uint64_t{limb} * factor;
    limb = static_cast<uint32_t>(carry % kBase);
    carry /= kBase;
  }
  for (; carry != 0; carry /= kBase) limbs_.push_back(static_cast<uint32_t>(carry % kBase));
  Normalize();
}

bool Decimal::DivideExactly(uint32_t divisor) {
  absl::InlinedVector<uint32_t, 4> quotient(limbs_.size());
  uint64_t rest = 0;
  for (size_t i = limbs_.size(); i-- > 0;) {
    rest = rest * kBase + limbs_[i];
    quotient[i] = static_cast<uint32_t>(rest / divisor);
    rest %= divisor;
  }
  if (rest != 0) return false;
  limbs_ = std::move(quotient);
  Normalize();
  return true;
}

void Decimal::RoundAwayFromZero(int limbs) {
  if (fraction_ <= limbs) return;
  const size_t dropped = std::min(static_cast<size_t>(fraction_ - limbs), limbs_.size());
  limbs_.erase(limbs_.begin(), limbs_.begin() + static_cast<std::ptrdiff_t>(dropped));
  fraction_ = limbs;
  // The dropped part is never zero, because the lowest limb after the decimal point is nonzero.
  Decimal step;
  step.limbs_.push_back(1);
  step.fraction_ = limbs;
  const bool negative = negative_;
  *this = AddMagnitudes(*this, step);
  negative_ = negative;
  Normalize();
}

int64_t Decimal::ToInt64() const {
  Decimal whole = *this;
  whole.RoundAwayFromZero(0);
  const int64_t limit = negative_ ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
  static const Decimal* const greatest = new Decimal(std::numeric_limits<int64_t>::max());
  if (whole.CompareMagnitude(*greatest) > 0) return limit;
  int64_t result = 0;
  for (size_t i = whole.limbs_.size(); i-- > 0;) result = result * kBase + whole.limbs_[i];
  return negative_ ? -result : result;
}

Decimal::Digits Decimal::ToDigits() const {
  if (IsZero()) return {"0", 0};
  std::string digits = absl::StrFormat("%d", limbs_.back());
  for (size_t i = limbs_.size() - 1; i-- > 0;) absl::StrAppendFormat(&digits, "%09d", limbs_[i]);
  const size_t end = digits.find_last_not_of('0') + 1;
  const int zeros = static_cast<int>(digits.size() - end);
  digits.resize(end);
  return {std::move(digits), zeros - kLimbDigits * fraction_};
}

}  // namespace kueue
