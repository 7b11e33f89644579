#include "simulation/knobs.h"

#include <algorithm>
#include <cmath>

namespace kueue {
namespace {

// Values this close below an integer are treated as that integer, since sums of fractions are not exact.
constexpr double kNear = 1e-9;

struct Part {
  size_t place;
  double wanted, low, high;
};

double Within(const Part& part, double shift) { return std::clamp(part.wanted + shift, part.low, part.high); }

// Returns the shift by which all values, clamped to their bounds, have the given sum. The sum is piecewise
// linear in the shift, with breakpoints where a value reaches a bound.
double ShiftFor(const std::vector<Part>& parts, double total) {
  std::vector<double> ends;
  for (const Part& part : parts) {
    ends.push_back(part.low - part.wanted);
    ends.push_back(part.high - part.wanted);
  }
  std::sort(ends.begin(), ends.end());
  double before = 0, sum_before = 0;
  for (size_t i = 0; i < ends.size(); ++i) {
    double sum = 0;
    for (const Part& part : parts) sum += Within(part, ends[i]);
    if (sum >= total) {
      if (i == 0 || sum == sum_before) return ends[i];
      return before + (ends[i] - before) * (total - sum_before) / (sum - sum_before);
    }
    before = ends[i];
    sum_before = sum;
  }
  return ends.back();
}

// Rounds to integers with the current sum.
void ShareOut(std::vector<Part>& parts, absl::Span<int64_t> values) {
  int64_t left = 0;
  for (const Part& part : parts) left += values[part.place];
  const double shift = ShiftFor(parts, static_cast<double>(left));
  for (Part& part : parts) {
    part.wanted = Within(part, shift);
    const double whole = std::floor(part.wanted + kNear);
    values[part.place] = static_cast<int64_t>(whole);
    left -= values[part.place];
    part.wanted = std::nearbyint((part.wanted - whole) / kNear);  // Remainder.
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.wanted > b.wanted; });
  for (size_t i = 0; i < parts.size() && left > 0; ++i) {
    if (static_cast<double>(values[parts[i].place]) >= parts[i].high) continue;
    ++values[parts[i].place];
    --left;
  }
  // For values too large to represent fractions, the rounded values may exceed the sum.
  for (size_t i = parts.size(); i-- > 0 && left < 0;) {
    const auto above = values[parts[i].place] - static_cast<int64_t>(parts[i].low);
    const int64_t taken = std::min(above, -left);
    values[parts[i].place] -= taken;
    left += taken;
  }
}

}  // namespace

void Knobs::Move(absl::Span<const double> by, absl::Span<int64_t> values) const {
  std::vector<std::vector<Part>> kept;
  for (size_t i = 0; i < low.size(); ++i) {
    const auto least = static_cast<double>(low[i]), most = static_cast<double>(high[i]);
    const double wanted = std::clamp(static_cast<double>(values[i]) + by[i], least, most);
    if (sums.empty()) {
      values[i] = static_cast<int64_t>(std::nearbyint(wanted));
      continue;
    }
    const auto sum = static_cast<size_t>(sums[i]);
    if (kept.size() <= sum) kept.resize(sum + 1);
    kept[sum].push_back({i, wanted, least, most});
  }
  for (std::vector<Part>& parts : kept) {
    if (!parts.empty()) ShareOut(parts, values);
  }
}

}  // namespace kueue
