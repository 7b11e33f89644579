// Mirrors pkg/workload/workload.go:totalRequestsFromPodSets, computeSchedulingHash (kueue ff69552e79).
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lifecycle/queueing.h"
#include "state/held.h"
#include "workload/shape.h"

namespace kueue {
namespace {

// An injective text: every part is preceded by its length.
void Append(std::string& key, absl::string_view part) { absl::StrAppend(&key, part.size(), ":", part, ";"); }

// Workloads made from one template object are told apart by a few numbers; kNoId where that does not do.
ClassId KnownByTemplate(const State& state, const Workload& workload, const Namespace& space) {
  const std::vector<PodSetSpec>& pod_sets = workload.spec->pod_sets;
  if (pod_sets.size() != 1 || !space.limit_ranges.empty() || !workload.Life().reclaimable.empty())
    return kNoId;
  const auto known = state.short_cuts.classes.find(pod_sets[0].pod_template.get());
  if (known == state.short_cuts.classes.end()) return kNoId;
  for (ClassId id : known->second) {
    const EquivalenceClass& cls = state.Class(id);
    const PodSetSpec &mine = pod_sets[0], &other = cls.pod_sets[0];
    if (cls.priority == workload.priority && cls.totals[0].count == mine.count && mine.count == other.count &&
        mine.min_count == other.min_count && mine.name == other.name && mine.group == other.group &&
        mine.topology_request == other.topology_request && cls.adjusted.empty()) {
      return id;
    }
  }
  return kNoId;
}

}  // namespace

void Classify(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  const WorkloadSpec& spec = *workload.spec;
  const Namespace& space =
      state.namespaces[static_cast<size_t>(state.Local(workload.local_queue).namespace_id)];
  workload.priority = spec.priority + (state.config.gates.priority_boost ? spec.priority_boost : 0);
  if (const ClassId known = KnownByTemplate(state, workload, space); known != kNoId) {
    workload.cls = known;
    return;
  }
  EquivalenceClass cls;
  cls.priority = workload.priority;
  std::string key = absl::StrCat(workload.priority, ";");
  std::vector<std::string> errors;
  for (size_t i = 0; i < spec.pod_sets.size(); ++i) {
    const PodSetSpec& pod_set = spec.pod_sets[i];
    const PodTemplate adjusted = Adjust(*pod_set.pod_template, state.runtime_classes, space.limit_ranges);
    PodSetTotals totals;
    totals.count = CountAfterReclaim(state, workload, pod_set);
    absl::StrAppend(&key, totals.count, ";", pod_set.count, ";", pod_set.min_count.value_or(-1), ";");
    Append(key, pod_set.name);
    Append(key, pod_set.group);
    Append(key, pod_set.topology_request);
    Append(key, SpecShape(adjusted));
    for (const auto& [name, amount] : PerPodRequests(adjusted, state.requests)) {
      totals.requests.emplace_back(state.InternResource(name), SaturatingMul(amount, totals.count));
      absl::StrAppend(&key, totals.requests.back().first, "=", totals.requests.back().second, ";");
    }
    const std::string path = absl::StrCat("spec.podSets[", i, "].template.spec");
    for (std::string& error : ValidateResources(adjusted, path)) errors.push_back(std::move(error));
    cls.totals.push_back(std::move(totals));
    cls.can_be_partially_admitted =
        cls.can_be_partially_admitted || (pod_set.min_count && *pod_set.min_count < pod_set.count);
    if (!space.limit_ranges.empty()) cls.adjusted.push_back(adjusted);
  }
  if (!errors.empty()) cls.resource_error = Aggregate(errors);
  Append(key, cls.resource_error);
  if (!cls.adjusted.empty()) Append(key, space.name);
  auto [entry, inserted] =
      state.class_of_key.try_emplace(std::move(key), static_cast<ClassId>(state.classes.size()));
  if (inserted) {
    cls.pod_sets = spec.pod_sets;
    // The class keeps its own template alive, so that its address is no other's.
    if (cls.pod_sets.size() == 1 && cls.adjusted.empty()) {
      state.short_cuts.classes[cls.pod_sets[0].pod_template.get()].push_back(entry->second);
    }
    state.classes.push_back(std::move(cls));
  }
  workload.cls = entry->second;
}

}  // namespace kueue
