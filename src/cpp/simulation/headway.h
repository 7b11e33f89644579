// Whether the jobs of a simulation get anywhere.
#ifndef KUEUE_SIMULATION_HEADWAY_H_
#define KUEUE_SIMULATION_HEADWAY_H_

#include <algorithm>
#include <cstdint>

#include "model/ids.h"

namespace kueue {

class Headway {
 public:
  // A job gets or loses quota. `is_finite`: the job has a runtime, so that it ends.
  void Hold(bool is_finite) {
    ++holding_;
    if (is_finite) ++ending_;
  }
  void Drop(bool is_finite) {
    --holding_;
    if (is_finite) --ending_;
  }
  // Returns whether a job with a runtime holds quota.
  bool HasEnding() const { return ending_ != 0; }

  void NoteEviction(Time now, bool keeps_progress) {
    if (fruitless_ == 0) since_ = now;
    fruitless_ = keeps_progress ? 0 : fruitless_ + 1;
  }
  // Notes that a job arrives, completes or is added.
  void Note() { fruitless_ = 0; }
  // Returns whether jobs are evicted repeatedly without any progress, and no end is in sight before the time
  // `last`: there is no such time, or reaching it would take more than kMostToCome evictions. Since some jobs
  // eventually succeed, returns false until many evictions have happened.
  bool IsEndless(Time now, Time last) const {
    if (fruitless_ <= std::max(kFruitless, kFruitlessOfJob * holding_)) return false;
    const auto spent = static_cast<double>(std::max<Time>(1, now - since_));
    const double to_come = static_cast<double>(last - now) / spent * static_cast<double>(fruitless_);
    return last == INT64_MAX || to_come > kMostToCome;
  }
  // Returns the number of evictions since a job last arrived, completed or kept any progress.
  int64_t fruitless() const { return fruitless_; }

 private:
  static constexpr int64_t kFruitless = 100'000, kFruitlessOfJob = 1'000;
  static constexpr double kMostToCome = 1e7;  // Maximum number of further evictions.

  int64_t holding_ = 0;  // Number of jobs that hold quota.
  int64_t ending_ = 0;   // Number of jobs that hold quota and have a finite runtime.
  int64_t fruitless_ = 0;
  Time since_ = 0;  // Time of the first eviction that `fruitless_` counts.
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_HEADWAY_H_
