// Matching of label requirements, shared by label selectors and node affinity. Mirrors
// k8s.io/apimachinery/pkg/labels/selector.go (kueue ff69552e79).
#ifndef KUEUE_MODEL_SELECTOR_H_
#define KUEUE_MODEL_SELECTOR_H_

#include <map>
#include <string>
#include <vector>

namespace kueue {

// Returns whether the labels satisfy a requirement. `op` is In, NotIn, Exists, DoesNotExist, Gt or Lt.
bool SatisfiesRequirement(const std::map<std::string, std::string>& labels, const std::string& key,
                          const std::string& op, const std::vector<std::string>& values);

// Returns whether `left` is greater than `right` (or less, if `greater` is false), compared as integers.
// Returns false if either string is not an integer.
bool CompareIntegers(const std::string& left, const std::string& right, bool greater);

struct LabelSelectorRequirement {
  std::string key, op;
  std::vector<std::string> values;
};

// A label selector. All pairs and expressions must match; an empty selector matches everything.
struct LabelSelector {
  std::map<std::string, std::string> match_labels;
  std::vector<LabelSelectorRequirement> match_expressions;
  bool Matches(const std::map<std::string, std::string>& labels) const;
};

}  // namespace kueue

#endif  // KUEUE_MODEL_SELECTOR_H_
