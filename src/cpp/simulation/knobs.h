// Integer parameters that can be changed during a run, within bounds and optionally with constant sums.
#ifndef KUEUE_SIMULATION_KNOBS_H_
#define KUEUE_SIMULATION_KNOBS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace kueue {

struct Knobs {
  std::vector<int64_t> low, high;
  // Number of the sum to which each parameter belongs, starting at 0; empty: no constant sums.
  std::vector<int32_t> sums;

  // Adds `by` to `values` and clamps the results to the bounds. The values must be within the bounds before.
  // Rounding keeps the sums constant: remainders are assigned to the parameters with the largest fractional
  // parts, ties to the first.
  void Move(absl::Span<const double> by, absl::Span<int64_t> values) const;
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_KNOBS_H_
