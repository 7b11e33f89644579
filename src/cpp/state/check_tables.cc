// Quotas and usage, computed once more by their definitions (pkg/cache/scheduler/resource_node.go).
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "state/check.h"

namespace kueue {
namespace {

// Sums this large may have saturated, and then the order of additions shows.
constexpr Amount kLarge(int64_t{1} << 61);

class TablesCheck {
 public:
  TablesCheck(const State& state, std::vector<std::string>& problems)
      : state_(state), forest_(state.forest()), quota_(state.quota), problems_(problems) {}

  void Run() {
    for (NodeId node = 0; node < forest_.size(); ++node) CheckNominal(node);
    for (CellId cell = 0; cell < quota_.cells(); ++cell) {
      for (NodeId queue : forest_.Queues()) {
        if (forest_.HasCycle(queue))
          Expect(queue, cell, "usage", quota_.Usage(queue, cell), Charged(queue, cell));
      }
      for (NodeId node : forest_.TopDown()) {
        if (forest_.Parent(node) != kNoId) continue;
        saturated_ = false;
        CheckSubtree(node, cell, nullptr);
      }
    }
  }

 private:
  struct Sums {
    Amount lent, overflow;  // what the node gives to its parent's quota and usage
  };

  void Expect(NodeId node, CellId cell, const char* what, Amount kept, Amount computed) {
    if (kept == computed) return;
    const auto [flavor, resource] = state_.cell_names[static_cast<size_t>(cell)];
    problems_.push_back(absl::StrCat(forest_.Name(node), " ", state_.flavor_names.Name(flavor), "/",
                                     state_.resource_names.Name(resource), ": ", what, " is kept as ",
                                     kept.value(), " but is ", computed.value()));
  }

  const ResourceQuota* Declared(NodeId node, CellId cell) const {
    if (!forest_.IsDeclared(node)) return nullptr;
    const auto [flavor, resource] = state_.cell_names[static_cast<size_t>(cell)];
    const std::vector<ResourceGroup>& groups =
        forest_.IsClusterQueue(node) ? state_.Queue(node).spec.resource_groups
                                     : state_.cohorts[static_cast<size_t>(node)].resource_groups;
    for (const ResourceGroup& group : groups) {
      for (const FlavorQuotas& quotas : group.flavors) {
        if (quotas.name != state_.flavor_names.Name(flavor)) continue;
        for (const ResourceQuota& quota : quotas.resources) {
          if (quota.name == state_.resource_names.Name(resource)) return &quota;
        }
      }
    }
    return nullptr;
  }

  void CheckNominal(NodeId node) {
    static const ResourceQuota none;
    for (CellId cell = 0; cell < quota_.cells(); ++cell) {
      const ResourceQuota* declared = Declared(node, cell);
      const ResourceQuota& expected = declared == nullptr ? none : *declared;
      Expect(node, cell, "nominal quota", quota_.Nominal(node, cell), expected.nominal);
      Expect(node, cell, "borrowing limit", quota_.BorrowingLimit(node, cell), expected.borrowing_limit);
      Expect(node, cell, "lending limit", quota_.LendingLimit(node, cell), expected.lending_limit);
    }
  }

  Amount Charged(NodeId queue, CellId cell) {
    Amount sum;
    for (WorkloadId id : state_.Queue(queue).workloads) {
      for (const auto& [used, amount] : state_.At(id).usage) {
        if (used == cell) sum += amount;
      }
    }
    return sum;
  }

  Sums CheckSubtree(NodeId node, CellId cell, const Amount* potential_above) {
    const ResourceQuota* declared = Declared(node, cell);
    // From the top: potential needs the subtree quotas, which are compared below.
    const Amount kept_local = quota_.Local(node, cell), kept_subtree = quota_.Subtree(node, cell);
    Amount potential = kept_subtree;
    if (potential_above != nullptr) {
      const Amount limit = declared == nullptr ? Amount::Unlimited() : declared->borrowing_limit;
      potential = Min(kept_local + *potential_above, kept_subtree + limit);
    }
    Expect(node, cell, "potential", quota_.Potential(node, cell), potential);
    Amount subtree = declared == nullptr ? Amount(0) : declared->nominal;
    Amount usage;
    bool defined = declared != nullptr;
    if (forest_.IsClusterQueue(node)) {
      usage = Charged(node, cell);
    } else {
      for (const std::vector<NodeId>* children : {&forest_.ChildCohorts(node), &forest_.ChildQueues(node)}) {
        for (NodeId child : *children) {
          const Sums sums = CheckSubtree(child, cell, &potential);
          subtree += sums.lent;
          usage += sums.overflow;
          defined = defined || quota_.IsDefined(child, cell);
        }
      }
    }
    const Amount lending = declared == nullptr ? Amount::Unlimited() : declared->lending_limit;
    const Amount local = Max(Amount(0), subtree - lending);
    saturated_ = saturated_ || usage > kLarge;
    Expect(node, cell, "subtree quota", kept_subtree, subtree);
    Expect(node, cell, "local quota", kept_local, local);
    if (!saturated_) Expect(node, cell, "usage", quota_.Usage(node, cell), usage);
    Expect(node, cell, "being defined", Amount(quota_.IsDefined(node, cell)), Amount(defined));
    if (usage < Amount(0)) problems_.push_back(absl::StrCat(forest_.Name(node), ": usage is below zero"));
    return {subtree - local, Max(Amount(0), usage - local)};
  }

  const State& state_;
  const Forest& forest_;
  const Quota& quota_;
  std::vector<std::string>& problems_;
  bool saturated_ = false;
};

}  // namespace

void CheckTables(const State& state, std::vector<std::string>& problems) {
  TablesCheck(state, problems).Run();
}

}  // namespace kueue
