// Virtual time: what a run of arrivals and ends adds up to.
#include "simulation/simulation.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cluster.h"
#include "state/check.h"

namespace kueue {
namespace {

using namespace testing_cluster;

Arrival At(Time second, Time runtime, int32_t prototype, const std::string& name) {
  return {second * kSecond, second * kSecond, runtime * kSecond, prototype, name, name};
}

TEST(Simulation, OneAfterTheOther) {
  Engine engine = Cluster({QueueSpec("a", "", 1000)});
  Simulation run(engine, {Job("", "a", "1").spec}, {At(3, 10, 0, "second"), At(1, 10, 0, "first")});
  EXPECT_TRUE(run.Run(1));
  EXPECT_EQ(run.stats().admissions, 1);
  EXPECT_FALSE(run.Run(100));
  EXPECT_EQ(run.stats().workloads, 2);
  EXPECT_EQ(run.stats().finished, 2);
  EXPECT_EQ(run.stats().end, 21 * kSecond);
  EXPECT_EQ(run.stats().first_wait[0], (0 + 8) * kSecond);
}

TEST(Simulation, APreemptedJobRunsFromTheStartAgain) {
  Engine engine = Cluster({QueueSpec("a", "", 1000)});
  Simulation run(engine, {Job("", "a", "1").spec, Job("", "a", "1", 5).spec},
                 {At(0, 10, 0, "low"), At(4, 2, 1, "high")});
  EXPECT_FALSE(run.Run(100));
  EXPECT_EQ(run.stats().evictions, 1);
  EXPECT_EQ(run.stats().admissions, 3);
  EXPECT_EQ(run.stats().end, 16 * kSecond);
  EXPECT_EQ(run.stats().first_admitted, (std::vector<int64_t>{1, 1}));
}

TEST(Simulation, EverythingThatFitsFinishesAndHoldsNothing) {
  Engine engine = Cluster({QueueSpec("a", "team", 3000), QueueSpec("b", "team", 2000)});
  std::vector<Arrival> arrivals;
  for (int i = 0; i < 60; ++i) arrivals.push_back(At(i / 4, 1 + i % 7, i % 3, "w" + std::to_string(i)));
  Simulation run(engine, {Job("", "a", "1").spec, Job("", "b", "2", 1).spec, Job("", "b", "500m", 2).spec},
                 arrivals);
  for (int64_t moment = 0; run.Run(1); ++moment) {
    ASSERT_LT(moment, 1000);
    ASSERT_EQ(Check(engine.state()), std::vector<std::string>());
  }
  EXPECT_EQ(run.stats().finished, 60);
  EXPECT_EQ(run.stats().admissions, 60 + run.stats().evictions);
  for (NodeId node = 0; node < engine.state().forest().size(); ++node) {
    EXPECT_EQ(engine.state().quota.Usage(node, 0), Amount(0));
  }
}

}  // namespace
}  // namespace kueue
