// Virtual time: what a run of arrivals and ends adds up to.
#include "simulation/simulation.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cluster.h"
#include "simulation/queue_watch.h"
#include "simulation/touched.h"
#include "state/check.h"

namespace kueue {
namespace {

using namespace testing_cluster;
using Shapes = std::vector<std::shared_ptr<const WorkloadSpec>>;

// Jobs by second of submission, runtime in seconds and shape, and the columns that they make.
struct Load {
  std::vector<int64_t> submit, runtime;
  std::vector<int32_t> shape;

  void Add(Time second, Time seconds, int32_t number) {
    submit.push_back(second * kSecond);
    runtime.push_back(seconds * kSecond);
    shape.push_back(number);
  }
  Simulation Start(Engine engine, Shapes shapes, SimulationOptions options = {}) const {
    auto columns = std::make_shared<JobColumns>();
    columns->submit = submit;
    columns->runtime = runtime;
    columns->shape = shape;
    columns->shapes = std::move(shapes);
    return Simulation(std::move(engine), std::move(columns), std::move(options));
  }
};

TEST(TouchedQueues, AreTakenOnceInTheOrderOfTheirIds) {
  TouchedQueues touched;
  for (const int queue : {200, 3, 64, 63, 3}) touched.Add(NodeId(queue));
  std::vector<int32_t> taken;
  const auto take = [&taken](NodeId queue) { taken.push_back(queue.value()); };
  touched.Take(take);
  EXPECT_EQ(taken, (std::vector<int32_t>{3, 63, 64, 200}));
  touched.Add(NodeId(130));
  touched.Take(take);
  touched.Take(take);
  EXPECT_EQ(taken, (std::vector<int32_t>{3, 63, 64, 200, 130}));
}

TEST(Simulation, JobsRunOneAfterTheOther) {
  Load load;
  load.Add(1, 10, 0);
  load.Add(3, 10, 0);
  Simulation run =
      load.Start(Cluster({QueueSpec("a", "", 1000)}), {testing_cluster::Submitted("", "a", "1").spec});
  EXPECT_TRUE(run.Run(1));
  EXPECT_EQ(run.data().stats.admissions, 1);
  EXPECT_FALSE(run.Run(1000));
  EXPECT_EQ(run.data().stats.workloads, 2);
  EXPECT_EQ(run.data().stats.finished, 2);
  EXPECT_EQ(run.data().stats.end, 21 * kSecond);
  EXPECT_EQ(run.data().jobs.jobs()[1].first_start, 11 * kSecond);
}

TEST(Simulation, APreemptedJobRestarts) {
  Load load;
  load.Add(0, 10, 0);
  load.Add(4, 2, 1);
  Simulation run = load.Start(
      Cluster({QueueSpec("a", "", 1000)}),
      {testing_cluster::Submitted("", "a", "1").spec, testing_cluster::Submitted("", "a", "1", 5).spec});
  EXPECT_FALSE(run.Run(1000));
  EXPECT_EQ(run.data().stats.evictions, 1);
  EXPECT_EQ(run.data().stats.admissions, 3);
  EXPECT_EQ(run.data().stats.end, 16 * kSecond);
  EXPECT_EQ(run.data().jobs.jobs()[0].lost, 4 * kSecond);
}

TEST(Simulation, EveryJobThatFitsFinishesAndReleasesItsQuota) {
  Load load;
  for (int i = 0; i < 60; ++i) load.Add(i / 4, 1 + i % 7, i % 3);
  Simulation run = load.Start(
      Cluster({QueueSpec("a", "team", 3000), QueueSpec("b", "team", 2000)}),
      {testing_cluster::Submitted("", "a", "1").spec, testing_cluster::Submitted("", "b", "2", 1).spec,
       testing_cluster::Submitted("", "b", "500m", 2).spec});
  for (int64_t step = 0; run.Run(1); ++step) {
    ASSERT_LT(step, 2000);
    ASSERT_EQ(Check(run.data().engine.state()), std::vector<std::string>());
  }
  EXPECT_EQ(run.data().stats.finished, 60);
  EXPECT_EQ(run.data().stats.admissions, 60 + run.data().stats.evictions);
  for (NodeId node : run.data().engine.state().forest().Nodes()) {
    EXPECT_EQ(run.data().engine.state().quota.Usage(node, FlavorResourceId(0)), Amount(0));
  }
}

TEST(QueueWatch, AJobAdmittedAtTheStartHasNotWaited) {
  Load load;
  load.Add(0, 10, 0);
  load.Add(0, 10, 0);
  Simulation run =
      load.Start(Cluster({QueueSpec("a", "", 1000)}), {testing_cluster::Submitted("", "a", "1").spec});
  EXPECT_TRUE(run.Run(1));
  ASSERT_EQ(run.data().jobs.jobs()[0].reserved, 0);
  QueueWatch watch({"a"});
  const QueueView view = watch.Look(run, 4 * kSecond).front();
  EXPECT_EQ(view.waited, 4 * kSecond);  // by the second job alone
  EXPECT_EQ(view.waiting, 1);
  EXPECT_EQ(view.arrivals, 2);
  EXPECT_FALSE(run.Run(1000));
  EXPECT_EQ(watch.Look(run, 20 * kSecond).front().waited, 10 * kSecond);
}

TEST(RunModel, ProgressLossAndOverheadOfAnEvictedRunAreExact) {
  for (const OnEviction on : {OnEviction::kRestart, OnEviction::kCheckpoint, OnEviction::kResume}) {
    const RunModel model{on, 7, 2, 5, 0};
    for (Time held = 0; held < 60; ++held) {
      for (const Time restore : {0, 5}) {
        const Broken broken = BreakRun(model, held, restore);
        EXPECT_EQ(broken.kept + broken.lost + broken.overhead, held);
        EXPECT_GE(broken.lost, 0);
      }
    }
  }
  const RunModel model{OnEviction::kCheckpoint, 7, 2, 5, 0};
  EXPECT_EQ(BreakRun(model, 5 + 9 + 3, 5).kept, 7);
  EXPECT_EQ(BreakRun(model, 5 + 9 + 3, 5).overhead, 5 + 2);
  EXPECT_EQ(LengthOfRun(model, 21, 5), 5 + 21 + 2 * 2);
  EXPECT_EQ(LengthOfRun(model, 22, 0), 22 + 3 * 2);
}

}  // namespace
}  // namespace kueue
