// Mirrors pkg/cache/scheduler/scheduling_simulator_default.go:FindFeasibleNodes (kueue ff69552e79).
#include "topology/eligibility.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "model/selector.h"

namespace kueue {
namespace {

bool MatchesTerm(const NodeSelectorTerm& term, const Node& node) {
  const auto matches = [](const std::map<std::string, std::string>& labels,
                          const std::vector<NodeSelectorRequirement>& requirements) {
    return std::all_of(requirements.begin(), requirements.end(), [&](const NodeSelectorRequirement& one) {
      return SatisfiesRequirement(labels, one.key, one.op, one.values);
    });
  };
  if (term.match_expressions.empty() && term.match_fields.empty()) return false;
  return matches(node.labels, term.match_expressions) &&
         (term.match_fields.empty() || matches({{"metadata.name", node.name}}, term.match_fields));
}

std::string TextOf(const Taint& taint) {
  return absl::StrCat(taint.key, taint.value.empty() ? "" : "=", taint.value, ":", taint.effect);
}

void Append(std::string& key, absl::string_view part) { absl::StrAppend(&key, part.size(), ":", part, ";"); }

void Append(std::string& key, const std::vector<NodeSelectorRequirement>& requirements) {
  for (const NodeSelectorRequirement& one : requirements) {
    Append(key, one.key);
    Append(key, one.op);
    for (const std::string& value : one.values) Append(key, value);
    key += '|';
  }
  key += '/';
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
    for (const std::string* part : {&one.key, &one.op, &one.value, &one.effect}) Append(key, *part);
  }
  key += '#';
  for (const auto& [label, value] : node_selector) {
    Append(key, label);
    Append(key, value);
  }
  key += has_affinity ? "!" : "#";
  for (const NodeSelectorTerm& term : affinity_terms) {
    Append(key, term.match_expressions);
    Append(key, term.match_fields);
  }
  key += '#';
  for (const PreferredSchedulingTerm& term : preferred_terms) {
    absl::StrAppend(&key, term.weight, ";");
    Append(key, term.preference.match_expressions);
    Append(key, term.preference.match_fields);
  }
  return key;
}

EligibleLeaves::EligibleLeaves(const TopologyTree& tree, const NodeDemand& demand)
    : eligible(static_cast<size_t>(tree.leaves()), true) {
  if (!tree.is_by_node()) return;
  const auto untolerated = [&demand](const Taint& taint) {
    return IsSchedulingTaint(taint) &&
           std::none_of(demand.tolerations.begin(), demand.tolerations.end(),
                        [&taint](const Toleration& one) { return Tolerates(one, taint); });
  };
  if (!demand.preferred_terms.empty()) affinity.assign(eligible.size(), 0);
  for (int32_t leaf = 0; leaf < tree.leaves(); ++leaf) {
    const Node& node = *tree.NodeOfLeaf(leaf);
    const auto taint = std::find_if(node.taints.begin(), node.taints.end(), untolerated);
    const auto selects = [&node](const auto& pair) {
      const auto label = node.labels.find(pair.first);
      return label != node.labels.end() && label->second == pair.second;
    };
    const auto& terms = demand.affinity_terms;
    const auto matches = [&node](const NodeSelectorTerm& term) { return MatchesTerm(term, node); };
    eligible[static_cast<size_t>(leaf)] = false;
    if (taint != node.taints.end()) {
      ++taints[TextOf(*taint)];
    } else if (!std::all_of(demand.node_selector.begin(), demand.node_selector.end(), selects)) {
      ++node_selector;
    } else if (demand.has_affinity && std::none_of(terms.begin(), terms.end(), matches)) {
      ++node_affinity;
    } else {
      eligible[static_cast<size_t>(leaf)] = true;
      for (const PreferredSchedulingTerm& term : demand.preferred_terms) {
        if (matches(term.preference)) affinity[static_cast<size_t>(leaf)] += term.weight;
      }
    }
  }
}

}  // namespace kueue
