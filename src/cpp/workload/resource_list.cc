#include "workload/resource_list.h"

namespace kueue {
namespace {

// Calls resolve(&mine, theirs) for names in both lists, and adds names that are only in `other`.
template <typename Resolve>
void Merge(ResourceList* list, const ResourceList& other, Resolve resolve) {
  for (const auto& [name, quantity] : other) {
    const auto [entry, inserted] = list->try_emplace(name, quantity);
    if (!inserted) resolve(&entry->second, quantity);
  }
}

}  // namespace

void AddTo(ResourceList* sum, const ResourceList& more) {
  Merge(sum, more, [](Quantity* mine, const Quantity& theirs) { *mine += theirs; });
}

void RaiseTo(ResourceList* highest, const ResourceList& other) {
  Merge(highest, other, [](Quantity* mine, const Quantity& theirs) {
    if (*mine < theirs) *mine = theirs;
  });
}

void LowerTo(ResourceList* lowest, const ResourceList& other) {
  Merge(lowest, other, [](Quantity* mine, const Quantity& theirs) {
    if (theirs < *mine) *mine = theirs;
  });
}

void FillIn(ResourceList* list, const ResourceList& defaults) {
  list->insert(defaults.begin(), defaults.end());
}

}  // namespace kueue
