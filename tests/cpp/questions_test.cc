// Questions, and what they leave unchanged.
#include <gtest/gtest.h>

#include <utility>

#include "cluster.h"
#include "questions/ask.h"

namespace kueue {
namespace {

using testing_cluster::Cluster;
using testing_cluster::Job;
using testing_cluster::QueueSpec;
using testing_cluster::RunAll;

TEST(Question, CopiesNoQueueOfAFork) {
  Engine engine = Cluster({QueueSpec("a", "all", 2000), QueueSpec("b", "all", 2000)});
  engine.Submit(Job("held", "a", "3"));
  RunAll(engine);
  engine.state().EnsureBuilt();
  Engine fork(engine);
  const State& ours = std::as_const(engine).state();
  const State& theirs = std::as_const(fork).state();
  const NodeId queue = ours.forest().FindClusterQueue("b");
  ASSERT_EQ(&ours.Queue(queue), &theirs.Queue(queue));
  for (const char* cpu : {"1", "3", "9"}) {
    const HypotheticalWorkload asked(fork.state(), Job("asked", "b", cpu, /*priority=*/1));
    Answer(fork.state(), asked.id());
  }
  EXPECT_EQ(&ours.Queue(queue), &theirs.Queue(queue));
}

}  // namespace
}  // namespace kueue
