// Placements that were found before, and the numbers that tell whether what they were found in is the same.
#include "topology/known.h"

#include <gtest/gtest.h>

#include <string>

#include "hosts.h"

namespace kueue {
namespace {

using testing_hosts::ClusterOfHosts;
using testing_hosts::kFlavor;
using testing_hosts::Pods;
using testing_hosts::Preferred;
using testing_hosts::Required;

// Two hosts of 4 and 3 pods.
class Known : public ::testing::Test {
 protected:
  Known() : cluster_({"block", kHostname}) { cluster_.Add({"b", "n0"}, 4).Add({"b", "n1"}, 3).Build(); }

  FlavorCapacity& capacity() { return *cluster_.capacity().Find(kFlavor); }
  SharedPlacement Ask(int count, bool as_if_empty = false) {
    PlacementQuery query = cluster_.Query(request_, count);
    query.as_if_empty = as_if_empty;
    return PlaceOrRemember(capacity(), query, cluster_.gates, cluster_.resources());
  }
  Pods Places(int count, bool as_if_empty = false) {
    return cluster_.Named(Ask(count, as_if_empty).workers->domains);
  }

  ClusterOfHosts cluster_;
  const TopologyRequest request_ = Preferred(kHostname);
};

TEST_F(Known, TheSameQuestionHasTheSameAnswer) {
  const SharedPlacement first = Ask(5);
  EXPECT_EQ(cluster_.Named(first.workers->domains), (Pods{{"n0", 4}, {"n1", 1}}));
  EXPECT_EQ(Ask(5).workers, first.workers);
  EXPECT_EQ(Places(3), (Pods{{"n1", 3}}));  // another question does not push it out
  EXPECT_EQ(Ask(5).workers, first.workers);
}

TEST_F(Known, AFailedQuestionHasTheSameAnswer) {
  const SharedPlacement first = Ask(8);
  ASSERT_NE(first.failure, nullptr);
  EXPECT_EQ(first.failure->fit, 7);
  EXPECT_EQ(first.workers, nullptr);
  EXPECT_EQ(Ask(8).failure, first.failure);
}

TEST_F(Known, ChangedUsageMakesAnotherQuestion) {
  EXPECT_EQ(Places(3), (Pods{{"n1", 3}}));
  cluster_.Use("n1", 1);
  EXPECT_EQ(Places(3), (Pods{{"n0", 3}}));
}

TEST_F(Known, UndoneUsageMakesThePreviousQuestion) {
  const SharedPlacement first = Ask(3);
  const size_t mark = cluster_.capacity().Mark();
  cluster_.Use("n1", 1);
  cluster_.Use("n0", 4);
  cluster_.capacity().Rollback(mark);
  EXPECT_EQ(Ask(3).workers, first.workers);
}

TEST_F(Known, AnswersOfATrialAreNotUsedAfterIt) {
  EXPECT_EQ(Places(3), (Pods{{"n1", 3}}));
  const size_t mark = cluster_.capacity().Mark();
  cluster_.Use("n1", 1);
  EXPECT_EQ(Places(3), (Pods{{"n0", 3}}));
  cluster_.capacity().Rollback(mark);
  EXPECT_EQ(Places(3), (Pods{{"n1", 3}}));
}

TEST_F(Known, AnEmptyClusterDoesNotDependOnUsage) {
  const SharedPlacement first = Ask(3, /*as_if_empty=*/true);
  cluster_.Use("n1", 3);
  EXPECT_EQ(Ask(3, /*as_if_empty=*/true).workers, first.workers);
  EXPECT_EQ(Places(3), (Pods{{"n0", 3}}));
}

TEST_F(Known, AssumedUsageCountsUntilCleared) {
  const SharedPlacement first = Ask(3);
  const DomainId n1 = cluster_.Domains({{"n1", 1}}).front().domain;
  cluster_.capacity().Assume(kFlavor, n1, {{cluster_.cpu_, 1}}, cluster_.pods_, 2);
  EXPECT_EQ(Places(3), (Pods{{"n0", 3}}));
  cluster_.capacity().ClearAssumed();
  EXPECT_EQ(cluster_.Named(Ask(3).workers->domains), cluster_.Named(first.workers->domains));
}

TEST_F(Known, ForeignPodsCountEvenForAnEmptyCluster) {
  EXPECT_EQ(Places(3, /*as_if_empty=*/true), (Pods{{"n1", 3}}));
  cluster_.capacity().TakeForeign(capacity(), cluster_.tree().LeafOfNode("n1"), {{cluster_.cpu_, 1}}, 1);
  EXPECT_EQ(Places(3, /*as_if_empty=*/true), (Pods{{"n0", 3}}));
}

TEST_F(Known, ACopyEvaluatesAgain) {
  const SharedPlacement first = Ask(5);
  FlavorCapacity copy = capacity();
  const SharedPlacement other =
      PlaceOrRemember(copy, cluster_.Query(request_, 5), cluster_.gates, cluster_.resources());
  EXPECT_NE(other.workers, first.workers);
  EXPECT_EQ(other.workers->domains, first.workers->domains);
}

TEST_F(Known, TheNumberOfStoredQuestionsIsLimited) {
  const SharedPlacement first = Ask(5);
  PlacementQuery query = cluster_.Query(request_, 1);
  for (int32_t number = 0; number < 5000; ++number) {
    query.pod_number = number + 10;
    PlaceOrRemember(capacity(), query, cluster_.gates, cluster_.resources());
  }
  EXPECT_LE(capacity().cache.placements->by_key.size(), 4097U);
  EXPECT_NE(Ask(5).workers, first.workers);
}

TEST_F(Known, AssignmentsToHostsNameOnlyTheHost) {
  EXPECT_EQ(Ask(1).workers->levels, std::vector<std::string>{kHostname});
  ClusterOfHosts racks({"block", "rack"});
  racks.Add({"b", "r"}, 2).Build();
  const TopologyRequest request = Required("rack");
  const SharedPlacement placement = PlaceOrRemember(*racks.capacity().Find(kFlavor), racks.Query(request, 2),
                                                    racks.gates, racks.resources());
  EXPECT_EQ(placement.workers->levels, (std::vector<std::string>{"block", "rack"}));
  EXPECT_EQ(racks.Named(placement.workers->domains), (Pods{{"b,r", 2}}));
}

TEST_F(Known, ALeaderHasItsOwnAssignment) {
  PlacementQuery query = cluster_.Query(request_, 3);
  EXPECT_EQ(PlaceOrRemember(capacity(), query, cluster_.gates, cluster_.resources()).leader, nullptr);
  const PodAmounts of_leader{{cluster_.cpu_, 1}, {cluster_.pods_, 1}};
  query.leader = &of_leader;
  query.leader_number = 1;
  const SharedPlacement both = PlaceOrRemember(capacity(), query, cluster_.gates, cluster_.resources());
  EXPECT_EQ(cluster_.Named(both.leader->domains), (Pods{{"n0", 1}}));
  EXPECT_EQ(cluster_.Named(both.workers->domains), (Pods{{"n0", 3}}));
}

TEST(CapacityVersions, AChangeHasANewNumberAndItsUndoingThePrevious) {
  ClusterOfHosts cluster({kHostname});
  cluster.Add({"n0"}, 4).Build();
  const FlavorCapacity& capacity = *cluster.capacity().Find(kFlavor);
  const uint64_t before = capacity.used_version;
  const size_t outer = cluster.capacity().Mark();
  cluster.Use("n0", 1);
  const uint64_t within = capacity.used_version;
  EXPECT_NE(within, before);
  const size_t inner = cluster.capacity().Mark();
  cluster.Use("n0", 2);
  EXPECT_NE(capacity.used_version, within);
  cluster.capacity().Rollback(inner);
  EXPECT_EQ(capacity.used_version, within);
  cluster.capacity().Rollback(outer);
  EXPECT_EQ(capacity.used_version, before);
  EXPECT_EQ(capacity.used, std::vector<int64_t>(capacity.used.size(), 0));
}

TEST(CapacityVersions, NoNumberIsUsedTwice) {
  ClusterOfHosts cluster({kHostname});
  cluster.Add({"n0"}, 4).Build();
  const FlavorCapacity& capacity = *cluster.capacity().Find(kFlavor);
  const size_t mark = cluster.capacity().Mark();
  cluster.Use("n0", 1);
  const uint64_t first = capacity.used_version;
  cluster.capacity().Rollback(mark);
  cluster.Use("n0", 2);
  EXPECT_NE(capacity.used_version, first);
}

TEST(CapacityVersions, UnknownResourcesAndDomainsChangeNothing) {
  ClusterOfHosts cluster({kHostname});
  cluster.Add({"n0"}, 4).Build();
  const FlavorCapacity& capacity = *cluster.capacity().Find(kFlavor);
  const uint64_t before = capacity.used_version;
  cluster.Use("elsewhere", 1);
  EXPECT_EQ(capacity.used_version, before);
  const DomainId n0 = cluster.Domains({{"n0", 1}}).front().domain;
  cluster.capacity().Add(kFlavor, n0, {{ResourceId(cluster.pods_.value() + 7), 1}}, kNoId, 1);
  EXPECT_EQ(capacity.used, std::vector<int64_t>(capacity.used.size(), 0));
}

}  // namespace
}  // namespace kueue
