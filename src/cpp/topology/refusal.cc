#include "topology/refusal.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"

namespace kueue {
namespace {

using Exclusion = PlacementFailure::Exclusion;

std::string TextOf(const Taint& taint) {
  return absl::StrCat(taint.key, taint.value.empty() ? "" : "=", taint.value, ":", taint.effect);
}

const Taint* UntoleratedTaint(const Node& node, const std::vector<Toleration>& tolerations) {
  const auto untolerated = [&tolerations](const Taint& taint) {
    return IsSchedulingTaint(taint) &&
           std::none_of(tolerations.begin(), tolerations.end(),
                        [&taint](const Toleration& one) { return Tolerates(one, taint); });
  };
  const auto taint = std::find_if(node.taints.begin(), node.taints.end(), untolerated);
  return taint == node.taints.end() ? nullptr : &*taint;
}

}  // namespace

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

std::optional<NodeRefusal> RefusalOf(const Node& node, const NodeDemand& demand) {
  if (const Taint* taint = UntoleratedTaint(node, demand.tolerations)) {
    return NodeRefusal{Exclusion::kTaint, TextOf(*taint)};
  }
  const auto selects = [&node](const auto& pair) {
    const auto label = node.labels.find(pair.first);
    return label != node.labels.end() && label->second == pair.second;
  };
  if (!std::all_of(demand.node_selector.begin(), demand.node_selector.end(), selects)) {
    return NodeRefusal{Exclusion::kNodeSelector, ""};
  }
  const auto& terms = demand.affinity_terms;
  const auto matches = [&node](const NodeSelectorTerm& term) { return MatchesTerm(term, node); };
  if (demand.has_affinity && std::none_of(terms.begin(), terms.end(), matches)) {
    return NodeRefusal{Exclusion::kAffinity, ""};
  }
  return std::nullopt;
}

}  // namespace kueue
