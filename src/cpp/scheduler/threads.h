// Threads on which a scheduling cycle nominates the heads of different cohort trees.
#ifndef KUEUE_SCHEDULER_THREADS_H_
#define KUEUE_SCHEDULER_THREADS_H_

#include <cstddef>
#include <functional>
#include <memory>

#include "model/pool.h"

namespace kueue {

// A copy has the same settings and starts its own threads when it first needs them.
class CycleThreads {
 public:
  CycleThreads() = default;
  CycleThreads(const CycleThreads& other) : count_(other.count_), least_heads_(other.least_heads_) {}
  CycleThreads(CycleThreads&&) = default;
  CycleThreads& operator=(CycleThreads other) noexcept {
    count_ = other.count_;
    least_heads_ = other.least_heads_;
    pool_ = std::move(other.pool_);
    return *this;
  }

  // Cycles with fewer than `least_heads` heads use one thread, because starting the others takes longer than
  // nominating these heads.
  void Set(int count, size_t least_heads) {
    count_ = count;
    least_heads_ = least_heads;
  }
  bool AreWorthIt(size_t heads) const { return count_ > 1 && heads >= least_heads_; }
  // See Pool::Do().
  void Do(size_t pieces, const std::function<void(size_t)>& work) {
    if (pool_ == nullptr) pool_ = std::make_unique<Pool>();
    pool_->Do(count_, pieces, work);
  }

 private:
  int count_ = 1;
  size_t least_heads_ = 0;
  std::unique_ptr<Pool> pool_;
};

}  // namespace kueue

#endif  // KUEUE_SCHEDULER_THREADS_H_
