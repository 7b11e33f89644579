// Questions, and what they leave unchanged.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "cluster.h"
#include "questions/ask.h"
#include "questions/status.h"
#include "state/rebuild.h"

namespace kueue {
namespace {

using testing_cluster::Cluster;
using testing_cluster::QueueSpec;
using testing_cluster::RunAll;
using testing_cluster::Submitted;

TEST(Question, CopiesNoQueueOfAFork) {
  Engine engine = Cluster({QueueSpec("a", "all", 2000), QueueSpec("b", "all", 2000)});
  engine.Submit(Submitted("held", "a", "3"));
  RunAll(engine);
  EnsureBuilt(engine.state());
  Engine fork(engine);
  const State& ours = std::as_const(engine).state();
  const State& theirs = std::as_const(fork).state();
  const NodeId queue = ours.forest().FindClusterQueue("b");
  ASSERT_EQ(&ours.Queue(queue), &theirs.Queue(queue));
  for (const char* cpu : {"1", "3", "9"}) {
    const HypotheticalWorkload asked(fork.state(), Submitted("asked", "b", cpu, /*priority=*/1));
    Answer(fork.state(), asked.id());
  }
  EXPECT_EQ(&ours.Queue(queue), &theirs.Queue(queue));
}

TEST(Status, HasTheNamesAndAmountsOfAQueue) {
  Engine engine = Cluster({QueueSpec("a", "all", 2000), QueueSpec("b", "all", 2000)});
  engine.Submit(Submitted("held", "a", "3"));
  engine.Submit(Submitted("waits", "a", "2"));
  RunAll(engine);
  const State& state = std::as_const(engine).state();
  const ClusterQueueView queue = ClusterQueueStatus(state).front();
  EXPECT_EQ(queue.name, "a");
  EXPECT_EQ(queue.cohort, "all");
  EXPECT_EQ(queue.reserving, 1);
  EXPECT_EQ(queue.active + queue.inadmissible, 1);
  const ResourceHolding& cpu = queue.holdings.front().resources.front();
  EXPECT_EQ(cpu.resource, "cpu");
  EXPECT_EQ(cpu.reserved, 3000);
  EXPECT_EQ(cpu.nominal, 2000);
  const ByName<PendingKeys> pending = PendingByQueue(state);
  ASSERT_EQ(pending.items.size(), 1);
  EXPECT_EQ(pending.items.front().first, "a");
  EXPECT_EQ(pending.items.front().second.first, std::vector<std::string>{"default/waits"});
}

}  // namespace
}  // namespace kueue
