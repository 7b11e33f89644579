#include "flavor/subject.h"

#include "absl/container/flat_hash_map.h"
#include "state/held.h"

namespace kueue {

std::vector<PodSetGroup> GroupsOf(const EquivalenceClass& cls) {
  std::vector<PodSetGroup> groups;
  absl::flat_hash_map<std::string, size_t> by_name;
  for (size_t i = 0; i < cls.pod_sets.size(); ++i) {
    const std::string& name = cls.pod_sets[i].group;
    if (!name.empty()) {
      auto [it, inserted] = by_name.try_emplace(name, groups.size());
      if (!inserted) {
        groups[it->second].push_back(static_cast<int>(i));
        continue;
      }
    }
    groups.push_back(PodSetGroup{static_cast<int>(i)});
  }
  return groups;
}

const PodSetAdmission* ReplacedAdmission::At(int pod_set) const {
  if (replaced_ == kNoId || !state_.At(replaced_).admission) return nullptr;
  const auto& pod_sets = state_.At(replaced_).admission->pod_sets;
  return static_cast<size_t>(pod_set) < pod_sets.size() ? &pod_sets[static_cast<size_t>(pod_set)] : nullptr;
}

const PodSetAdmission* ReplacedAdmission::Named(const std::string& name) const {
  if (replaced_ == kNoId || !state_.At(replaced_).admission) return nullptr;
  for (const PodSetAdmission& old : state_.At(replaced_).admission->pod_sets) {
    if (old.name == name) return &old;
  }
  return nullptr;
}

int64_t ReplacedAdmission::RequestOf(const PodSetAdmission* old, ResourceId resource) const {
  if (old == nullptr) return 0;
  for (const PodSetAdmission::Resource& entry : old->resources) {
    if (entry.resource != resource) continue;
    return HeldUsage(entry.usage, *old, HeldCount(state_, state_.At(replaced_), *old));
  }
  return 0;
}

FlavorId ReplacedAdmission::FlavorOf(int pod_set, ResourceId resource) const {
  const PodSetAdmission* const old = At(pod_set);
  if (old == nullptr) return kNoId;
  for (const PodSetAdmission::Resource& entry : old->resources) {
    if (entry.resource == resource) return entry.flavor;
  }
  return kNoId;
}

}  // namespace kueue
