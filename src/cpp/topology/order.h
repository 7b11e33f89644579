// Candidate domains and their sort orders. Mirrors pkg/cache/scheduler/tas_flavor_snapshot.go:sortedDomains,
// sortedDomainsWithLeader, findBestFitDomainBy, prioritizeLeaderDomain (kueue ff69552e79).
#ifndef KUEUE_TOPOLOGY_ORDER_H_
#define KUEUE_TOPOLOGY_ORDER_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "topology/counts.h"

namespace kueue {

// A candidate domain with its counts. Once the domain is chosen, the counts hold its assigned pods and
// leaders.
struct Choice {
  int32_t domain;
  Counts counts;
};
using Choices = std::vector<Choice>;

// Sort order of domains. `with_leader` sorts by the counts with a leader and is used to choose the first
// domain. `ascending` selects the profile LeastFreeCapacity, which puts domains with fewer slices first.
// BestFit puts domains with more slices first. Among domains with the same number of slices, both profiles
// put domains with fewer pods first.
struct DomainOrder {
  bool with_leader = false;
  bool ascending = false;
  bool by_affinity = false;

  bool operator()(const Choice& a, const Choice& b) const {
    return IsBefore(a.domain, a.counts, b.domain, b.counts);
  }
  // Compares the domain `a`, which has the counts `x`, with the domain `b`, which has the counts `y`.
  bool IsBefore(int32_t a, const Counts& x, int32_t b, const Counts& y) const {
    if (with_leader && x.leaders != y.leaders) return x.leaders > y.leaders;
    if (by_affinity && x.affinity != y.affinity) return x.affinity > y.affinity;
    const int32_t x_slices = with_leader ? x.slices_with_leader : x.slices;
    const int32_t y_slices = with_leader ? y.slices_with_leader : y.slices;
    if (x_slices != y_slices) return ascending ? x_slices < y_slices : x_slices > y_slices;
    const int32_t x_pods = with_leader ? x.pods_with_leader : x.pods;
    const int32_t y_pods = with_leader ? y.pods_with_leader : y.pods;
    if (x_pods != y_pods) return x_pods < y_pods;
    return a < b;
  }
};

// The count that determines the best fit.
enum class Metric : uint8_t { kPods, kSlices };
inline int32_t CountBy(const Counts& counts, Metric metric, bool with_leader) {
  if (metric == Metric::kPods) return with_leader ? counts.pods_with_leader : counts.pods;
  return with_leader ? counts.slices_with_leader : counts.slices;
}

// A list of domains that is sorted lazily, only up to the positions that are read.
class OrderedChoices {
 public:
  OrderedChoices(Choices choices, const DomainOrder& order) : items_(std::move(choices)), order_(order) {}
  // Wraps a list that is already sorted.
  static OrderedChoices AsGiven(Choices choices, const DomainOrder& order);

  size_t size() const { return items_.size(); }
  // Returns the i-th domain in sort order. The reference is invalidated by calls that sort further or move
  // domains.
  Choice& At(size_t i);
  void SortAll();
  // Considers only the positions from `i` on. Returns the position of the domain with the smallest count that
  // is at least `need`, considering only domains with at least `leaders` leaders. If several domains have
  // this count, returns the position of the first one in sort order. Returns `i` if no domain satisfies these
  // conditions. With preferred affinity, only domains with the same affinity as the i-th domain are
  // considered.
  size_t BestFit(size_t i, int32_t need, int32_t leaders, Metric metric);
  // Finds the first domain that can host the leader while all domains together still have capacity for
  // `count`, and moves this domain to the front.
  void PrioritizeLeader(int32_t count, int32_t leaders, int32_t unit, Metric metric);
  Choice& Raw(size_t i) { return items_[i]; }
  // Ends the use of the list and returns its memory.
  Choices Release() {
    items_.clear();
    return std::move(items_);
  }
  // Returns the domains from position `i` on, to be sorted in another order.
  Choices Rest(size_t i) { return Choices(items_.begin() + static_cast<std::ptrdiff_t>(i), items_.end()); }

 private:
  Choices items_;
  DomainOrder order_;
  size_t sorted_ = 0;    // Number of positions that are in their final order.
  size_t selected_ = 0;  // Number of positions found by linear search instead of sorting.
};

}  // namespace kueue

#endif  // KUEUE_TOPOLOGY_ORDER_H_
