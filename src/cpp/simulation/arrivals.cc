#include "simulation/arrivals.h"

#include <algorithm>

namespace kueue {

int32_t Arrivals::Next(const JobStore& jobs) const {
  const Times submit = jobs.columns().submit;
  const bool is_later =
      !later_.empty() && (next_ >= given_ || later_.front().at < submit[static_cast<size_t>(next_)]);
  if (is_later) return later_.front().job;
  return next_ < given_ ? next_ : -1;
}

void Arrivals::Take(const JobStore& jobs) {
  const int32_t job = Next(jobs);
  if (job >= given_) {
    std::pop_heap(later_.begin(), later_.end());
    later_.pop_back();
  } else {
    ++next_;
  }
  arrived_.push_back(job);
}

void Arrivals::Add(const JobStore& jobs, int32_t job) {
  later_.push_back({jobs.columns().submit[static_cast<size_t>(job)], job});
  std::push_heap(later_.begin(), later_.end());
}

}  // namespace kueue
