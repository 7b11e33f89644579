// Balanced placement: distributes pods evenly over as few domains as possible (feature gate
// TASBalancedPlacement). Mirrors pkg/cache/scheduler/tas_balanced_placement.go (kueue ff69552e79).
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "topology/placement.h"

namespace kueue {
namespace {

// Result of filling the largest domains first.
struct Greedy {
  bool fits = false;
  int32_t domains = 0;                             // Number of domains used.
  int32_t last = kNoId, last_with_leader = kNoId;  // Domains.
};

class Balanced {
 public:
  Balanced(const TopologyTree& tree, const PlacementParameters& parameters, const PlacementGates& gates,
           const CountTable& table)
      : tree_(tree),
        p_(parameters),
        by_affinity_(gates.respect_node_affinity_preferred),
        table_(table),
        slices_(parameters.count / parameters.slice_size),
        counts_(table.counts()) {}

  std::optional<BalancedStart> Run() {
    if (!FindSet()) return std::nullopt;
    counts_ = std::move(best_counts_);
    std::vector<int32_t> domains = std::move(best_);
    BalancedStart result;
    result.start.level = p_.level;
    if (p_.level < p_.slice_level) {
      domains = ChildrenOf(OptimalSet(domains, /*by_entropy=*/true));
      if (domains.empty()) return std::nullopt;
      ++result.start.level;
    }
    if (!PlaceSlices(domains, result.start.domains)) return std::nullopt;
    result.counts = std::move(counts_);
    return result;
  }

 private:
  Counts& At(int32_t domain) { return counts_[static_cast<size_t>(domain)]; }

  std::vector<int32_t> Sorted(std::vector<int32_t> domains, bool with_leader) {
    const DomainOrder order{with_leader, false, by_affinity_};
    std::sort(domains.begin(), domains.end(),
              [&](int32_t a, int32_t b) { return order(Choice{a, At(a)}, Choice{b, At(b)}); });
    return domains;
  }

  std::vector<int32_t> ChildrenOf(const std::vector<int32_t>& domains) const {
    std::vector<int32_t> children;
    for (int32_t domain : domains) {
      const TopologyTree::Domain& at = tree_.At(domain);
      for (int32_t child = at.children_begin; child < at.children_end; ++child) children.push_back(child);
    }
    return children;
  }

  Greedy FillGreedily(std::vector<int32_t> domains) {
    Greedy result;
    int32_t slices = slices_;
    if (p_.leaders > 0 && !FillWithLeaders(domains, slices, result)) return {};
    domains = Sorted(std::move(domains), false);
    size_t used = 0;
    for (; slices > 0 && used < domains.size() && At(domains[used]).slices > 0; ++used) {
      result.last = domains[used];
      slices -= At(domains[used]).slices;
    }
    if (slices > 0) return {};
    result.fits = true;
    result.domains += static_cast<int32_t>(used);
    return result;
  }

  // Fills domains with leaders first and removes them from `domains`. Returns whether all leaders fit.
  bool FillWithLeaders(std::vector<int32_t>& domains, int32_t& slices, Greedy& greedy) {
    int32_t leaders = p_.leaders;
    size_t used = 0;
    domains = Sorted(std::move(domains), true);
    for (; leaders > 0 && used < domains.size() && At(domains[used]).leaders > 0; ++used) {
      greedy.last_with_leader = domains[used];
      leaders -= At(domains[used]).leaders;
      slices -= At(domains[used]).slices_with_leader;
    }
    domains.erase(domains.begin(), domains.begin() + static_cast<std::ptrdiff_t>(used));
    greedy.domains = static_cast<int32_t>(used);
    return leaders <= 0;
  }

  // Returns the largest number of slices that can be assigned to every domain of a greedy choice.
  int32_t Threshold(const Greedy& greedy) {
    int32_t threshold = slices_ / greedy.domains;
    if (greedy.last_with_leader != kNoId) {
      threshold = std::min(threshold, At(greedy.last_with_leader).slices_with_leader);
    }
    return greedy.last == kNoId ? threshold : std::min(threshold, At(greedy.last).slices);
  }

  // Same as above, if the last domain also has to host a leader.
  int32_t ThresholdWithLeader(const Greedy& greedy, int32_t threshold) {
    if (p_.leaders == 0 || greedy.last == kNoId) return threshold;
    return std::min(threshold, At(greedy.last).slices_with_leader);
  }

  template <typename Change>
  void ForSubtree(int32_t domain, Change change) {
    change(At(domain));
    const TopologyTree::Domain& at = tree_.At(domain);
    for (int32_t child = at.children_begin; child < at.children_end; ++child) ForSubtree(child, change);
  }

  void PruneOne(int32_t domain, int32_t threshold) {
    if (At(domain).slices < threshold) {
      ForSubtree(domain, [](Counts& counts) {
        const int64_t affinity = counts.affinity;
        counts = Counts();
        counts.affinity = affinity;
      });
    } else if (p_.leaders > 0 && At(domain).leaders > 0 && At(domain).slices_with_leader < threshold) {
      ForSubtree(domain, [](Counts& counts) {
        counts.pods_with_leader = counts.slices_with_leader = counts.leaders = 0;
      });
    }
  }

  // Removes domains that fit fewer slices than the threshold.
  void Prune(const std::vector<int32_t>& domains, int32_t threshold) {
    for (int32_t child : ChildrenOf(domains)) PruneOne(child, threshold);
    for (int32_t domain : domains) {
      table_.RollUp(tree_, p_.level, domain, /*inner=*/false, counts_);
      PruneOne(domain, threshold);
    }
  }

  Greedy FillPruned(const std::vector<int32_t>& domains, int32_t threshold) {
    Prune(domains, threshold);
    return FillGreedily(domains);
  }

  std::vector<std::vector<int32_t>> SiblingSets() const {
    std::vector<std::vector<int32_t>> sets;
    if (p_.level == 0) {
      std::vector<int32_t> roots;
      for (int32_t domain = tree_.Level(0).begin; domain < tree_.Level(0).end; ++domain) {
        roots.push_back(domain);
      }
      return {roots};
    }
    const TopologyTree::Range above = tree_.Level(p_.level - 1);
    for (int32_t domain = above.begin; domain < above.end; ++domain) sets.push_back(ChildrenOf({domain}));
    return sets;
  }

  // Finds the siblings at the requested level over which the pods can be distributed most evenly.
  bool FindSet() {
    for (const std::vector<int32_t>& siblings : SiblingSets()) {
      counts_ = table_.counts();
      const Greedy low = FillGreedily(p_.level < p_.slice_level ? ChildrenOf(siblings) : siblings);
      if (!low.fits) continue;
      if (low.domains == 0) return false;  // Nothing to distribute; Kueue would divide by zero.
      TrySet(siblings, low);
    }
    return threshold_ > 0;
  }

  // Makes the siblings the best set if they allow more slices per domain than the best set so far, or the
  // same number with fewer domains.
  void TrySet(const std::vector<int32_t>& siblings, const Greedy& low) {
    int32_t threshold = Threshold(low);
    if (threshold < threshold_) return;
    const int32_t reserving = ThresholdWithLeader(low, threshold);
    Greedy after = FillPruned(siblings, threshold);
    if (!after.fits && reserving < threshold) {
      if (reserving <= 0 || reserving < threshold_) return;
      threshold = reserving;
      counts_ = table_.counts();
      after = FillPruned(siblings, threshold);
    }
    if (!after.fits) return;
    if (threshold == threshold_ && after.domains >= fewest_) return;
    threshold_ = threshold;
    fewest_ = after.domains;
    best_ = siblings;
    best_counts_ = counts_;
  }

  double Entropy(int32_t domain) {
    const std::vector<int32_t> children = ChildrenOf({domain});
    int32_t total = 0;
    for (int32_t child : children) total += At(child).pods;
    double entropy = 0.0;
    for (int32_t child : children) {
      if (At(child).pods <= 0) continue;
      const double share = static_cast<double>(At(child).pods) / static_cast<double>(total);
      entropy += -share * std::log2(share);
    }
    return entropy;
  }

  void SortByEntropy(std::vector<int32_t>& domains) {
    std::stable_sort(domains.begin(), domains.end(), [this](int32_t a, int32_t b) {
      if (At(a).leaders != At(b).leaders) return At(a).leaders > At(b).leaders;
      if (At(a).slices_with_leader != At(b).slices_with_leader) {
        return At(a).slices_with_leader > At(b).slices_with_leader;
      }
      return Entropy(a) > Entropy(b);
    });
  }

  using Left = std::pair<int32_t, int32_t>;  // Leaders and pods that are not placed yet.
  using SetsByRest = std::map<Left, std::vector<int32_t>>;
  // Returns the last set in which nothing is left to place.
  static std::vector<int32_t> TakingAll(const SetsByRest& sets) {
    std::vector<int32_t> best;
    for (const auto& [left, set] : sets) {
      if (left.first == 0 && left.second <= 0) best = set;
    }
    return best;
  }

  // Extends each set by one domain if something is left to place.
  void Extend(const SetsByRest& sets, int32_t domain, SetsByRest& extended) {
    const Counts& counts = At(domain);
    for (const auto& [left, before] : sets) {
      const auto [leaders, pods] = left;
      if (leaders <= 0 && pods <= 0) continue;
      std::vector<int32_t> now = before;
      now.push_back(domain);
      if (leaders > 0 && counts.leaders > 0) {
        extended.emplace(Left{leaders - counts.leaders, pods - counts.pods_with_leader}, now);
      }
      if (counts.slices > 0) extended.emplace(Left{leaders, pods - counts.pods}, now);
    }
  }

  // Returns a set with as few domains as the greedy choice and as little unused capacity as possible. Uses
  // dynamic programming over what is left to place (leaders, pods) after each number of domains.
  std::vector<int32_t> OptimalSet(std::vector<int32_t> domains, bool by_entropy) {
    const Greedy greedy = FillGreedily(domains);
    if (!greedy.fits) return {};
    std::sort(domains.begin(), domains.end());
    if (by_entropy) SortByEntropy(domains);
    std::vector<SetsByRest> sets(static_cast<size_t>(greedy.domains) + 1);
    sets[0][{p_.leaders, slices_ * p_.slice_size}] = {};
    for (int32_t domain : domains) {
      for (size_t used = sets.size() - 1; used > 0; --used) {
        Extend(sets[used - 1], domain, sets[used]);
      }
    }
    return TakingAll(sets.back());
  }

  bool PlaceSlices(const std::vector<int32_t>& domains, Choices& placed) {
    std::vector<int32_t> set = OptimalSet(domains, /*by_entropy=*/false);
    const auto number = static_cast<int32_t>(set.size());
    if (set.empty() || slices_ < number * threshold_) return false;
    set = Sorted(std::move(set), true);
    int32_t extra = slices_ - number * threshold_, leaders = p_.leaders;
    for (int32_t domain : set) {
      GiveShare(At(domain), extra, leaders);
      placed.push_back({domain, At(domain)});
    }
    return extra <= 0 && leaders <= 0;
  }

  // Assigns to a domain: a leader if any leaders are left, its equal share of the slices, and as many extra
  // slices as fit.
  void GiveShare(Counts& counts, int32_t& extra, int32_t& leaders) const {
    int32_t more = 0;
    if (leaders > 0) {
      more = std::min(counts.slices_with_leader - threshold_, extra);
      counts.leaders = 1;
      --leaders;
    } else {
      if (extra > 0) more = std::min(counts.slices - threshold_, extra);
      counts.leaders = 0;
    }
    counts.slices = counts.slices_with_leader = threshold_ + more;
    counts.pods = counts.slices * p_.slice_size;
    counts.pods_with_leader = counts.pods - counts.leaders;
    extra -= more;
  }

  const TopologyTree& tree_;
  const PlacementParameters& p_;
  const bool by_affinity_;
  const CountTable& table_;
  const int32_t slices_;
  std::vector<Counts> counts_, best_counts_;
  std::vector<int32_t> best_;
  int32_t threshold_ = 0;  // Of the best set: minimum number of slices per domain.
  int32_t fewest_ = 0;     // Of the best set: number of domains.
};

}  // namespace

std::optional<BalancedStart> PlaceBalanced(const TopologyTree& tree, const PlacementParameters& parameters,
                                           const PlacementGates& gates, const CountTable& table) {
  return Balanced(tree, parameters, gates, table).Run();
}

}  // namespace kueue
