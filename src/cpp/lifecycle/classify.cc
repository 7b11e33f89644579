// Equivalence classes of workloads; lifecycle/queueing.h declares these functions. KnownByTemplate() must
// compare each field that KeyOf() writes and that can differ between workloads of one template. Mirrors
// pkg/workload/workload.go:totalRequestsFromPodSets, computeSchedulingHash (kueue ff69552e79).
#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "lifecycle/devices.h"
#include "lifecycle/queueing.h"
#include "model/key.h"
#include "state/held.h"
#include "state/names.h"
#include "workload/shape.h"

namespace kueue {

int64_t PriorityOf(const State& state, const WorkloadSpec& spec) {
  return spec.priority + (state.config.gates.priority_boost ? spec.priority_boost : 0);
}

namespace {

// Fast path: for workloads created from one template object, a few numbers determine the class. Returns kNoId
// if the fast path does not apply.
ClassId KnownByTemplate(const State& state, const WorkloadSpec& spec, int64_t priority,
                        const DeviceCharges* charges, const Namespace& space) {
  const std::vector<PodSetSpec>& pod_sets = spec.pod_sets;
  if (pod_sets.size() != 1 || !space.limit_ranges.empty() || !spec.allowed_flavors.empty()) return kNoId;
  const auto known = state.caches.classes->find(pod_sets[0].pod_template.get());
  if (known == state.caches.classes->end()) return kNoId;
  for (ClassId id : known->second) {
    const EquivalenceClass& cls = state.Class(id);
    const PodSetSpec &mine = pod_sets[0], &other = cls.pod_sets[0];
    if (SameCharges(cls.devices.get(), charges) && cls.priority == priority &&
        cls.totals[0].count == mine.count && mine.count == other.count && mine.min_count == other.min_count &&
        mine.name == other.name && mine.group == other.group &&
        mine.topology_request == other.topology_request && cls.adjusted.empty()) {
      return id;
    }
  }
  return kNoId;
}

// A class, and its pods as the scheduler sees them.
struct Made {
  EquivalenceClass cls;
  absl::InlinedVector<std::shared_ptr<const PodTemplate>, 1> adjusted;
};

// Returns whether Adjust() would change nothing and ValidateResources() would find no error, which is the
// case for most pods: no limits, no LimitRange in the namespace and no RuntimeClass.
bool IsComplete(const PodTemplate& pod, const Namespace& space) {
  const auto has_limits = [](const Container& container) { return !container.limits.empty(); };
  return space.limit_ranges.empty() && pod.runtime_class_name.empty() && pod.init_containers.empty() &&
         !pod.has_resources && std::none_of(pod.containers.begin(), pod.containers.end(), has_limits);
}

Made Make(State& state, const Workload& workload, const Namespace& space) {
  const WorkloadSpec& spec = *workload.spec;
  Made made;
  made.cls.priority = workload.priority;
  made.cls.pod_sets = spec.pod_sets;
  if (state.config.gates.concurrent_admission) made.cls.allowed_flavors = spec.allowed_flavors;
  if (workload.devices) made.cls.devices = workload.devices->charges;
  std::vector<std::string> errors;
  for (size_t i = 0; i < spec.pod_sets.size(); ++i) {
    const PodSetSpec& pod_set = spec.pod_sets[i];
    made.adjusted.push_back(pod_set.pod_template);
    if (!IsComplete(*pod_set.pod_template, space)) {
      made.adjusted.back() = std::make_shared<const PodTemplate>(
          Adjust(*pod_set.pod_template, state.runtime_classes, space.limit_ranges));
      const std::string path = absl::StrCat("spec.podSets[", i, "].template.spec");
      for (std::string& error : ValidateResources(*made.adjusted.back(), path)) {
        errors.push_back(std::move(error));
      }
    }
    PodSetTotals totals;
    totals.count = CountAfterReclaim(state, workload, pod_set);
    for (const auto& [name, amount] :
         PerPodRequests(*made.adjusted.back(), state.requests, ChargeOf(workload, i))) {
      totals.requests.emplace_back(InternResource(state, name), SaturatingMul(amount, totals.count));
    }
    made.cls.totals.push_back(std::move(totals));
    made.cls.can_be_partially_admitted =
        made.cls.can_be_partially_admitted || (pod_set.min_count && *pod_set.min_count < pod_set.count);
  }
  if (!errors.empty()) made.cls.resource_error = Aggregate(errors);
  if (!space.limit_ranges.empty()) {
    for (const auto& adjusted : made.adjusted) made.cls.adjusted.push_back(*adjusted);
  }
  return made;
}

enum class Key { kOfClass, kOfHash };

// Returns the key that identifies the class, or the scheduling hash.
std::string KeyOf(const State& state, const Made& made, const Namespace& space, Key kind) {
  const bool whole = kind == Key::kOfClass;
  std::string key = absl::StrCat(made.cls.priority, ";");
  for (size_t i = 0; i < made.cls.pod_sets.size(); ++i) {
    const PodSetSpec& pod_set = made.cls.pod_sets[i];
    const PodSetTotals& totals = made.cls.totals[i];
    absl::StrAppend(&key, totals.count, ";", whole ? pod_set.count : totals.count, ";",
                    pod_set.min_count.value_or(-1), ";");
    AppendPart(key, pod_set.name);
    AppendPart(key, pod_set.group);
    AppendPart(key, pod_set.topology_request);
    AppendPart(key, SpecShape(*made.adjusted[i]));
    for (const auto& [resource, amount] : totals.requests) {
      AppendPart(key, state.resource_names.Name(resource));
      absl::StrAppend(&key, amount, ";");
    }
  }
  for (const std::string& flavor : made.cls.allowed_flavors) AppendPart(key, flavor);
  AppendPart(key, whole ? made.cls.resource_error : "");
  if (whole && !made.cls.adjusted.empty()) AppendPart(key, space.name);
  return key;
}

// Returns the entry of the table of classes that stands for a scheduling hash.
ClassId HashOf(State& state, const Made& made, const std::string& hash_key) {
  const std::string key = "=" + hash_key;
  ClassId hash = state.class_of_key.Find(key);
  if (hash != kNoId) return hash;
  hash = state.classes.NextId();
  state.class_of_key.Set(key, hash);
  EquivalenceClass entry;
  entry.hash = hash;
  entry.totals = made.cls.totals;
  state.classes.push_back(std::move(entry));
  return hash;
}

ClassId AddClass(State& state, Made& made, const std::string& key, const std::string& hash_key) {
  made.cls.hash = HashOf(state, made, hash_key);
  const ClassId id = state.classes.NextId();
  state.class_of_key.Set(key, id);
  // The class keeps its template alive, so the address is not reused.
  if (made.cls.pod_sets.size() == 1 && made.cls.adjusted.empty() && made.cls.allowed_flavors.empty()) {
    state.caches.classes.Edit()[made.cls.pod_sets[0].pod_template.get()].push_back(id);
  }
  state.classes.push_back(std::move(made.cls));
  return id;
}

// Sets the priority of the workload. Also sets its class if the template determines the class. Returns
// whether the class was set.
bool IsKnown(State& state, Workload& workload, const Namespace& space) {
  workload.priority = PriorityOf(state, *workload.spec);
  const DeviceCharges* const charges = workload.devices ? workload.devices->charges.get() : nullptr;
  workload.cls = workload.Status().reclaimable.empty()
                     ? KnownByTemplate(state, *workload.spec, workload.priority, charges, space)
                     : kNoId;
  if (workload.cls != kNoId) workload.hash = std::as_const(state).Class(workload.cls).hash;
  return workload.cls != kNoId;
}

const Namespace& SpaceOf(const State& state, const Workload& workload) {
  return state.namespaces[state.Local(workload.local_queue).namespace_id];
}

}  // namespace

ClassId KnownClassOf(const State& state, const WorkloadSpec& spec, NamespaceId ns) {
  const Namespace& space = state.namespaces[ns];
  return KnownByTemplate(state, spec, PriorityOf(state, spec), nullptr, space);
}

void Classify(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  const Namespace& space = SpaceOf(state, workload);
  if (IsKnown(state, workload, space)) return;
  Made made = Make(state, workload, space);
  const std::string key = KeyOf(state, made, space, Key::kOfClass);
  workload.cls = state.class_of_key.Find(key);
  if (workload.cls == kNoId)
    workload.cls = AddClass(state, made, key, KeyOf(state, made, space, Key::kOfHash));
  workload.hash = state.Class(workload.cls).hash;
}

void ClassifyHypothetical(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  const Namespace& space = SpaceOf(state, workload);
  if (IsKnown(state, workload, space)) return;
  workload.cls = workload.hash = state.classes.NextId();
  state.classes.push_back(Make(state, workload, space).cls);
}

TemporaryClass::TemporaryClass(State& state, WorkloadId id)
    : state_(state),
      id_(id),
      is_needed_(state.At(id).cls == kNoId),
      priority_(state.At(id).priority),
      classes_(state.classes.size()) {
  if (is_needed_) ClassifyHypothetical(state, id);
}

TemporaryClass::~TemporaryClass() {
  if (!is_needed_) return;
  state_.At(id_).cls = state_.At(id_).hash = kNoId;
  state_.At(id_).priority = priority_;
  state_.classes.resize(classes_);
}

}  // namespace kueue
