// Recomputes quotas and usage from their definitions (pkg/cache/scheduler/resource_node.go).
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "state/check.h"

namespace kueue {
namespace {

// Larger sums may have saturated, in which case the result depends on the order of additions.
constexpr Amount kLarge(int64_t{1} << 61);

class TablesCheck {
 public:
  TablesCheck(const State& state, std::vector<std::string>& problems)
      : state_(state), forest_(state.forest()), quota_(state.quota), problems_(problems) {}

  void Run() {
    for (NodeId node : forest_.Nodes()) CheckNominal(node);
    for (FlavorResourceId fr : quota_.FlavorResources()) {
      for (NodeId queue : forest_.Queues()) {
        if (HasCycle(forest_, queue)) Expect(queue, fr, "usage", quota_.Usage(queue, fr), Charged(queue, fr));
      }
      for (NodeId node : forest_.TopDown()) {
        if (forest_.Parent(node) != kNoId) continue;
        saturated_ = false;
        CheckSubtree(node, fr, nullptr);
      }
    }
  }

 private:
  struct Sums {
    Amount lent, overflow;  // Amounts that the node adds to its parent's quota and usage.
  };

  void Expect(NodeId node, FlavorResourceId fr, const char* what, Amount kept, Amount computed) {
    if (kept == computed) return;
    const auto [flavor, resource] = state_.flavor_resources[fr];
    problems_.push_back(absl::StrCat(forest_.Name(node), " ", state_.flavor_names.Name(flavor), "/",
                                     state_.resource_names.Name(resource), ": ", what, " is kept as ",
                                     kept.value(), " but is ", computed.value()));
  }

  const ResourceQuota* Declared(NodeId node, FlavorResourceId fr) const {
    if (!forest_.IsDeclared(node)) return nullptr;
    const auto [flavor, resource] = state_.flavor_resources[fr];
    const std::vector<ResourceGroup>& groups = forest_.IsClusterQueue(node)
                                                   ? state_.Queue(node).spec.resource_groups
                                                   : state_.cohorts[node].resource_groups;
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
    for (FlavorResourceId fr : quota_.FlavorResources()) {
      const ResourceQuota* declared = Declared(node, fr);
      const ResourceQuota& expected = declared == nullptr ? none : *declared;
      Expect(node, fr, "nominal quota", quota_.limits().nominal(node, fr), expected.nominal);
      Expect(node, fr, "borrowing limit", quota_.limits().borrowing(node, fr), expected.borrowing_limit);
      Expect(node, fr, "lending limit", quota_.limits().lending(node, fr), expected.lending_limit);
    }
  }

  Amount Charged(NodeId queue, FlavorResourceId fr) {
    Amount sum;
    for (WorkloadId id : state_.Queue(queue).workloads) {
      for (const auto& [used, amount] : state_.At(id).usage) {
        if (used == fr) sum += amount;
      }
    }
    return sum;
  }

  Sums CheckSubtree(NodeId node, FlavorResourceId fr, const Amount* potential_above) {
    const ResourceQuota* declared = Declared(node, fr);
    // Top-down: the potential depends on subtree quotas, which are compared below.
    const Amount kept_local = quota_.limits().local(node, fr),
                 kept_subtree = quota_.limits().subtree(node, fr);
    Amount potential = kept_subtree;
    if (potential_above != nullptr) {
      const Amount limit = declared == nullptr ? Amount::Unlimited() : declared->borrowing_limit;
      potential = Min(kept_local + *potential_above, kept_subtree + limit);
    }
    Expect(node, fr, "potential", quota_.limits().potential(node, fr), potential);
    Amount subtree = declared == nullptr ? Amount(0) : declared->nominal;
    Amount usage;
    bool defined = declared != nullptr;
    if (forest_.IsClusterQueue(node)) {
      usage = Charged(node, fr);
    } else {
      for (const std::vector<NodeId>* children : {&forest_.ChildCohorts(node), &forest_.ChildQueues(node)}) {
        for (NodeId child : *children) {
          const Sums sums = CheckSubtree(child, fr, &potential);
          subtree += sums.lent;
          usage += sums.overflow;
          defined = defined || quota_.limits().defined(child, fr);
        }
      }
    }
    const Amount lending = declared == nullptr ? Amount::Unlimited() : declared->lending_limit;
    const Amount local = Max(Amount(0), subtree - lending);
    saturated_ = saturated_ || usage > kLarge;
    Expect(node, fr, "subtree quota", kept_subtree, subtree);
    Expect(node, fr, "local quota", kept_local, local);
    if (!saturated_) Expect(node, fr, "usage", quota_.Usage(node, fr), usage);
    Expect(node, fr, "being defined", Amount(quota_.limits().defined(node, fr)), Amount(defined));
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
