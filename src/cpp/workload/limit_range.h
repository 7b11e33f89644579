// Combined effect of the LimitRanges of a namespace. Mirrors pkg/util/limitrange/limitrange.go (kueue
// ff69552e79).
#ifndef KUEUE_WORKLOAD_LIMIT_RANGE_H_
#define KUEUE_WORKLOAD_LIMIT_RANGE_H_

#include <map>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "model/pod.h"

namespace kueue {

// Combines all items of a type (Container or Pod), in the order of the LimitRanges' names. For each resource,
// the result has the lowest max, the highest min and the first default. Returns nullopt if no item has this
// type.
std::optional<LimitRange::Item> Summarize(const std::map<std::string, LimitRange>& limit_ranges,
                                          absl::string_view type);

}  // namespace kueue

#endif  // KUEUE_WORKLOAD_LIMIT_RANGE_H_
