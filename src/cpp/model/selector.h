// What labels are asked for: the one rule behind label selectors and node affinity.
// Mirrors k8s.io/apimachinery/pkg/labels/selector.go (kueue ff69552e79).
#ifndef KUEUE_MODEL_SELECTOR_H_
#define KUEUE_MODEL_SELECTOR_H_

#include <map>
#include <string>
#include <vector>

namespace kueue {

// Whether the labels satisfy the requirement (In, NotIn, Exists, DoesNotExist, Gt, Lt).
bool SatisfiesRequirement(const std::map<std::string, std::string>& labels, const std::string& key,
                          const std::string& op, const std::vector<std::string>& values);

// Whether `left` is greater (else: less) than `right`, both read as integers; false where one is none.
bool CompareIntegers(const std::string& left, const std::string& right, bool greater);

struct LabelSelectorRequirement {
  std::string key, op;
  std::vector<std::string> values;
};

// All pairs and expressions must hold; an empty selector matches everything.
struct LabelSelector {
  std::map<std::string, std::string> match_labels;
  std::vector<LabelSelectorRequirement> match_expressions;
  bool Matches(const std::map<std::string, std::string>& labels) const;
};

}  // namespace kueue

#endif  // KUEUE_MODEL_SELECTOR_H_
