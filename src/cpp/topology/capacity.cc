// Mirrors pkg/cache/scheduler/tas_flavor_snapshot.go:updateTASUsage, addAssumedUsage (kueue ff69552e79).
#include "topology/capacity.h"

#include <algorithm>

#include "topology/counts.h"
#include "topology/known.h"

namespace kueue {

CapacityCache::CapacityCache() = default;
CapacityCache::~CapacityCache() = default;
CapacityCache::CapacityCache(const CapacityCache& /*other*/) {}
CapacityCache& CapacityCache::operator=(const CapacityCache& other) {
  if (this != &other) *this = CapacityCache();
  return *this;
}
CapacityCache::CapacityCache(CapacityCache&& other) noexcept = default;
CapacityCache& CapacityCache::operator=(CapacityCache&& other) noexcept = default;

namespace {

// Calls `tell` with slot and amount for each requested resource that a node has, and for one unit of `pods`.
template <typename Tell>
void ForEachSlot(const TopologyTree& tree, const PodAmounts& requests, ResourceId pods, const Tell& tell) {
  for (const auto& [resource, amount] : requests) {
    if (const int slot = tree.SlotOf(resource); slot != kNoId) tell(slot, amount);
  }
  if (const int slot = tree.SlotOf(pods); slot != kNoId) tell(slot, int64_t{1});
}

}  // namespace

void TopologyCapacity::Set(FlavorId flavor, std::shared_ptr<const TopologyTree> tree, std::string topology) {
  flavors_.GrowTo(flavor);
  FlavorCapacity& capacity = flavors_[flavor];
  capacity = FlavorCapacity();
  capacity.free = tree->capacity();
  capacity.used.assign(capacity.free.size(), 0);
  capacity.assumed.assign(capacity.free.size(), 0);
  capacity.tree = std::move(tree);
  capacity.topology = std::move(topology);
}

void TopologyCapacity::TakeForeign(FlavorCapacity& capacity, int32_t leaf, const PodAmounts& requests,
                                   int64_t sign) {
  const TopologyTree& tree = *capacity.tree;
  for (const auto& [resource, amount] : requests) {
    const int slot = tree.SlotOf(resource);
    if (slot == kNoId) continue;
    int64_t& free = capacity.free[static_cast<size_t>(leaf * tree.slots() + slot)];
    free = sign > 0 ? SaturatingSub(free, amount) : SaturatingAdd(free, amount);
  }
  capacity.changed_free.Push(leaf);
  capacity.free_version = ++versions_;
}

void TopologyCapacity::Add(FlavorId flavor, DomainId domain, const PodAmounts& requests, ResourceId pods,
                           int32_t count) {
  FlavorCapacity* const capacity = Find(flavor);
  const int32_t leaf = capacity == nullptr ? kNoId : capacity->tree->LeafOf(domain);
  if (leaf == kNoId) return;
  const TopologyTree& tree = *capacity->tree;
  ForEachSlot(tree, requests, pods, [&](int slot, int64_t amount) {
    int64_t& used = capacity->used[static_cast<size_t>(leaf * tree.slots() + slot)];
    if (open_ > 0) log_.push_back({flavor, leaf, slot, used, capacity->used_version});
    used = SaturatingAdd(used, SaturatingMul(amount, count));
    capacity->used_version = ++versions_;
  });
  capacity->changed_used.Push(leaf);
  capacity->changed_used.Shorten(static_cast<size_t>(4 * tree.leaves() + 64));
}

void TopologyCapacity::Assume(FlavorId flavor, DomainId domain, const PodAmounts& requests, ResourceId pods,
                              int32_t count) {
  FlavorCapacity* const capacity = Find(flavor);
  const int32_t leaf = capacity == nullptr ? kNoId : capacity->tree->LeafOf(domain);
  if (leaf == kNoId) return;
  const TopologyTree& tree = *capacity->tree;
  ForEachSlot(tree, requests, pods, [&](int slot, int64_t amount) {
    int64_t& assumed = capacity->assumed[static_cast<size_t>(leaf * tree.slots() + slot)];
    assumed = SaturatingAdd(assumed, SaturatingMul(amount, count));
  });
  capacity->changed_free.Push(leaf);
  assumed_.push_back({flavor, leaf, capacity->free_version});
  capacity->free_version = ++versions_;
}

void TopologyCapacity::ClearAssumed() {
  for (auto last = assumed_.rbegin(); last != assumed_.rend(); ++last) {
    FlavorCapacity& capacity = flavors_[last->flavor];
    const auto row = capacity.assumed.begin() + last->leaf * capacity.tree->slots();
    std::fill(row, row + capacity.tree->slots(), 0);
    capacity.changed_free.Push(last->leaf);
    capacity.changed_free.Shorten(static_cast<size_t>(4 * capacity.tree->leaves() + 64));
    capacity.free_version = last->version_before;
  }
  assumed_.clear();
}

void TopologyCapacity::Rollback(size_t mark) {
  FlavorId flavor = kNoId;
  int32_t leaf = kNoId;
  while (log_.size() > mark) {
    const Change& change = log_.back();
    FlavorCapacity& capacity = flavors_[change.flavor];
    capacity.used[static_cast<size_t>(change.leaf * capacity.tree->slots() + change.slot)] = change.before;
    capacity.used_version = change.version_before;
    // The slots of one Add() follow each other in the log; one entry for the leaf suffices.
    if (change.flavor != flavor || change.leaf != leaf) capacity.changed_used.Push(change.leaf);
    flavor = change.flavor;
    leaf = change.leaf;
    log_.pop_back();
  }
  --open_;
}

}  // namespace kueue
