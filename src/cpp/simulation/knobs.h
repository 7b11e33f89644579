// Whole numbers that somebody moves while a run goes on: within bounds, and if asked with an unchanged sum.
#ifndef KUEUE_SIMULATION_KNOBS_H_
#define KUEUE_SIMULATION_KNOBS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace kueue {

struct Knobs {
  std::vector<int64_t> low, high;
  // By number, of which sum it is a part, from 0 on; empty: no sum is kept.
  std::vector<int32_t> sums;

  // Moves the values, which are within bounds, by so much. What rounding leaves of a sum goes to the largest
  // remainders, of equal ones to the first.
  void Move(absl::Span<const double> by, absl::Span<int64_t> values) const;
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_KNOBS_H_
