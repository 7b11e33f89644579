// Who waits in a queue, and in what order.
#include "queue/pending.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "queue/check.h"

namespace kueue {
namespace {

bool Always(int32_t) { return true; }
bool Never(int32_t) { return false; }

class PendingTest : public testing::Test {
 protected:
  // A class is a priority and a request; workloads of one class have one priority.
  WorkloadId Add(ClassId cls, int64_t priority, Time time, LocalQueueId local = 0,
                 PendingQueue::As as = PendingQueue::As::kActive) {
    const auto id = static_cast<WorkloadId>(workloads_.size());
    Workload workload;
    auto spec = std::make_shared<WorkloadSpec>();
    spec->uid = std::to_string(100 - id);  // the later workload has the lower UID
    workload.spec = std::move(spec);
    workload.cls = cls;
    workload.priority = priority;
    workload.queue_time = time;
    workload.local_queue = local;
    workloads_.push_back(std::move(workload));
    queue_.Insert(workloads_, id, as);
    return id;
  }
  WorkloadId Pop() { return queue_.Pop(workloads_, nullptr); }
  std::vector<WorkloadId> PopAll() {
    std::vector<WorkloadId> all;
    for (WorkloadId id = Pop(); id != kNoId; id = Pop()) {
      all.push_back(id);
      queue_.Erase(workloads_, id);
    }
    return all;
  }
  void TearDown() override { EXPECT_EQ(Inspect(queue_, workloads_).problems, std::vector<std::string>()); }

  std::vector<Workload> workloads_;
  PendingQueue queue_;
};

TEST_F(PendingTest, PriorityThenTimeThenUid) {
  const WorkloadId late = Add(0, 0, 9), early = Add(0, 0, 3), high = Add(1, 5, 20), twin = Add(2, 0, 3);
  const std::vector<WorkloadId> order = {high, twin, early, late};
  EXPECT_EQ(queue_.Ordered(workloads_, nullptr), order);
  EXPECT_EQ(PopAll(), order);
}

TEST_F(PendingTest, AnyOrderOfArrivalGivesTheSameOrder) {
  // Multiples of 37 modulo 101 go through 100 times in no order at all.
  for (Time time = 1; time <= 100; ++time)
    Add(static_cast<ClassId>(time % 3), 0, time * 37 % 101, time % 2 ? 0 : 1);
  for (WorkloadId id = 0; id < 100; id += 7) queue_.Erase(workloads_, id);
  Time last = 0;
  const std::vector<WorkloadId> order = PopAll();
  EXPECT_EQ(order.size(), 85u);
  for (const WorkloadId id : order) {
    EXPECT_LT(last, workloads_[static_cast<size_t>(id)].queue_time);
    last = workloads_[static_cast<size_t>(id)].queue_time;
  }
}

TEST_F(PendingTest, APoppedWorkloadIsInFlightUntilItComesBack) {
  const WorkloadId only = Add(0, 0, 1);
  EXPECT_EQ(Pop(), only);
  EXPECT_EQ(queue_.inflight(), only);
  EXPECT_FALSE(queue_.HasActive());
  queue_.Erase(workloads_, only);
  EXPECT_EQ(queue_.inflight(), kNoId);
  queue_.Insert(workloads_, only, PendingQueue::As::kParked);
  EXPECT_TRUE(queue_.IsInadmissible(workloads_, only));
  EXPECT_EQ(Pop(), kNoId);
}

TEST_F(PendingTest, AClassIsParkedWholeAndWokenWhole) {
  const WorkloadId a = Add(0, 0, 1), b = Add(0, 0, 2, 1), other = Add(1, 0, 3);
  queue_.ParkClass(workloads_, 0, Reason::kWaitingForQuota);
  EXPECT_EQ(queue_.active_count(), 1);
  EXPECT_EQ(queue_.inadmissible_count(), 2);
  EXPECT_EQ(*queue_.ParkedReason(0), Reason::kWaitingForQuota);
  EXPECT_EQ(queue_.ParkedReason(1), nullptr);
  EXPECT_EQ(queue_.First(workloads_, nullptr), other);
  queue_.Wake(workloads_, [](LocalQueueId local) { return local == 1; }, Always);
  EXPECT_TRUE(queue_.IsInadmissible(workloads_, a));
  EXPECT_FALSE(queue_.IsInadmissible(workloads_, b));
  EXPECT_EQ(queue_.ParkedReason(0), nullptr);
  queue_.Wake(workloads_, Always, Always);
  EXPECT_EQ(PopAll(), (std::vector<WorkloadId>{a, b, other}));
}

TEST_F(PendingTest, ADelayedWorkloadWaitsForItsBackoff) {
  const WorkloadId delayed = Add(0, 0, 1, 0, PendingQueue::As::kDelayed);
  queue_.Wake(workloads_, Always, Never);
  EXPECT_TRUE(queue_.IsInadmissible(workloads_, delayed));
  EXPECT_FALSE(queue_.HasActive());
  queue_.Wake(workloads_, Never, Always);
  EXPECT_FALSE(queue_.HasActive());
  queue_.Wake(workloads_, Always, Always);
  EXPECT_EQ(Pop(), delayed);
}

TEST_F(PendingTest, AStickyPreemptorGoesFirstWhileItIsActive) {
  const WorkloadId high = Add(0, 9, 1), preemptor = Add(1, 0, 5);
  queue_.preemptor = preemptor;
  EXPECT_EQ(queue_.First(workloads_, nullptr), high);
  queue_.sticky = true;
  EXPECT_EQ(queue_.First(workloads_, nullptr), preemptor);
  EXPECT_EQ(queue_.Ordered(workloads_, nullptr), (std::vector<WorkloadId>{preemptor, high}));
  queue_.ParkClass(workloads_, 1, Reason::kWaitingForQuota);
  EXPECT_EQ(queue_.First(workloads_, nullptr), high);
}

TEST_F(PendingTest, WithUsageTheLocalQueueThatUsedLeastGoesFirst) {
  const WorkloadId busy = Add(0, 9, 1, 0), idle = Add(1, 0, 5, 1), idle_high = Add(2, 3, 7, 1);
  const auto usage = [](LocalQueueId local) { return local == 0 ? 2.5 : 1.0; };
  const PendingQueue::Usage by_usage = usage;
  EXPECT_EQ(queue_.First(workloads_, &by_usage), idle_high);
  EXPECT_EQ(queue_.Ordered(workloads_, &by_usage), (std::vector<WorkloadId>{idle_high, idle, busy}));
  EXPECT_EQ(queue_.First(workloads_, nullptr), busy);
}

}  // namespace
}  // namespace kueue
