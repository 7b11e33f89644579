// Mirrors pkg/cache/scheduler/tas_flavor_snapshot.go:sortedDomains, findBestFitDomainBy,
// prioritizeLeaderDomain (kueue ff69552e79).
#include "topology/order.h"

#include <algorithm>

namespace kueue {

OrderedChoices OrderedChoices::AsGiven(Choices choices, const DomainOrder& order) {
  OrderedChoices list(std::move(choices), order);
  list.sorted_ = list.items_.size();
  return list;
}

void OrderedChoices::SortAll() {
  if (sorted_ >= items_.size()) return;
  std::sort(items_.begin() + static_cast<std::ptrdiff_t>(sorted_), items_.end(), order_);
  sorted_ = items_.size();
}

Choice& OrderedChoices::At(size_t i) {
  // Number of positions found by linear search. If more are needed, the rest is sorted.
  constexpr size_t kFew = 6;
  while (i >= sorted_) {
    if (selected_ == kFew) {
      SortAll();
      break;
    }
    const auto begin = items_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    std::iter_swap(begin, std::min_element(begin, items_.end(), order_));
    ++sorted_;
    ++selected_;
  }
  return items_[i];
}

size_t OrderedChoices::BestFit(size_t i, int32_t need, int32_t leaders, Metric metric) {
  if (order_.by_affinity) SortAll();
  const int64_t affinity = At(i).counts.affinity;
  size_t best = i;
  bool found = false;
  int32_t least = 0;
  for (size_t j = i; j < items_.size(); ++j) {
    const Counts& counts = items_[j].counts;
    if (order_.by_affinity && counts.affinity != affinity) break;
    if (counts.leaders < leaders) continue;
    const int32_t count = CountBy(counts, metric, leaders > 0);
    if (count < need) continue;
    const bool before = j >= sorted_ && best >= sorted_ && order_(items_[j], items_[best]);
    if (!found || count < least || (count == least && before)) {
      best = j;
      least = count;
      found = true;
    }
  }
  return best;
}

void OrderedChoices::PrioritizeLeader(int32_t count, int32_t leaders, int32_t unit, Metric metric) {
  if (leaders == 0 || items_.size() < 2) return;
  SortAll();
  const int32_t needed = metric == Metric::kSlices ? count / unit : count;
  int32_t available = 0;
  for (const Choice& choice : items_) available += CountBy(choice.counts, metric, false);
  for (auto at = items_.begin(); at != items_.end(); ++at) {
    if (at->counts.leaders < leaders) continue;
    const int32_t lost = CountBy(at->counts, metric, false) - CountBy(at->counts, metric, true);
    if (available - lost < needed) continue;
    std::rotate(items_.begin(), at, at + 1);
    return;
  }
}

}  // namespace kueue
