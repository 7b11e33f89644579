// What several LimitRanges of a namespace come to. Mirrors pkg/util/limitrange/limitrange.go (kueue
// ff69552e79).
#ifndef KUEUE_WORKLOAD_LIMIT_RANGE_H_
#define KUEUE_WORKLOAD_LIMIT_RANGE_H_

#include <map>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "model/pod.h"

namespace kueue {

// Of all items of the type (Container or Pod), in the order of the LimitRanges' names: the lowest max, the
// highest min and the first default of each resource. Nothing where there is no such item.
std::optional<LimitRange::Item> Summarize(const std::map<std::string, LimitRange>& limit_ranges,
                                          absl::string_view type);

}  // namespace kueue

#endif  // KUEUE_WORKLOAD_LIMIT_RANGE_H_
