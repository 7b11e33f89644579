#include "model/selector.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/numbers.h"

namespace kueue {
namespace {

bool Contains(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace

bool CompareIntegers(const std::string& left, const std::string& right, bool greater) {
  int64_t a = 0, b = 0;
  if (!absl::SimpleAtoi(left, &a) || !absl::SimpleAtoi(right, &b)) return false;
  return greater ? a > b : a < b;
}

bool SatisfiesRequirement(const std::map<std::string, std::string>& labels, const std::string& key,
                          const std::string& op, const std::vector<std::string>& values) {
  const auto label = labels.find(key);
  const bool present = label != labels.end();
  if (op == "In") return present && Contains(values, label->second);
  if (op == "NotIn") return !present || !Contains(values, label->second);
  if (op == "Exists") return present;
  if (op == "DoesNotExist") return !present;
  if (op == "Gt" || op == "Lt")
    return present && !values.empty() && CompareIntegers(label->second, values[0], op == "Gt");
  return false;
}

bool LabelSelector::Matches(const std::map<std::string, std::string>& labels) const {
  if (match_labels.empty() && match_expressions.empty()) return true;
  for (const auto& [key, value] : match_labels) {
    const auto label = labels.find(key);
    if (label == labels.end() || label->second != value) return false;
  }
  return std::all_of(match_expressions.begin(), match_expressions.end(),
                     [&](const LabelSelectorRequirement& entry) {
                       return SatisfiesRequirement(labels, entry.key, entry.op, entry.values);
                     });
}

}  // namespace kueue
