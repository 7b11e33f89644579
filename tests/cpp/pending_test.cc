// Who waits in a queue, and in what order.
#include "queue/pending.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "queue/check.h"

namespace kueue {
namespace {

constexpr auto kAlways = [](auto) { return true; };
constexpr auto kNever = [](auto) { return false; };

class PendingTest : public testing::Test {
 protected:
  // A class is a priority and a request; workloads of one class have one priority.
  WorkloadId Add(int cls, int64_t priority, Time time, int local = 0,
                 PendingQueue::As as = PendingQueue::As::kActive) {
    const WorkloadId id = workloads_.Add();
    Workload& workload = workloads_[id];
    workload.uid = std::to_string(100 - id.value());  // the later workload has the lower UID
    workload.spec = std::make_shared<WorkloadSpec>();
    workload.hash = ClassId(cls);
    workload.priority = priority;
    workload.queue_time = time;
    workload.local_queue = LocalQueueId(local);
    queue_.Insert(Tables(), id, as);
    return id;
  }
  PendingQueue::Tables Tables() { return {workloads_, usage_}; }
  WorkloadId Pop() { return queue_.Pop(Tables(), kNever); }
  // Who would be popped.
  WorkloadId First() const {
    WorkloadTable workloads = workloads_;
    return PendingQueue(queue_).Pop({workloads, usage_}, kNever);
  }
  std::vector<WorkloadId> PopAll() {
    std::vector<WorkloadId> all;
    for (WorkloadId id = Pop(); id != kNoId; id = Pop()) {
      all.push_back(id);
      queue_.Erase(Tables(), id);
    }
    return all;
  }
  void TearDown() override { EXPECT_EQ(Inspect(queue_, workloads_).problems, std::vector<std::string>()); }

  WorkloadTable workloads_;
  UsageByLocalQueue usage_ = {0, 0};  // of two LocalQueues
  PendingQueue queue_;
};

TEST_F(PendingTest, PriorityThenTimeThenUid) {
  const WorkloadId late = Add(0, 0, 9), early = Add(0, 0, 3), high = Add(1, 5, 20), twin = Add(2, 0, 3);
  const std::vector<WorkloadId> order = {high, twin, early, late};
  EXPECT_EQ(queue_.Ordered(workloads_, usage_), order);
  EXPECT_EQ(PopAll(), order);
}

TEST_F(PendingTest, AnyOrderOfArrivalGivesTheSameOrder) {
  // Multiples of 37 modulo 101 go through 100 times in no order at all.
  for (Time time = 1; time <= 100; ++time)
    Add(static_cast<int>(time % 3), 0, time * 37 % 101, time % 2 ? 0 : 1);
  for (int id = 0; id < 100; id += 7) queue_.Erase(Tables(), WorkloadId(id));
  Time last = 0;
  const std::vector<WorkloadId> order = PopAll();
  EXPECT_EQ(order.size(), 85u);
  for (const WorkloadId id : order) {
    EXPECT_LT(last, workloads_[id].queue_time);
    last = workloads_[id].queue_time;
  }
}

TEST_F(PendingTest, APoppedWorkloadIsInFlightUntilItIsRequeued) {
  const WorkloadId only = Add(0, 0, 1);
  EXPECT_EQ(Pop(), only);
  EXPECT_EQ(queue_.inflight(), only);
  EXPECT_FALSE(queue_.HasActive());
  queue_.Erase(Tables(), only);
  EXPECT_EQ(queue_.inflight(), kNoId);
  queue_.Insert(Tables(), only, PendingQueue::As::kInadmissible);
  EXPECT_TRUE(queue_.IsInadmissible(workloads_, only));
  EXPECT_EQ(Pop(), kNoId);
}

TEST_F(PendingTest, AWholeClassIsInadmissibleAndRequeued) {
  const WorkloadId a = Add(0, 0, 1), b = Add(0, 0, 2, 1), other = Add(1, 0, 3);
  queue_.MarkInadmissible(Tables(), ClassId(0), Reason::kWaitingForQuota);
  EXPECT_EQ(queue_.active_count(), 1);
  EXPECT_EQ(queue_.inadmissible_count(), 2);
  EXPECT_EQ(*queue_.InadmissibleReason(ClassId(0)), Reason::kWaitingForQuota);
  EXPECT_EQ(queue_.InadmissibleReason(ClassId(1)), nullptr);
  EXPECT_EQ(First(), other);
  queue_.QueueInadmissible(Tables(), [](LocalQueueId local) { return local == LocalQueueId(1); }, kAlways);
  EXPECT_TRUE(queue_.IsInadmissible(workloads_, a));
  EXPECT_FALSE(queue_.IsInadmissible(workloads_, b));
  EXPECT_EQ(queue_.InadmissibleReason(ClassId(0)), nullptr);
  queue_.QueueInadmissible(Tables(), kAlways, kAlways);
  EXPECT_EQ(PopAll(), (std::vector<WorkloadId>{a, b, other}));
}

TEST_F(PendingTest, OnlyAClassIsInadmissibleInAllItsLocalQueues) {
  usage_ = {3, 2, 1};
  queue_.by_usage = true;
  std::vector<WorkloadId> others, marked;
  for (int local = 2; local >= 0; --local) {
    others.push_back(Add(0, 0, 3, local));
    marked.push_back(Add(1, 0, 2, local));
    others.push_back(Add(2, 0, 4, local));
  }
  queue_.MarkInadmissible(Tables(), ClassId(1), Reason::kWaitingForQuota);
  queue_.MarkInadmissible(Tables(), ClassId(3), Reason::kWaitingForQuota);  // of which there is none
  for (WorkloadId id : marked) EXPECT_TRUE(queue_.IsInadmissible(workloads_, id));
  EXPECT_EQ(queue_.inadmissible_count(), 3);
  EXPECT_EQ(PopAll(), others);
}

TEST_F(PendingTest, ADelayedWorkloadWaitsForItsBackoff) {
  const WorkloadId delayed = Add(0, 0, 1, 0, PendingQueue::As::kDelayed);
  queue_.QueueInadmissible(Tables(), kAlways, kNever);
  EXPECT_TRUE(queue_.IsInadmissible(workloads_, delayed));
  EXPECT_FALSE(queue_.HasActive());
  queue_.QueueInadmissible(Tables(), kNever, kAlways);
  EXPECT_FALSE(queue_.HasActive());
  queue_.QueueInadmissible(Tables(), kAlways, kAlways);
  EXPECT_EQ(Pop(), delayed);
}

TEST_F(PendingTest, AStickyPreemptorIsFirstWhileItIsActive) {
  const WorkloadId high = Add(0, 9, 1), preemptor = Add(1, 0, 5);
  queue_.preemptor = preemptor;
  EXPECT_EQ(First(), high);
  queue_.sticky = true;
  EXPECT_EQ(First(), preemptor);
  EXPECT_EQ(queue_.Ordered(workloads_, usage_), (std::vector<WorkloadId>{preemptor, high}));
  queue_.MarkInadmissible(Tables(), ClassId(1), Reason::kWaitingForQuota);
  EXPECT_EQ(First(), high);
}

TEST_F(PendingTest, TheLocalQueueWithTheLeastUsageIsFirst) {
  usage_ = {2.5, 1.0};
  queue_.by_usage = true;
  const WorkloadId busy = Add(0, 9, 1, 0), idle = Add(1, 0, 5, 1), idle_high = Add(2, 3, 7, 1);
  EXPECT_EQ(queue_.Ordered(workloads_, usage_), (std::vector<WorkloadId>{idle_high, idle, busy}));
  EXPECT_EQ(PopAll(), (std::vector<WorkloadId>{idle_high, idle, busy}));
}

TEST_F(PendingTest, ChangedUsageAppliesAfterReordering) {
  queue_.by_usage = true;
  const WorkloadId a = Add(0, 9, 1, 0), b = Add(1, 0, 5, 1);
  usage_ = {1.0, 0};
  EXPECT_EQ(queue_.Ordered(workloads_, usage_), (std::vector<WorkloadId>{b, a}));
  EXPECT_EQ(First(), a);
  WorkloadTable workloads = workloads_;
  EXPECT_EQ(PendingQueue(queue_).Pop({workloads, usage_}, kAlways), b);  // where a penalty is pending
  queue_.Reorder(Tables());
  EXPECT_EQ(PopAll(), (std::vector<WorkloadId>{b, a}));
}

TEST_F(PendingTest, HasOnlyComparesClassesAndTimesOfAllWorkloads) {
  for (const auto as : {PendingQueue::As::kActive, PendingQueue::As::kInadmissible}) {
    queue_ = PendingQueue();
    EXPECT_TRUE(queue_.HasOnly(ClassId(1), 0));  // There are no workloads.
    const WorkloadId early = Add(1, 0, 3, 0), late = Add(1, 0, 5, 1, as);
    EXPECT_TRUE(queue_.HasOnly(ClassId(1), 6));
    EXPECT_FALSE(queue_.HasOnly(ClassId(1), 5));  // The late workload has the same time.
    EXPECT_FALSE(queue_.HasOnly(ClassId(0), 6));
    EXPECT_FALSE(queue_.HasOnly(ClassId(2), 6));
    for (const int cls : {0, 2}) {
      const WorkloadId other = Add(cls, 0, 1, 0, as);
      EXPECT_FALSE(queue_.HasOnly(ClassId(1), 6));
      queue_.Erase(Tables(), other);
    }
    EXPECT_TRUE(queue_.HasOnly(ClassId(1), 6));
    queue_.Erase(Tables(), late);
    EXPECT_TRUE(queue_.HasOnly(ClassId(1), 5));
    EXPECT_FALSE(queue_.HasOnly(ClassId(1), 3));
    queue_.Erase(Tables(), early);
    EXPECT_TRUE(queue_.HasOnly(ClassId(1), 3));
  }
}

TEST_F(PendingTest, AWorkloadIsTrackedThroughAChange) {
  for (const bool by_usage : {false, true}) {
    queue_.by_usage = by_usage;
    const WorkloadId first = Add(0, 9, 1), second = Add(1, 5, 2);
    queue_.Update(Tables(), second, [&] {
      workloads_[second].hash = ClassId(2);
      workloads_[second].priority = 10;
    });
    EXPECT_EQ(PopAll(), (std::vector<WorkloadId>{second, first}));
  }
}

}  // namespace
}  // namespace kueue
