#include "workload/limit_range.h"

#include "workload/resource_list.h"

namespace kueue {

std::optional<LimitRange::Item> Summarize(const std::map<std::string, LimitRange>& limit_ranges,
                                          absl::string_view type) {
  std::optional<LimitRange::Item> summary;
  for (const auto& [name, limit_range] : limit_ranges) {
    for (const LimitRange::Item& item : limit_range.items) {
      if (item.type != type) continue;
      if (!summary) summary.emplace();
      LowerTo(&summary->max, item.max);
      RaiseTo(&summary->min, item.min);
      FillIn(&summary->default_limit, item.default_limit);
      FillIn(&summary->default_request, item.default_request);
    }
  }
  return summary;
}

}  // namespace kueue
