// Integer parameters that can be changed during a simulation. The changes respect bounds and, optionally,
// keep the sums of groups of parameters constant.
#ifndef KUEUE_SIMULATION_KNOBS_H_
#define KUEUE_SIMULATION_KNOBS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace kueue {

struct Knobs {
  std::vector<int64_t> low, high;
  // Index of the group to which each parameter belongs, starting at 0. The sum of the parameters in each
  // group stays constant. The list is empty if no sum has to stay constant.
  std::vector<int32_t> sums;

  // Adds `by` to `values` and clamps the results to the bounds. The values must be within the bounds before
  // the call. The results are rounded so that the sums stay constant: remainders are assigned to the
  // parameters with the largest fractional parts. Ties are broken in favor of the first parameter.
  void Move(absl::Span<const double> by, absl::Span<int64_t> values) const;
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_KNOBS_H_
