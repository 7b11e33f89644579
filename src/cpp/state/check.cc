#include "state/check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "state/rebuild.h"

namespace kueue {

std::vector<std::string> Check(const State& state) {
  std::vector<std::string> problems;
  if (state.stale) {  // The next reader would rebuild the state, so check a rebuilt copy.
    State built = state;
    EnsureBuilt(built);
    return Check(built);
  }
  CheckForest(state, problems);
  CheckTables(state, problems);
  CheckWorkloads(state, problems);
  CheckTopologies(state, problems);
  return problems;
}

namespace {

// Height of a Cohort by its definition. Active ClusterQueues and all Cohorts count as children.
int HeightFromScratch(const Forest& forest, NodeId cohort) {
  int height = 0;
  for (NodeId queue : forest.ChildQueues(cohort)) {
    if (forest.IsActive(queue)) height = 1;
  }
  for (NodeId child : forest.ChildCohorts(cohort))
    height = std::max(height, 1 + HeightFromScratch(forest, child));
  return height;
}

bool IsListed(const std::vector<NodeId>& nodes, NodeId node) {
  return std::count(nodes.begin(), nodes.end(), node) == 1;
}

}  // namespace

void CheckForest(const State& state, std::vector<std::string>& problems) {
  const Forest& forest = state.forest();
  const auto expect = [&](bool holds, NodeId node, const char* text) {
    if (!holds) problems.push_back(absl::StrCat("node ", forest.Name(node), ": ", text));
  };
  IdVector<NodeId, size_t> place(forest.size(), forest.TopDown().size());
  for (size_t i = 0; i < forest.TopDown().size(); ++i) place[forest.TopDown()[i]] = i;
  for (NodeId node : forest.Nodes()) {
    const NodeId parent = forest.DeclaredParent(node);
    const bool is_queue = forest.IsClusterQueue(node);
    expect(forest.Exists(node) || parent == kNoId, node, "does not exist but has a parent");
    if (parent != kNoId) {
      const std::vector<NodeId>& siblings =
          is_queue ? forest.ChildQueues(parent) : forest.ChildCohorts(parent);
      expect(forest.Exists(parent) && !forest.IsClusterQueue(parent), node, "its parent is not a Cohort");
      expect(IsListed(siblings, node), node, "is not a child of its parent, once");
    }
    if (is_queue)
      expect(forest.IsDeclared(node) == IsListed(forest.Queues(), node), node, "is listed wrongly");
    if (!forest.Exists(node) || HasCycle(forest, node)) {
      expect(!forest.IsActive(node) || !is_queue, node, "is active without being part of a tree");
      continue;
    }
    const size_t own = place[node];
    expect(IsListed(forest.TopDown(), node), node, "is not in the order from the roots down, once");
    expect(parent == kNoId ? forest.Root(node) == node : forest.Root(node) == forest.Root(parent), node,
           "has a wrong root");
    expect(parent == kNoId || place[parent] < own, node, "comes before its parent");
    if (is_queue) {
      expect(IsListed(forest.QueuesOfTree(forest.Root(node)), node), node,
             "is not a queue of its tree, once");
      expect(forest.IsActive(node) == InactivityOf(state, node).IsActive(), node,
             "is mistaken about being active");
    } else {
      expect(forest.Height(node) == HeightFromScratch(forest, node), node, "has a wrong height");
    }
  }
}

}  // namespace kueue
