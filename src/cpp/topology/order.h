// Domains under consideration, and the orders in which they are.
// Mirrors pkg/cache/scheduler/tas_flavor_snapshot.go:sortedDomains, sortedDomainsWithLeader,
// findBestFitDomainBy, prioritizeLeaderDomain (kueue ff69552e79).
#ifndef KUEUE_TOPOLOGY_ORDER_H_
#define KUEUE_TOPOLOGY_ORDER_H_

#include <cstddef>
#include <vector>

#include "topology/counts.h"

namespace kueue {

// A domain with its counts, which become what it gets once it is chosen.
struct Choice {
  int32_t domain;
  Counts counts;
};
using Choices = std::vector<Choice>;

// By what domains are compared: with leaders first, for the choice of the first domain; otherwise by what
// they hold. More slices come first under BestFit, fewer under LeastFreeCapacity; fewer pods come first
// under both.
struct DomainOrder {
  bool with_leader = false;
  bool ascending = false;
  bool by_affinity = false;

  bool operator()(const Choice& a, const Choice& b) const {
    const Counts &x = a.counts, &y = b.counts;
    if (with_leader && x.leaders != y.leaders) return x.leaders > y.leaders;
    if (by_affinity && x.affinity != y.affinity) return x.affinity > y.affinity;
    const int32_t x_slices = with_leader ? x.slices_with_leader : x.slices;
    const int32_t y_slices = with_leader ? y.slices_with_leader : y.slices;
    if (x_slices != y_slices) return ascending ? x_slices < y_slices : x_slices > y_slices;
    const int32_t x_pods = with_leader ? x.pods_with_leader : x.pods;
    const int32_t y_pods = with_leader ? y.pods_with_leader : y.pods;
    if (x_pods != y_pods) return x_pods < y_pods;
    return a.domain < b.domain;
  }
};

// Which count decides a best fit.
enum class Metric : uint8_t { kPods, kSlices };
int32_t CountBy(const Counts& counts, Metric metric, bool with_leader);

// A list in order, sorted only as far as it is looked at.
class OrderedChoices {
 public:
  OrderedChoices(Choices choices, const DomainOrder& order) : items_(std::move(choices)), order_(order) {}
  // A list that is in its order already.
  static OrderedChoices AsGiven(Choices choices, const DomainOrder& order);

  size_t size() const { return items_.size(); }
  // The i-th in order.
  Choice& At(size_t i);
  void SortAll();
  // The one from the i-th on that fits `need` (and the leaders) most closely, the first in order among
  // equals; the i-th where none does. With preferred affinity, only of those as much preferred as the i-th.
  size_t BestFit(size_t i, int32_t need, int32_t leaders, Metric metric);
  // Moves that domain to the front whose leader costs no more than there is to spare.
  void PrioritizeLeader(int32_t count, int32_t leaders, int32_t unit, Metric metric);
  Choice& Raw(size_t i) { return items_[i]; }
  // The rest from the i-th on, to be put into another order.
  Choices Rest(size_t i) { return Choices(items_.begin() + static_cast<std::ptrdiff_t>(i), items_.end()); }

 private:
  Choices items_;
  DomainOrder order_;
  size_t sorted_ = 0;    // so many are in place
  size_t selected_ = 0;  // so many were searched for one by one
};

}  // namespace kueue

#endif  // KUEUE_TOPOLOGY_ORDER_H_
