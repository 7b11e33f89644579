// The engine without Python: objects and workloads in, decisions out.
#include "engine/engine.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cluster.h"
#include "engine/fingerprint.h"
#include "engine/objects.h"
#include "engine/trees.h"
#include "persist/persist.h"
#include "state/check.h"
#include "state/names.h"
#include "text/text.h"

namespace kueue {
namespace {

using namespace testing_cluster;
using Names = std::vector<std::string>;

class EngineTest : public testing::Test {
 protected:
  EngineTest() : engine_(Cluster({QueueSpec("a", "team", 4000), QueueSpec("b", "team", 4000)})) {}
  void TearDown() override { EXPECT_EQ(Check(engine_.state()), Names()); }
  const Workload& Get(const std::string& name) const {
    return engine_.state().At(FindByKey(engine_.state(), "default/" + name));
  }
  std::string MessageOf(const std::string& name, ConditionType type) const {
    return Render(engine_.state(), Get(name).Find(type)->message);
  }
  Amount Used(const char* queue) {
    const State& state = engine_.state();
    return state.quota.Usage(state.forest().FindClusterQueue(queue), FlavorResourceId(0));
  }

  Engine engine_;
};

TEST_F(EngineTest, AQueueBorrowsUnusedQuotaOfTheCohort) {
  engine_.Submit(Submitted("first", "a", "3"));
  engine_.Submit(Submitted("second", "a", "5"));
  engine_.Submit(Submitted("third", "a", "1"));
  EXPECT_EQ(RunAll(engine_), (Names{"first", "second"}));
  EXPECT_EQ(Used("a"), Amount(8000));
  EXPECT_EQ(MessageOf("third", ConditionType::kQuotaReserved),
            "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor default, 1 "
            "more needed");
}

TEST_F(EngineTest, NominalQuotaIsReclaimed) {
  engine_.Submit(Submitted("owner", "a", "3"));
  engine_.Submit(Submitted("borrower", "a", "3"));
  RunAll(engine_);
  engine_.Submit(Submitted("reclaims", "b", "4"));
  EXPECT_EQ(RunAll(engine_), (Names{"owner", "reclaims"}));
  EXPECT_EQ(Get("borrower").Find(ConditionType::kPreempted)->reason, Reason::kInCohortReclamation);
}

TEST_F(EngineTest, EqualAdmissionsOfAQueueAreOneObject) {
  for (const char* name : {"first", "second"}) engine_.Submit(Submitted(name, "a", "1"));
  engine_.Submit(Submitted("larger", "a", "2"));
  engine_.Submit(Submitted("elsewhere", "b", "1"));
  EXPECT_EQ(RunAll(engine_), (Names{"first", "second", "larger", "elsewhere"}));
  EXPECT_EQ(Get("first").admission, Get("second").admission);
  for (const char* name : {"larger", "elsewhere"}) EXPECT_NE(Get(name).admission, Get("first").admission);
  EXPECT_EQ(Get("larger").admission->pod_sets.front().resources.front().usage, 2000);
  EXPECT_EQ(Get("first").admission->pod_sets.front().resources.front().usage, 1000);
}

TEST_F(EngineTest, AFinishedWorkloadReleasesItsQuota) {
  engine_.Submit(Submitted("all", "a", "8"));
  engine_.Submit(Submitted("next", "a", "8"));
  EXPECT_EQ(RunAll(engine_), Names{"all"});
  engine_.Finish(FindByKey(engine_.state(), "default/all"));
  EXPECT_EQ(RunAll(engine_), Names{"next"});
  engine_.Delete(FindByKey(engine_.state(), "default/next"));
  EXPECT_EQ(Used("a"), Amount(0));
}

TEST_F(EngineTest, AForkIsIndependent) {
  engine_.Submit(Submitted("first", "a", "3"));
  RunAll(engine_);
  const uint64_t before = Fingerprint(engine_.state());
  Engine fork = engine_;
  fork.Submit(Submitted("only-there", "b", "5", 9));
  RunAll(fork);
  fork.Finish(FindByKey(fork.state(), "default/first"));
  EXPECT_EQ(Fingerprint(engine_.state()), before);
  EXPECT_NE(Fingerprint(fork.state()), before);
  EXPECT_EQ(FindByKey(engine_.state(), "default/only-there"), kNoId);
}

TEST_F(EngineTest, AQuestionChangesNothing) {
  engine_.Submit(Submitted("low", "a", "8"));
  RunAll(engine_);
  const WorkloadId asked = engine_.Submit(Submitted("asked", "b", "4", 5));
  const uint64_t before = Fingerprint(engine_.state());
  const Entry answer = engine_.TryAdmit(asked);
  EXPECT_EQ(answer.targets.size(), 1u);
  EXPECT_EQ(Fingerprint(engine_.state()), before);
}

TEST_F(EngineTest, ACohortCycleStopsItsQueues) {
  CohortSpec team, above;
  team.name = above.parent = "team";
  team.parent = above.name = "above";
  ApplyCohort(engine_.state(), team, true);
  ApplyCohort(engine_.state(), above, true);
  engine_.Submit(Submitted("waits", "a", "1"));
  EXPECT_EQ(RunAll(engine_), Names());
  above.parent.clear();
  ApplyCohort(engine_.state(), above, true);
  EXPECT_EQ(RunAll(engine_), Names{"waits"});
}

TEST_F(EngineTest, WorkloadsOfAMissingClusterQueueWait) {
  engine_.Submit(Submitted("runs", "a", "4"));
  RunAll(engine_);
  LocalQueueSpec lost;
  lost.ns = "default";
  lost.name = "lost";
  lost.cluster_queue = "nowhere";
  ApplyLocalQueue(engine_.state(), lost);
  EXPECT_EQ(Check(engine_.state()), Names());
  engine_.Submit(Submitted("waits", "lost", "1"));
  EXPECT_TRUE(LoadState(SaveState(engine_.state())).ok());
  EXPECT_EQ(RunAll(engine_), Names{"runs"});
  ApplyClusterQueue(engine_.state(), QueueSpec("nowhere", "team", 0), true);
  EXPECT_EQ(RunAll(engine_), (Names{"runs", "waits"}));
}

TEST_F(EngineTest, ReducedQuotaEvictsNoWorkload) {
  engine_.Submit(Submitted("runs", "a", "4"));
  RunAll(engine_);
  ApplyClusterQueue(engine_.state(), QueueSpec("a", "team", 0), true);
  ApplyClusterQueue(engine_.state(), QueueSpec("b", "team", 0), true);
  engine_.Submit(Submitted("waits", "b", "1"));
  EXPECT_EQ(RunAll(engine_), Names{"runs"});
}

TEST_F(EngineTest, TheHighestAmountsNeitherOverflowNorWrap) {
  engine_.Submit(Submitted("most", "a", "9223372036854774"));
  engine_.Submit(Submitted("as-much-again", "b", "9223372036854774"));
  engine_.Submit(Submitted("beyond", "b", "9e30"));
  EXPECT_EQ(RunAll(engine_), Names());
  ClusterQueueSpec unlimited = QueueSpec("a", "team", 0);
  unlimited.resource_groups[0].flavors[0].resources[0].nominal = Amount::Unlimited();
  ApplyClusterQueue(engine_.state(), unlimited, true);
  EXPECT_EQ(RunAll(engine_), (Names{"most", "as-much-again"}));
}

}  // namespace
}  // namespace kueue
