// Where pods go: the profiles, slices, layers, groups, balanced placement, replacements.
#include "topology/placement.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hosts.h"
#include "topology/replacement.h"

namespace kueue {
namespace {

using namespace testing_hosts;

// One block of hosts that hold 3, 3, 2 and 1 pods.
ClusterOfHosts Uneven() {
  ClusterOfHosts cluster({"block", kHostname});
  cluster.Add({"b", "n0"}, 3).Add({"b", "n1"}, 3).Add({"b", "n2"}, 2).Add({"b", "n3"}, 1).Build();
  return cluster;
}

TEST(BestFit, FillsTheFullestHostsAndEndsOnTheClosestOne) {
  ClusterOfHosts cluster = Uneven();
  EXPECT_EQ(cluster.PlacedOn(Preferred(kHostname), 7), (Pods{{"n0", 3}, {"n1", 3}, {"n3", 1}}));
  EXPECT_EQ(cluster.PlacedOn(Required(kHostname), 2), (Pods{{"n2", 2}}));
  EXPECT_EQ(cluster.PlacedOn(Required("block"), 9), (Pods{{"n0", 3}, {"n1", 3}, {"n2", 2}, {"n3", 1}}));
}

TEST(BestFit, ReportsTheNumberOfPodsThatFit) {
  ClusterOfHosts cluster = Uneven();
  const Placement placement = cluster.Place(Required(kHostname), 7);
  ASSERT_NE(placement.failure, nullptr);
  EXPECT_EQ(placement.failure->kind, PlacementFailure::Kind::kNotFit);
  EXPECT_EQ(placement.failure->fit, 3);
  EXPECT_EQ(placement.failure->of, 7);
  EXPECT_EQ(placement.failure->topology, "default");
  EXPECT_TRUE(placement.failure->excluded.empty());
}

TEST(LeastFreeCapacity, FillsTheEmptiestHosts) {
  ClusterOfHosts cluster = Uneven();
  EXPECT_EQ(cluster.PlacedOn(Unconstrained(), 7), (Pods{{"n0", 3}, {"n1", 1}, {"n2", 2}, {"n3", 1}}));
  EXPECT_EQ(cluster.PlacedOn(Unconstrained(), 3), (Pods{{"n0", 3}}));
  cluster.gates.profile_mixed = false;
  EXPECT_EQ(cluster.PlacedOn(Unconstrained(), 7), (Pods{{"n0", 3}, {"n1", 3}, {"n3", 1}}));
}

TEST(Slices, AreFilledOnHostsOfSixDownToTwo) {
  ClusterOfHosts cluster({"block", kHostname});
  for (int i = 0; i < 5; ++i) cluster.Add({"b", "d" + std::to_string(i)}, 6 - i);
  cluster.Build();
  TopologyRequest request = Preferred("block");
  request.layers = {{kHostname, 2}};
  EXPECT_EQ(cluster.PlacedOn(request, 12), (Pods{{"d0", 6}, {"d2", 4}, {"d4", 2}}));
  EXPECT_EQ(cluster.PlacedOn(request, 10), (Pods{{"d0", 6}, {"d2", 4}}));
  TopologyRequest alone;
  alone.layers = {{kHostname, 2}};
  EXPECT_EQ(cluster.PlacedOn(alone, 12), (Pods{{"d1", 4}, {"d2", 4}, {"d3", 2}, {"d4", 2}}));
  EXPECT_EQ(cluster.PlacedOn(alone, 10), (Pods{{"d1", 2}, {"d2", 4}, {"d3", 2}, {"d4", 2}}));
}

TEST(Layers, GroupPodsAtEveryLevel) {
  ClusterOfHosts cluster({"block", "rack", kHostname});
  for (const char* block : {"a", "b"}) {
    for (const char* rack : {"x", "y"}) {
      for (const char* host : {"1", "2"}) {
        cluster.Add({block, std::string(block) + rack, std::string(block) + rack + host}, 10);
      }
    }
  }
  cluster.Build();
  TopologyRequest request = Preferred("block");
  request.layers = {{"block", 32}, {"rack", 16}, {kHostname, 8}};
  const Pods placed = cluster.PlacedOn(request, 64);
  EXPECT_EQ(placed.size(), 8u);
  for (const auto& [host, pods] : placed) EXPECT_EQ(pods, 8) << host;
  const Placement none = cluster.Place(request, 96);
  ASSERT_NE(none.failure, nullptr);
  ASSERT_EQ(none.failure->kind, PlacementFailure::Kind::kLayersNotFit);
  ASSERT_EQ(none.failure->layers.size(), 3u);
  EXPECT_EQ(none.failure->layers[0].fit, 1);
  EXPECT_EQ(none.failure->layers[0].of, 3);
}

TEST(Requests, WithUnsuitableLevelsHaveAReason) {
  using Kind = PlacementFailure::Kind;
  ClusterOfHosts cluster({"block", "rack", kHostname});
  cluster.Add({"b", "r", "h"}, 1).Build();
  const auto kind = [&cluster](const TopologyRequest& request) {
    return cluster.Place(request, 1).failure->kind;
  };
  EXPECT_EQ(kind(Required("zone")), Kind::kUnknownLevel);
  EXPECT_EQ(kind({}), Kind::kNoLevel);
  TopologyRequest request = Required("rack");
  request.layers = {{"zone", 1}};
  EXPECT_EQ(kind(request), Kind::kUnknownSliceLevel);
  request.layers = {{"block", 1}};
  EXPECT_EQ(kind(request), Kind::kSliceAboveRequest);
  request.layers = {{"rack", 0}};
  EXPECT_EQ(kind(request), Kind::kSliceSizeMissing);
  request.layers = {{"rack", 4}, {"zone", 2}};
  EXPECT_EQ(kind(request), Kind::kUnknownLayerLevel);
  request.layers = {{"rack", 4}, {"rack", 2}};
  EXPECT_EQ(kind(request), Kind::kLayerNotBelow);
  request.layers = {{"rack", 4}, {kHostname, 3}};
  EXPECT_EQ(kind(request), Kind::kLayerSizeIndivisible);
}

TEST(Nodes, AreCountedByTheReasonThatExcludesThem) {
  ClusterOfHosts cluster({kHostname});
  cluster.Add({"big"}, 1).Add({"full"}, 0).Add({"labelled"}, 9).Add({"tainted"}, 9);
  cluster.Edit("tainted").taints = {{"gpu", "yes", "NoSchedule"}};
  cluster.Edit("big").labels["disk"] = "ssd";
  cluster.Edit("full").labels["disk"] = "ssd";
  cluster.Build();
  NodeDemand demand;
  demand.node_selector = {{"disk", "ssd"}};
  const Placement placement = cluster.Place(Required(kHostname), 2, demand);
  ASSERT_NE(placement.failure, nullptr);
  EXPECT_EQ(placement.failure->fit, 1);
  EXPECT_EQ(placement.failure->total_nodes, 4);
  std::map<std::string, int> excluded;
  for (const auto& entry : placement.failure->excluded) excluded[entry.name] = entry.nodes;
  EXPECT_EQ(excluded, (std::map<std::string, int>{{"", 1}, {"cpu", 1}, {"gpu=yes:NoSchedule", 1}}));
  demand.tolerations = {{"gpu", "Exists", "", ""}};
  demand.node_selector.clear();
  EXPECT_EQ(cluster.Named(cluster.Place(Required(kHostname), 5, demand).workers), (Pods{{"labelled", 5}}));
}

TEST(Groups, PlaceTheLeaderNextToItsWorkers) {
  ClusterOfHosts cluster({"rack", kHostname});
  cluster.Add({"r0", "a"}, 4).Add({"r0", "b"}, 2).Add({"r1", "c"}, 3).Add({"r1", "d"}, 4).Build();
  const TopologyRequest request = Required("rack");
  PlacementQuery query = cluster.Query(request, 6);
  query.leader = query.requests;
  Placement placement = Place(*cluster.capacity().Find(kFlavor), query, cluster.gates, cluster.resources());
  ASSERT_EQ(placement.failure, nullptr);
  EXPECT_EQ(cluster.Named(placement.leader).size(), 1u);
  int total = 0;
  for (const auto& [host, pods] : cluster.Named(placement.workers)) {
    EXPECT_TRUE(host == "c" || host == "d") << host;
    total += pods;
  }
  EXPECT_EQ(total, 6);
  query.count = 7;
  EXPECT_NE(Place(*cluster.capacity().Find(kFlavor), query, cluster.gates, cluster.resources()).failure,
            nullptr);
}

TEST(BalancedPlacement, SpreadsEvenly) {
  ClusterOfHosts cluster({kHostname});
  cluster.Add({"n0"}, 10).Add({"n1"}, 10).Build();
  EXPECT_EQ(cluster.PlacedOn(Preferred(kHostname), 12), (Pods{{"n0", 10}, {"n1", 2}}));
  cluster.gates.balanced_placement = true;
  EXPECT_EQ(cluster.PlacedOn(Preferred(kHostname), 12), (Pods{{"n0", 6}, {"n1", 6}}));
  EXPECT_EQ(cluster.PlacedOn(Preferred(kHostname), 7), (Pods{{"n0", 7}}));
}

TEST(Usage, IsTrackedAndUndone) {
  ClusterOfHosts cluster = Uneven();
  EXPECT_EQ(cluster.PlacedOn(Required(kHostname), 3), (Pods{{"n0", 3}}));
  const size_t mark = cluster.capacity().Mark();
  cluster.Use("n0", 1);
  EXPECT_EQ(cluster.PlacedOn(Required(kHostname), 3), (Pods{{"n1", 3}}));
  cluster.Use("n1", 2);
  EXPECT_NE(cluster.Place(Required(kHostname), 3).failure, nullptr);
  cluster.capacity().Rollback(mark);
  EXPECT_EQ(cluster.PlacedOn(Required(kHostname), 3), (Pods{{"n0", 3}}));
  cluster.capacity().Assume(kFlavor, cluster.Domains({{"n0", 1}})[0].domain, {{cluster.cpu_, 1}},
                            cluster.pods_, 2);
  EXPECT_EQ(cluster.PlacedOn(Required(kHostname), 3), (Pods{{"n1", 3}}));
  cluster.capacity().ClearAssumed();
  EXPECT_EQ(cluster.PlacedOn(Required(kHostname), 3), (Pods{{"n0", 3}}));
}

TEST(Replacements, StayWithinTheRequiredDomain) {
  ClusterOfHosts cluster({"rack", kHostname});
  cluster.Add({"r0", "a"}, 4).Add({"r0", "b"}, 4).Add({"r1", "c"}, 9).Build();
  const TopologyRequest request = Required("rack");
  const PlacementQuery query = cluster.Query(request, 0);
  const auto replace = [&](const Pods& existing, const std::string& failed) {
    return Replace(*cluster.capacity().Find(kFlavor), query, {cluster.Domains(existing), failed},
                   cluster.gates, cluster.resources(), cluster.domains());
  };
  cluster.Use("a", 1);
  const Replacement moved = replace({{"a", 1}, {"gone", 4}}, "gone");
  ASSERT_EQ(moved.failure, nullptr);
  EXPECT_EQ(cluster.Named(moved.all), (Pods{{"a", 1}, {"b", 4}}));
  EXPECT_EQ(cluster.Named(moved.moved), (Pods{{"b", 4}}));
  EXPECT_NE(replace({{"a", 1}, {"gone", 8}}, "gone").failure, nullptr);
  // Nothing is left to stay beside.
  EXPECT_EQ(cluster.Named(replace({{"gone", 8}}, "gone").all), (Pods{{"c", 8}}));
  EXPECT_EQ(replace({{"a", 1}, {"lost", 1}, {"gone", 2}}, "gone").failure->kind,
            PlacementFailure::Kind::kStaleDomain);
}

}  // namespace
}  // namespace kueue
