#include "state/names.h"

#include <algorithm>
#include <utility>

#include "absl/container/fixed_array.h"
#include "absl/strings/str_cat.h"

namespace kueue {
namespace {

// A new node has no row in the quota tables and no place in the forest until the next rebuild.
void GrowNodes(State& state) {
  if (state.forest().size() == state.queues.size()) return;
  state.queues.resize(state.forest().size());
  state.cohorts.resize(state.forest().size());
  state.MarkStale();
}

// The key `namespace/name` of an object. Most keys need no allocation.
class JoinedKey {
 public:
  JoinedKey(absl::string_view ns, absl::string_view name) : text_(ns.size() + 1 + name.size()) {
    char* const slash = std::copy(ns.begin(), ns.end(), text_.begin());
    *slash = '/';
    std::copy(name.begin(), name.end(), slash + 1);
  }
  explicit JoinedKey(const Workload& workload) : JoinedKey(workload.spec->ns, workload.name) {}
  absl::string_view text() const { return {text_.data(), text_.size()}; }

 private:
  absl::FixedArray<char, 128> text_;
};

}  // namespace

FlavorId InternFlavor(State& state, absl::string_view name) {
  const FlavorId id = state.flavor_names.Intern(name);
  state.flavors.GrowTo(id);
  state.flavor_resource_ids.GrowTo(id);
  return id;
}

ResourceId InternResource(State& state, absl::string_view name) {
  const ResourceId id = state.resource_names.Intern(name);
  if (!state.resource_order.Contains(id)) {
    state.resource_order.push_back(ResourceOrder(name));
    if (name == "cpu") state.cpu = id;
    if (name == "pods") state.pods = id;
  }
  return id;
}

NamespaceId InternNamespace(State& state, absl::string_view name) {
  const NamespaceId id = state.namespace_names.Intern(name);
  if (!state.namespaces.Contains(id)) {
    state.namespaces.emplace_back();
    state.namespaces.back().name = std::string(name);
  }
  return id;
}

LocalQueueId InternLocalQueue(State& state, absl::string_view ns, absl::string_view name) {
  const LocalQueueId id = state.local_queue_names.Intern(JoinedKey(ns, name).text());
  if (!state.local_queues.Contains(id)) {
    LocalQueue queue;
    queue.ns = std::string(ns);
    queue.name = std::string(name);
    queue.namespace_id = InternNamespace(state, ns);
    state.local_queues.push_back(std::move(queue));
    state.ledger.emplace_back();
    state.ledger_usage.Edit().push_back(0);
  }
  return id;
}

LocalQueueId LocalQueueOf(State& state, const WorkloadSpec& spec) {
  constexpr size_t bits = 14;
  constexpr uint64_t mixer = 0x9E3779B97F4A7C15;
  if (state.caches.local_queues.empty()) state.caches.local_queues.resize(size_t{1} << bits);
  const auto& cache = std::as_const(state.caches.local_queues);
  size_t place = reinterpret_cast<uintptr_t>(&spec) * mixer >> (64 - bits);
  const auto is_taken = [&] { return state.local_queues.Contains(cache[place]); };
  const auto is_known = [&] {
    const LocalQueue& local = std::as_const(state.local_queues)[cache[place]];
    return local.name == spec.queue_name && local.ns == spec.ns;
  };
  if (is_taken()) {
    if (is_known()) return cache[place];
    place ^= 1;  // A second place, because two specs that shared one would replace each other in turn.
    if (is_taken() && is_known()) return cache[place];
  }
  return state.caches.local_queues[place] = InternLocalQueue(state, spec.ns, spec.queue_name);
}

CheckId InternCheck(State& state, absl::string_view name) {
  const CheckId id = state.check_names.Intern(name);
  state.checks.GrowTo(id);
  return id;
}

NodeId InternClusterQueue(State& state, absl::string_view name) {
  const NodeId id = state.forest().InternClusterQueue(name);
  GrowNodes(state);
  return id;
}

NodeId InternCohort(State& state, absl::string_view name) {
  const NodeId id = state.forest().InternCohort(name);
  GrowNodes(state);
  return id;
}

FlavorResourceId InternFlavorResource(State& state, FlavorId flavor, ResourceId resource) {
  IdVector<ResourceId, FlavorResourceId>& row = state.flavor_resource_ids[flavor];
  row.GrowTo(resource);
  FlavorResourceId& fr = row[resource];
  if (fr == kNoId) {
    fr = state.flavor_resources.NextId();
    state.flavor_resources.emplace_back(flavor, resource);
  }
  return fr;
}

WorkloadId FindByKey(const State& state, const std::string& key) {
  if (!state.followed.drops_keys) return state.workload_of_key.Find(key);
  const std::vector<WorkloadId> living = state.Living();
  const auto found =
      std::find_if(living.begin(), living.end(), [&](WorkloadId id) { return state.At(id).Key() == key; });
  return found == living.end() ? kNoId : *found;
}

void SetKey(State& state, WorkloadId id) {
  if (!state.followed.drops_keys)
    state.workload_of_key.Set(JoinedKey(std::as_const(state).At(id)).text(), id);
}

void EraseKey(State& state, WorkloadId id) {
  if (!state.followed.drops_keys) state.workload_of_key.Erase(JoinedKey(std::as_const(state).At(id)).text());
}

void DropKeys(State& state) {
  state.followed.drops_keys = true;
  state.workload_of_key.Clear();
}

void RestoreKeys(State& state) {
  if (state.followed.drops_keys) IndexKeys(state);
}

void IndexKeys(State& state) {
  state.followed.drops_keys = false;
  state.workload_of_key.Clear();
  for (WorkloadId id : state.Living()) SetKey(state, id);
}

}  // namespace kueue
