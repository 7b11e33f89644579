// Mirrors pkg/cache/scheduler/scheduling_simulator_default.go:FindFeasibleNodes (kueue ff69552e79).
#include "topology/eligibility.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "model/key.h"
#include "model/selector.h"
#include "topology/refusal.h"

namespace kueue {
namespace {

void Append(std::string& key, const std::vector<NodeSelectorRequirement>& requirements) {
  for (const NodeSelectorRequirement& one : requirements) {
    AppendPart(key, one.key);
    AppendPart(key, one.op);
    for (const std::string& value : one.values) AppendPart(key, value);
    key += '|';
  }
  key += '/';
}

void Append(std::string& key, const NodeSelectorTerm& term) {
  Append(key, term.match_expressions);
  Append(key, term.match_fields);
}

}  // namespace

bool Tolerates(const Toleration& toleration, const Taint& taint, bool compares) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.op.empty() || toleration.op == "Equal") return toleration.value == taint.value;
  if (toleration.op == "Exists") return true;
  if (compares && (toleration.op == "Gt" || toleration.op == "Lt")) {
    return CompareIntegers(taint.value, toleration.value, toleration.op == "Gt");
  }
  return false;
}

bool IsSchedulingTaint(const Taint& taint) {
  return taint.effect == "NoSchedule" || taint.effect == "NoExecute";
}

std::string NodeDemand::Key() const {
  std::string key;
  for (const Toleration& one : tolerations) {
    for (const std::string* part : {&one.key, &one.op, &one.value, &one.effect}) AppendPart(key, *part);
  }
  key += '#';
  for (const auto& [label, value] : node_selector) {
    AppendPart(key, label);
    AppendPart(key, value);
  }
  key += has_affinity ? "!" : "#";
  for (const NodeSelectorTerm& term : affinity_terms) Append(key, term);
  key += '#';
  for (const PreferredSchedulingTerm& term : preferred_terms) {
    absl::StrAppend(&key, term.weight, ";");
    Append(key, term.preference);
  }
  return key;
}

EligibleLeaves::EligibleLeaves(const TopologyTree& tree, const NodeDemand& demand)
    : eligible(static_cast<size_t>(tree.leaves()), true) {
  if (!tree.is_by_node()) return;
  if (!demand.preferred_terms.empty()) affinity.assign(eligible.size(), 0);
  for (int32_t leaf = 0; leaf < tree.leaves(); ++leaf) {
    const Node& node = *tree.NodeOfLeaf(leaf);
    const std::optional<NodeRefusal> refusal = RefusalOf(node, demand);
    eligible[static_cast<size_t>(leaf)] = !refusal;
    if (!refusal) {
      for (const PreferredSchedulingTerm& term : demand.preferred_terms) {
        if (MatchesTerm(term.preference, node)) affinity[static_cast<size_t>(leaf)] += term.weight;
      }
    } else if (refusal->why == PlacementFailure::Exclusion::kTaint) {
      ++taints[refusal->taint];
    } else {
      ++(refusal->why == PlacementFailure::Exclusion::kNodeSelector ? node_selector : node_affinity);
    }
  }
}

}  // namespace kueue
