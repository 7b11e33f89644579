// The shape of the cohort forest: roots, heights, cycles, order.
#include "cohort/forest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace kueue {
namespace {

class ForestTest : public testing::Test {
 protected:
  NodeId Queue(absl::string_view name, absl::string_view cohort = "") {
    const NodeId queue = forest_.InternClusterQueue(name);
    forest_.SetDeclared(queue, true);
    forest_.SetActive(queue, true);
    forest_.SetParent(queue, cohort.empty() ? kNoId : forest_.InternCohort(cohort));
    return queue;
  }
  NodeId Cohort(absl::string_view name, absl::string_view parent = "") {
    const NodeId cohort = forest_.InternCohort(name);
    forest_.SetDeclared(cohort, true);
    forest_.SetParent(cohort, parent.empty() ? kNoId : forest_.InternCohort(parent));
    return cohort;
  }
  void Rebuild() {
    forest_.Rebuild();
    forest_.RebuildHeights();
  }
  std::vector<std::string> Names(const std::vector<NodeId>& nodes) const {
    std::vector<std::string> names;
    for (const NodeId node : nodes) names.push_back(forest_.Name(node));
    return names;
  }

  Forest forest_;
};

TEST_F(ForestTest, AQueueWithoutCohortIsItsOwnRoot) {
  const NodeId alone = Queue("alone");
  Rebuild();
  EXPECT_EQ(forest_.Root(alone), alone);
  EXPECT_EQ(forest_.Height(alone), 0);
  EXPECT_EQ(Names(forest_.QueuesOfTree(alone)), std::vector<std::string>{"alone"});
}

TEST_F(ForestTest, AnImplicitCohortExists) {
  const NodeId queue = Queue("q", "implicit");
  Rebuild();
  const NodeId cohort = forest_.FindCohort("implicit");
  EXPECT_TRUE(forest_.Exists(cohort));
  EXPECT_FALSE(forest_.IsDeclared(cohort));
  EXPECT_EQ(forest_.Root(queue), cohort);
  forest_.SetParent(queue, kNoId);
  Rebuild();
  EXPECT_FALSE(forest_.Exists(cohort));
}

TEST_F(ForestTest, ADeletedCohortLosesItsParent) {
  Queue("q", "leaf");
  const NodeId leaf = Cohort("leaf", "top"), top = forest_.FindCohort("top");
  Rebuild();
  EXPECT_EQ(forest_.Root(leaf), top);
  forest_.SetDeclared(leaf, false);
  Rebuild();
  EXPECT_EQ(forest_.Root(leaf), leaf);
  EXPECT_FALSE(forest_.Exists(top));
}

TEST_F(ForestTest, QueuesAndCohortsMayHaveEqualNames) {
  const NodeId queue = Queue("same", "same"), cohort = forest_.FindCohort("same");
  Rebuild();
  EXPECT_NE(queue, cohort);
  EXPECT_EQ(forest_.Parent(queue), cohort);
}

TEST_F(ForestTest, ChildrenAreOrderedByNameAfterTheirParents) {
  for (const char* name : {"c", "a", "b"}) Queue(name, "left");
  Queue("z", "right");
  Cohort("right", "top");
  Cohort("left", "top");
  Rebuild();
  EXPECT_EQ(Names(forest_.ChildQueues(forest_.FindCohort("left"))),
            (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(Names(forest_.ChildCohorts(forest_.FindCohort("top"))),
            (std::vector<std::string>{"left", "right"}));
  EXPECT_EQ(Names(forest_.Queues()), (std::vector<std::string>{"a", "b", "c", "z"}));
  const std::vector<NodeId>& order = forest_.TopDown();
  EXPECT_EQ(order.size(), 7u);
  const auto place = [&order](NodeId node) { return std::find(order.begin(), order.end(), node); };
  for (const NodeId node : order) {
    if (forest_.Parent(node) == kNoId) continue;
    EXPECT_LT(place(forest_.Parent(node)), place(node)) << forest_.Name(node);
  }
}

TEST_F(ForestTest, HeightCountsActiveQueuesOnly) {
  const NodeId deep = Queue("deep", "low");
  const NodeId low = Cohort("low", "middle"), middle = Cohort("middle", "top"),
               empty = Cohort("empty", "top");
  const NodeId top = Cohort("top");
  Rebuild();
  EXPECT_EQ(forest_.Height(low), 1);
  EXPECT_EQ(forest_.Height(middle), 2);
  EXPECT_EQ(forest_.Height(top), 3);
  EXPECT_EQ(forest_.Height(empty), 0);
  forest_.SetActive(deep, false);
  Rebuild();
  EXPECT_EQ(forest_.Height(low), 0);
  EXPECT_EQ(forest_.Height(top), 2);
}

TEST_F(ForestTest, ACycleHasNoRootAndAffectsNoOtherNodes) {
  const NodeId inside = Queue("inside", "a"), below = Queue("below", "hanger"),
               outside = Queue("outside", "fine");
  const NodeId a = Cohort("a", "b"), b = Cohort("b", "a"), self = Cohort("self", "self");
  Cohort("hanger", "b");
  Rebuild();
  for (const NodeId node : {inside, below, a, b, self}) {
    EXPECT_TRUE(HasCycle(forest_, node)) << forest_.Name(node);
    EXPECT_EQ(std::count(forest_.TopDown().begin(), forest_.TopDown().end(), node), 0);
  }
  EXPECT_FALSE(HasCycle(forest_, outside));
  EXPECT_EQ(forest_.Parent(inside), kNoId);
  Cohort("b");
  Rebuild();
  EXPECT_EQ(forest_.Root(inside), b);
  EXPECT_EQ(forest_.Root(below), b);
}

}  // namespace
}  // namespace kueue
