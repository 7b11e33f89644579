// Which workloads the scheduler cannot tell apart.
#include <gtest/gtest.h>

#include <iterator>
#include <memory>
#include <set>
#include <string>

#include "cluster.h"
#include "engine/templates.h"
#include "workload/shape.h"

namespace kueue {
namespace {

using namespace testing_cluster;

PodTemplate Requesting(const std::string& resource, const std::string& amount) {
  PodTemplate pod;
  pod.containers.emplace_back();
  pod.containers.back().requests.emplace(resource, Quantity::Parse(amount).value());
  return pod;
}

TEST(SpecShape, CountsEqualAmountsAsEqual) {
  EXPECT_EQ(SpecShape(Requesting("cpu", "1")), SpecShape(Requesting("cpu", "1000m")));
  EXPECT_NE(SpecShape(Requesting("cpu", "1")), SpecShape(Requesting("cpu", "2")));
  EXPECT_NE(SpecShape(Requesting("cpu", "1")), SpecShape(Requesting("memory", "1")));
}

TEST(SpecShape, CountsNoLimits) {
  PodTemplate limited = Requesting("cpu", "1");
  limited.containers[0].limits = limited.containers[0].requests;
  EXPECT_EQ(SpecShape(limited), SpecShape(Requesting("cpu", "1")));
}

TEST(SpecShape, DistinguishesContainersInitContainersAndOverhead) {
  const PodTemplate container = Requesting("cpu", "1");
  PodTemplate init, overhead, whole, split;
  init.init_containers = container.containers;
  overhead.overhead = container.containers[0].requests;
  whole.has_resources = true;
  whole.resources = container.containers[0];
  split.containers = {container.containers[0], {}};
  const std::string shapes[] = {SpecShape(container), SpecShape(init),  SpecShape(overhead),
                                SpecShape(whole),     SpecShape(split), SpecShape(PodTemplate())};
  for (size_t i = 0; i < std::size(shapes); ++i) {
    for (size_t j = 0; j < i; ++j) EXPECT_NE(shapes[i], shapes[j]) << i << " " << j;
  }
}

TEST(SpecShape, NoNameCanImitateAnother) {
  EXPECT_NE(SpecShape(Requesting("a,1:b", "1")), SpecShape(Requesting("a", "1")));
  PodTemplate two = Requesting("a", "1");
  two.containers[0].requests.emplace("b", Quantity(2));
  EXPECT_NE(SpecShape(two), SpecShape(Requesting("a1,1:b", "2")));
}

class EquivalenceTest : public testing::Test {
 protected:
  EquivalenceTest() : engine_(Cluster({QueueSpec("a", "", 1000)})) {}
  ClassId ClassOf(WorkloadObject job) {
    job.name = job.uid = "w" + std::to_string(++submitted_);
    const Workload& workload = engine_.state().At(engine_.Submit(std::move(job)));
    classes_.insert(workload.cls);
    hashes_.insert(workload.hash);
    return workload.cls;
  }

  Engine engine_;
  int submitted_ = 0;
  std::set<ClassId> classes_, hashes_;
};

TEST_F(EquivalenceTest, EqualSpecsAreOneClassWhateverTheirAddress) {
  const WorkloadObject shared = Submitted("", "a", "1");
  const ClassId first = ClassOf(shared);
  EXPECT_EQ(ClassOf(shared), first);
  EXPECT_EQ(ClassOf(Submitted("", "a", "1000m")), first);
  EXPECT_EQ(hashes_.size(), 1u);
}

TEST_F(EquivalenceTest, EveryFieldThatTheSchedulerReadsMakesAnotherClass) {
  const auto changed = [](void (*change)(WorkloadSpec&)) {
    WorkloadObject job = Submitted("", "a", "1");
    auto spec = std::make_shared<WorkloadSpec>(*job.spec);
    change(*spec);
    job.spec = std::move(spec);
    return job;
  };
  ClassOf(Submitted("", "a", "1"));
  ClassOf(Submitted("", "a", "1", /*priority=*/1));
  ClassOf(Submitted("", "a", "2"));
  ClassOf(changed([](WorkloadSpec& spec) { spec.pod_sets[0].count = 2; }));
  ClassOf(changed([](WorkloadSpec& spec) { spec.pod_sets[0].min_count = 1; }));
  ClassOf(changed([](WorkloadSpec& spec) { spec.pod_sets[0].name = "worker"; }));
  ClassOf(changed([](WorkloadSpec& spec) { spec.pod_sets.push_back(spec.pod_sets[0]); }));
  ClassOf(changed([](WorkloadSpec& spec) {
    auto pod = std::make_shared<PodTemplate>(*spec.pod_sets[0].pod_template);
    pod->shape = "selector";
    spec.pod_sets[0].pod_template = std::move(pod);
  }));
  EXPECT_EQ(classes_.size(), 8u);
  EXPECT_EQ(hashes_.size(), 8u);
}

TEST_F(EquivalenceTest, ADefaultOfTheNamespaceMakesAnotherClass) {
  const WorkloadObject job = Submitted("", "a", "1");
  const ClassId before = ClassOf(job);
  LimitRange limits;
  limits.items.emplace_back();
  limits.items[0].type = "Container";
  limits.items[0].default_request.emplace("memory", Quantity(5));
  ApplyLimitRange(engine_.state(), "default", "limits", limits);
  const ClassId after = ClassOf(job);
  EXPECT_NE(after, before);
  EXPECT_EQ(engine_.state().Class(after).totals[0].requests.size(), 2u);
}

}  // namespace
}  // namespace kueue
