// Mirrors pkg/cache/scheduler/tas_flavor_snapshot.go:fillInCounts, fillLeafCounts, fillInCountsHelper and
// pkg/resources/requests.go:CountInWithLimitingResource (kueue ff69552e79).
#include "topology/counts.h"

#include <algorithm>
#include <limits>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace kueue {
namespace {

using Exclusion = PlacementFailure::Exclusion;

constexpr int32_t kMost = std::numeric_limits<int32_t>::max();

bool SameCounts(const Counts& a, const Counts& b) {
  return a.pods == b.pods && a.slices == b.slices && a.pods_with_leader == b.pods_with_leader &&
         a.slices_with_leader == b.slices_with_leader && a.leaders == b.leaders && a.affinity == b.affinity;
}

}  // namespace

std::vector<int64_t> CountQuery::Key() const {
  std::vector<int64_t> key{demand,     as_if_empty, by_affinity,
                           slice_size, slice_level, static_cast<int64_t>(inner_sizes.size())};
  key.insert(key.end(), inner_sizes.begin(), inner_sizes.end());
  for (const auto& [resource, amount] : requests) key.insert(key.end(), {resource.value(), amount});
  key.push_back(leader ? 1 : 0);
  if (leader) {
    for (const auto& [resource, amount] : *leader) key.insert(key.end(), {resource.value(), amount});
  }
  return key;
}

std::vector<CountTable::Ask> CountTable::Compile(const TopologyTree& tree, const PodAmounts& requests) {
  std::vector<Ask> asks;
  for (const auto& [resource, amount] : requests) asks.push_back({tree.SlotOf(resource), resource, amount});
  return asks;
}

int64_t CountTable::LessLeader(int64_t remaining, ResourceId resource) const {
  for (const Ask& taken : leader_asks_) {
    if (taken.resource == resource) remaining = SaturatingSub(remaining, taken.amount);
  }
  return remaining;
}

int32_t CountTable::HowOften(const FlavorCapacity& capacity, size_t row, const Ask& ask,
                             bool less_leader) const {
  if (ask.amount == 0) return kMost;
  int64_t remaining =
      ask.slot == kNoId ? 0 : capacity.Remaining(row + static_cast<size_t>(ask.slot), query_.as_if_empty);
  if (less_leader) remaining = LessLeader(remaining, ask.resource);
  // The remaining amount is negative if usage exceeds the current capacity.
  return remaining <= 0 ? 0 : static_cast<int32_t>(std::clamp<int64_t>(remaining / ask.amount, 0, kMost));
}

// Returns how many times the requests fit into the remaining capacity of the leaf. `limiting` is set to the
// first resource, by name, with the lowest count.
int32_t CountTable::HowMany(const FlavorCapacity& capacity, int32_t leaf, const std::vector<Ask>& asks,
                            bool less_leader, ResourceId* limiting) const {
  const size_t row = static_cast<size_t>(leaf) * static_cast<size_t>(capacity.tree->slots());
  bool any = false;
  int32_t fewest = 0;
  for (const Ask& ask : asks) {
    const int32_t count = HowOften(capacity, row, ask, less_leader);
    if (any && count >= fewest) continue;
    any = true;
    fewest = count;
    if (limiting != nullptr) *limiting = ask.resource;
  }
  return fewest;
}

void CountTable::CountLeaf(const FlavorCapacity& capacity, int32_t leaf) {
  const size_t at = static_cast<size_t>(leaf);
  Counts& counts = counts_[static_cast<size_t>(capacity.tree->DomainOfLeaf(leaf))];
  counts = Counts();
  limiting_[at] = kNoId;
  if (!query_.eligible->eligible[at]) return;
  if (query_.by_affinity && !query_.eligible->affinity.empty())
    counts.affinity = query_.eligible->affinity[at];
  if (!outside_.empty() && outside_[at]) return;
  ResourceId limiting = kNoId;
  counts.pods = HowMany(capacity, leaf, asks_, false, &limiting);
  if (counts.pods == 0) limiting_[at] = limiting;
  counts.pods_with_leader = counts.pods;
  if (query_.leader && HowMany(capacity, leaf, leader_asks_, false, nullptr) > 0) {
    counts.leaders = 1;
    counts.pods_with_leader = HowMany(capacity, leaf, asks_, true, nullptr);
  }
  if (query_.slice_level == capacity.tree->lowest()) CountSlices(counts);
}

void CountTable::RollUpOne(const TopologyTree& tree, int level, int32_t domain, bool inner,
                           std::vector<Counts>& counts) const {
  const TopologyTree::Domain& at = tree.At(domain);
  Counts sum;
  const int32_t unit = inner ? UnitBelow(level) : 0;
  int32_t pods_lost = kMost, slices_lost = kMost;
  bool any = false;
  for (int32_t child = at.children_begin; child < at.children_end; ++child) {
    const Counts& part = counts[static_cast<size_t>(child)];
    const int32_t pods = unit > 0 ? part.pods / unit * unit : part.pods;
    const int32_t with_leader = unit > 0 ? part.pods_with_leader / unit * unit : part.pods_with_leader;
    sum.pods += pods;
    sum.slices += part.slices;
    if (!query_.leader || part.leaders > 0) {
      any = true;
      pods_lost = std::min(pods_lost, pods - with_leader);
      slices_lost = std::min(slices_lost, part.slices - part.slices_with_leader);
    }
    sum.leaders = std::max(sum.leaders, part.leaders);
    sum.affinity += part.affinity;
  }
  if (any) {
    sum.pods_with_leader = sum.pods - pods_lost;
    sum.slices_with_leader = sum.slices - slices_lost;
  }
  if (level == query_.slice_level) CountSlices(sum);
  counts[static_cast<size_t>(domain)] = sum;
}

void CountTable::AddDifference(int level, const Counts& before, const Counts& now, Counts& counts) const {
  const int32_t unit = UnitBelow(level);
  const auto rounded = [unit](int32_t pods) { return unit > 0 ? pods / unit * unit : pods; };
  counts.pods += rounded(now.pods) - rounded(before.pods);
  counts.slices += now.slices - before.slices;
  counts.affinity += now.affinity - before.affinity;
  counts.pods_with_leader = counts.pods;
  counts.slices_with_leader = counts.slices;
  if (level == query_.slice_level) CountSlices(counts);
}

void CountTable::RollUp(const TopologyTree& tree, int level, int32_t domain, bool inner,
                        std::vector<Counts>& counts) const {
  if (level == tree.lowest()) {
    if (level == query_.slice_level) CountSlices(counts[static_cast<size_t>(domain)]);
    return;
  }
  const TopologyTree::Domain& at = tree.At(domain);
  for (int32_t child = at.children_begin; child < at.children_end; ++child) {
    RollUp(tree, level + 1, child, inner, counts);
  }
  RollUpOne(tree, level, domain, inner, counts);
}

void CountTable::Begin(const FlavorCapacity& capacity) {
  const TopologyTree& tree = *capacity.tree;
  tree_ = &tree;
  asks_ = Compile(tree, query_.requests);
  leader_asks_ = query_.leader ? Compile(tree, *query_.leader) : std::vector<Ask>();
  counts_.resize(static_cast<size_t>(tree.size()));
  limiting_.resize(static_cast<size_t>(tree.leaves()));
  is_recounted_.resize(static_cast<size_t>(tree.leaves()));
}

void CountTable::CountAll(const FlavorCapacity& capacity) {
  const TopologyTree& tree = *capacity.tree;
  for (int32_t leaf = 0; leaf < tree.leaves(); ++leaf) CountLeaf(capacity, leaf);
  for (int level = tree.lowest() - 1; level >= 0; --level) {
    const TopologyTree::Range range = tree.Level(level);
    for (int32_t domain = range.begin; domain < range.end; ++domain) {
      RollUpOne(tree, level, domain, true, counts_);
    }
  }
}

void CountTable::Follow(const FlavorCapacity& capacity, const ChangeLog& log, size_t from) {
  const TopologyTree& tree = *capacity.tree;
  for (size_t position = from; position < log.end(); ++position) {
    const int32_t leaf = log.At(position);
    if (is_recounted_[static_cast<size_t>(leaf)]) continue;  // Most leaves are in the log several times.
    is_recounted_[static_cast<size_t>(leaf)] = true;
    int32_t domain = tree.DomainOfLeaf(leaf);
    Counts before = At(domain);
    CountLeaf(capacity, leaf);
    for (int level = tree.lowest() - 1; level >= 0 && !SameCounts(before, At(domain)); --level) {
      const int32_t above = tree.At(domain).parent;
      const Counts parent = At(above);
      if (query_.leader) {
        RollUpOne(tree, level, above, true, counts_);
      } else {
        AddDifference(level, before, At(domain), counts_[static_cast<size_t>(above)]);
      }
      before = parent;
      domain = above;
    }
  }
  for (size_t position = from; position < log.end(); ++position)
    is_recounted_[static_cast<size_t>(log.At(position))] = false;
}

void CountTable::Refresh(const FlavorCapacity& capacity) {
  const ChangeLog &used = capacity.changed_used, &free = capacity.changed_free;
  const bool is_new = tree_ != capacity.tree.get();
  if (is_new) Begin(capacity);
  const bool follows_used = !query_.as_if_empty;
  const size_t behind = (follows_used ? used.end() - used_position_ : 0) + free.end() - free_position_;
  if (is_new || (follows_used && used_position_ < used.begin()) || free_position_ < free.begin() ||
      behind > static_cast<size_t>(capacity.tree->leaves())) {
    CountAll(capacity);
  } else {
    if (follows_used) Follow(capacity, used, used_position_);
    Follow(capacity, free, free_position_);
  }
  used_position_ = used.end();
  free_position_ = free.end();
}

void CountTable::CountWithin(const FlavorCapacity& capacity, const std::string& within) {
  const TopologyTree& tree = *capacity.tree;
  Begin(capacity);
  outside_.assign(static_cast<size_t>(tree.leaves()), false);
  for (int32_t leaf = 0; leaf < tree.leaves() && !within.empty(); ++leaf) {
    const std::string path = JoinValues(tree.Values(tree.DomainOfLeaf(leaf)));
    outside_[static_cast<size_t>(leaf)] = path != within && !absl::StartsWith(path, within + ",");
  }
  CountAll(capacity);
}

void CountTable::Explain(const FlavorCapacity& capacity, const Interner<ResourceId>& resources,
                         PlacementFailure& failure) const {
  const EligibleLeaves& eligible = *query_.eligible;
  failure.total_nodes = capacity.tree->leaves();
  const auto add = [&failure](Exclusion why, const std::string& name, int32_t nodes) {
    if (nodes > 0) failure.excluded.push_back({why, name, nodes});
  };
  add(Exclusion::kNodeSelector, "", eligible.node_selector);
  add(Exclusion::kAffinity, "", eligible.node_affinity);
  for (const auto& [taint, nodes] : eligible.taints) add(Exclusion::kTaint, taint, nodes);
  int32_t outside = 0;
  std::map<ResourceId, int32_t> limiting;
  for (size_t leaf = 0; leaf < limiting_.size(); ++leaf) {
    if (!outside_.empty() && outside_[leaf] && eligible.eligible[leaf]) ++outside;
    if (limiting_[leaf] != kNoId) ++limiting[limiting_[leaf]];
  }
  add(Exclusion::kTopologyDomain, "", outside);
  for (const auto& [resource, nodes] : limiting) add(Exclusion::kResource, resources.Name(resource), nodes);
}

CountTable& CountsFor(FlavorCapacity& capacity, CountQuery query) {
  std::unique_ptr<CountTable>& table = capacity.cache.tables[query.Key()];
  if (table == nullptr) table = std::make_unique<CountTable>(std::move(query));
  table->Refresh(capacity);
  return *table;
}

}  // namespace kueue
