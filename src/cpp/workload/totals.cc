#include "workload/totals.h"

#include <algorithm>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kueue {
namespace {

void AddAll(ResourceList& sum, const ResourceList& more) {
  for (const auto& [name, quantity] : more) {
    const auto [entry, inserted] = sum.try_emplace(name, quantity);
    if (!inserted) entry->second = entry->second + quantity;
  }
}

void MaxAll(ResourceList& highest, const ResourceList& other) {
  for (const auto& [name, quantity] : other) {
    const auto [entry, inserted] = highest.try_emplace(name, quantity);
    if (!inserted && entry->second < quantity) entry->second = quantity;
  }
}

// Keeps what is there.
void FillIn(ResourceList& list, const ResourceList& defaults) { list.insert(defaults.begin(), defaults.end()); }

// Of several LimitRanges: the lowest max, the highest min, the first default of each resource.
struct Summary {
  bool present = false;
  LimitRange::Item item;
};

Summary Summarize(const std::map<std::string, LimitRange>& ranges, absl::string_view type) {
  Summary summary;
  for (const auto& [name, range] : ranges) {
    for (const LimitRange::Item& item : range.items) {
      if (item.type != type) continue;
      summary.present = true;
      for (const auto& [resource, quantity] : item.max) {
        const auto [entry, inserted] = summary.item.max.try_emplace(resource, quantity);
        if (!inserted && quantity < entry->second) entry->second = quantity;
      }
      MaxAll(summary.item.min, item.min);
      FillIn(summary.item.default_limit, item.default_limit);
      FillIn(summary.item.default_request, item.default_request);
    }
  }
  return summary;
}

bool IsPodLevelResource(const std::string& name) {
  return name == "cpu" || name == "memory" || absl::StartsWith(name, "hugepages-");
}

ResourceList Transformed(const ResourceList& requests, const std::vector<ResourceTransformation>& transformations) {
  const auto transformation_of = [&](const std::string& name) {
    return std::find_if(transformations.begin(), transformations.end(),
                        [&name](const ResourceTransformation& t) { return t.input == name; });
  };
  ResourceList retained, generated;
  for (const auto& [name, quantity] : requests) {
    const auto transformation = transformation_of(name);
    if (transformation == transformations.end()) {
      retained[name] = quantity;
      continue;
    }
    Quantity base = quantity;
    const auto multiplier = requests.find(transformation->multiply_by);
    if (multiplier != requests.end()) base = base * multiplier->second;
    for (const auto& [output, factor] : transformation->outputs) {
      const auto [entry, inserted] = generated.try_emplace(output, base * factor);
      if (!inserted) entry->second = entry->second + base * factor;
    }
    if (!transformation->replace) retained[name] = quantity;
  }
  for (auto& [name, quantity] : generated) {
    if (quantity.IsNegative()) quantity = Quantity();
  }
  AddAll(retained, generated);
  return retained;
}

// Names in both lists whose first value is above the second, as integers; empty where either list is.
std::vector<std::string> GreaterKeys(const ResourceList& a, const ResourceList& b) {
  std::vector<std::string> names;
  for (const auto& [name, quantity] : a) {
    const auto other = b.find(name);
    if (other != b.end() && ResourceValue(name, quantity) > ResourceValue(name, other->second)) names.push_back(name);
  }
  return names;
}

void AddError(std::vector<std::string>& errors, const std::string& path, const std::vector<std::string>& names,
              absl::string_view message) {
  if (names.empty()) return;
  errors.push_back(absl::StrCat(path, ": Invalid value: [\"", absl::StrJoin(names, "\",\""), "\"]: ", message));
}

ResourceList MergedByMin(const Container& container) {
  ResourceList merged = container.requests;
  for (const auto& [name, quantity] : container.limits) {
    const auto [entry, inserted] = merged.try_emplace(name, quantity);
    if (!inserted && quantity < entry->second) entry->second = quantity;
  }
  return merged;
}

ResourceList MergedByMax(const Container& container) {
  ResourceList merged = container.requests;
  MaxAll(merged, container.limits);
  return merged;
}

template <typename Visit>
void ForEachContainer(const PodTemplate& pod, const std::string& path, Visit visit) {
  for (size_t i = 0; i < pod.init_containers.size(); ++i) {
    visit(pod.init_containers[i], absl::StrCat(path, ".initContainers[", i, "]"));
  }
  for (size_t i = 0; i < pod.containers.size(); ++i) {
    visit(pod.containers[i], absl::StrCat(path, ".containers[", i, "]"));
  }
}

}  // namespace

uint64_t ResourceOrder(absl::string_view name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

PodTemplate Adjust(PodTemplate pod, const std::map<std::string, RuntimeClass>& runtime_classes,
                   const std::map<std::string, LimitRange>& limit_ranges) {
  if (pod.overhead.empty() && !pod.runtime_class_name.empty()) {
    const auto runtime_class = runtime_classes.find(pod.runtime_class_name);
    if (runtime_class != runtime_classes.end()) pod.overhead = runtime_class->second.pod_fixed;
  }
  const auto apply_defaults = [](Container& container, const LimitRange::Item& defaults) {
    FillIn(container.limits, defaults.default_limit);
    FillIn(container.requests, defaults.default_request);
  };
  const Summary containers = Summarize(limit_ranges, "Container"), pods = Summarize(limit_ranges, "Pod");
  for (std::vector<Container>* list : {&pod.init_containers, &pod.containers}) {
    for (Container& container : *list) {
      if (containers.present) apply_defaults(container, containers.item);
      FillIn(container.requests, container.limits);
    }
  }
  if (pod.has_resources) {
    if (pods.present) apply_defaults(pod.resources, pods.item);
    FillIn(pod.resources.requests, pod.resources.limits);
  }
  return pod;
}

ResourceList PodRequests(const PodTemplate& pod) {
  ResourceList sum, sidecars, highest;
  for (const Container& container : pod.containers) AddAll(sum, container.requests);
  for (const Container& container : pod.init_containers) {
    ResourceList need = container.requests;
    if (container.restarts_always) {
      AddAll(sum, container.requests);
      AddAll(sidecars, container.requests);
      need = sidecars;
    } else {
      AddAll(need, sidecars);
    }
    MaxAll(highest, need);
  }
  MaxAll(sum, highest);
  for (const auto& [name, quantity] : pod.resources.requests) {
    if (pod.has_resources && IsPodLevelResource(name)) sum[name] = quantity;
  }
  AddAll(sum, pod.overhead);
  return sum;
}

std::vector<std::pair<std::string, int64_t>> PerPodRequests(const PodTemplate& pod, const RequestsConfig& config) {
  ResourceList requests = PodRequests(pod);
  for (auto entry = requests.begin(); entry != requests.end();) {
    const bool excluded = std::any_of(config.excluded_prefixes.begin(), config.excluded_prefixes.end(),
                                      [&](const std::string& prefix) { return absl::StartsWith(entry->first, prefix); });
    entry = excluded ? requests.erase(entry) : std::next(entry);
  }
  if (!config.transformations.empty()) requests = Transformed(requests, config.transformations);
  std::vector<std::pair<std::string, int64_t>> integers;
  for (const auto& [name, quantity] : requests) {
    integers.emplace_back(name, std::max<int64_t>(ResourceValue(name, quantity), 0));
  }
  std::sort(integers.begin(), integers.end(), [](const auto& a, const auto& b) {
    const uint64_t left = ResourceOrder(a.first), right = ResourceOrder(b.first);
    return left != right ? left < right : a.first < b.first;
  });
  return integers;
}

std::vector<std::string> ValidateResources(const PodTemplate& pod, const std::string& path) {
  constexpr absl::string_view kMessage("requests must not exceed its limits");
  std::vector<std::string> errors;
  ForEachContainer(pod, path, [&](const Container& container, const std::string& at) {
    AddError(errors, at, GreaterKeys(container.requests, container.limits), kMessage);
  });
  if (pod.has_resources) {
    AddError(errors, path + ".resources", GreaterKeys(pod.resources.requests, pod.resources.limits), kMessage);
  }
  return errors;
}

std::vector<std::string> ValidateLimitRanges(const PodTemplate& pod, const std::string& path,
                                             const std::map<std::string, LimitRange>& limit_ranges) {
  constexpr absl::string_view kAbove("requests must not be above the limitRange max");
  constexpr absl::string_view kBelow("requests must not be below the limitRange min");
  std::vector<std::string> errors;
  const Summary containers = Summarize(limit_ranges, "Container"), pods = Summarize(limit_ranges, "Pod");
  if (containers.present) {
    ForEachContainer(pod, path, [&](const Container& container, const std::string& at) {
      AddError(errors, at, GreaterKeys(MergedByMax(container), containers.item.max), kAbove);
      AddError(errors, at, GreaterKeys(containers.item.min, MergedByMin(container)), kBelow);
    });
  }
  if (pods.present) {
    const ResourceList total = PodRequests(pod);
    AddError(errors, path, GreaterKeys(total, pods.item.max), kAbove);
    AddError(errors, path, GreaterKeys(pods.item.min, total), kBelow);
  }
  return errors;
}

std::string Aggregate(const std::vector<std::string>& errors) {
  std::set<std::string> seen;
  std::vector<std::string> distinct;
  for (const std::string& error : errors) {
    if (seen.insert(error).second) distinct.push_back(error);
  }
  if (distinct.size() == 1) return distinct.front();
  return absl::StrCat("[", absl::StrJoin(distinct, ", "), "]");
}

}  // namespace kueue
