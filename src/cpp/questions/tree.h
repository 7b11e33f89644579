// The topology tree of a flavor: its domains with their capacity and the pods placed in them. The Python
// classes document the fields.
#ifndef KUEUE_QUESTIONS_TREE_H_
#define KUEUE_QUESTIONS_TREE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "questions/by_name.h"
#include "state/state.h"

namespace kueue {

struct TreeDomain {
  int level, parent;
  std::string value;
};
struct TreeUse {
  int32_t leaf;
  std::string workload;
  int32_t pods;
  ByName<int64_t> requests;  // Of one pod.
};
struct TreeView {
  std::string topology;
  NameTuple levels;
  std::vector<std::string> resources;
  std::vector<TreeDomain> domains;
  std::vector<int32_t> leaves;
  std::vector<std::vector<int64_t>> capacity, free, used;  // One row per leaf, one column per resource.
  std::vector<TreeUse> uses;                               // Sorted by leaf, then by order of submission.
  std::vector<std::pair<std::string, const char*>> absent;
};
// Returns the flavor's nodes that are not in its tree, and the reasons.
std::vector<std::pair<std::string, const char*>> AbsentNodes(const State& state, const TopologyTree& tree,
                                                             const ResourceFlavor& flavor);
// Returns nothing for a flavor that does not exist or has no tree.
std::optional<TreeView> TreeOf(State& state, const std::string& flavor);

// Numbers of pods by domain, in the current tree and in the empty tree.
using DomainPods = std::pair<std::vector<int32_t>, std::vector<int32_t>>;
// Returns, for each domain of the flavor's tree, the numbers of pods with these requests that fit in the
// current tree and in the empty tree; nothing if the flavor has no tree. Assumes that the pods have the
// flavor's tolerations and no other requirements. `requests` do not include the resource `pods`.
std::optional<DomainPods> PodsInDomains(State& state, const std::string& flavor,
                                        const ResourceList& requests);

}  // namespace kueue

#endif  // KUEUE_QUESTIONS_TREE_H_
