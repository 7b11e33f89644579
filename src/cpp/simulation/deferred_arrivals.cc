#include "simulation/deferred_arrivals.h"

namespace kueue {

// Returns whether a job precedes a job of the same shape in queue order.
bool DeferredArrivals::Precedes(const JobColumns& columns, int32_t earlier, int32_t job) const {
  const Time before = columns.CreationOf(earlier, start_), after = columns.CreationOf(job, start_);
  return before < after || (before == after && columns.UidOf(earlier) < columns.UidOf(job));
}

int32_t DeferredArrivals::Add(const JobColumns& columns, int32_t job) {
  lines_.resize(columns.shapes.size());  // Jobs may have been added.
  next_.resize(static_cast<size_t>(columns.size()), -1);
  Line& line = LineOf(columns, job);
  if (line.first < 0) {
    line = {job, job};
    return -1;
  }
  if (!Precedes(columns, line.last, job)) return -1;
  next_[static_cast<size_t>(line.last)] = job;
  line.last = job;
  return line.first;
}

int32_t DeferredArrivals::Leave(const JobColumns& columns, int32_t job) {
  if (job < 0) return -1;
  Line& line = LineOf(columns, job);
  if (line.first != job) return -1;
  line.first = next_[static_cast<size_t>(job)];
  return line.first;
}

}  // namespace kueue
