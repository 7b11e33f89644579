#include "simulation/failures.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "engine/trees.h"

namespace kueue {
namespace {

constexpr int64_t kWholePart = int64_t{1} << 32;
// Least mean time between two failures of nodes. With less, a simulation would spend its time on failures.
constexpr Time kLeastGap = kSecond;

// Returns the total nominal quota of the flavor for the resource that determines the number of nodes; 0 if
// there is none.
Int128 NominalOf(const State& state, FlavorResourceId fr) {
  Int128 nominal = 0;
  if (fr == kNoId) return 0;
  for (NodeId node : state.forest().Nodes()) {
    if (state.forest().Exists(node)) nominal += state.quota.limits().nominal(node, fr).value();
  }
  return nominal;
}

FlavorResourceId CellOf(const State& state, const Failures& of) {
  const FlavorId flavor = state.flavor_names.Find(of.flavor);
  const ResourceId resource = state.resource_names.Find(of.resource);
  return flavor == kNoId || resource == kNoId ? kNoId : state.FlavorResource(flavor, resource);
}

// Calls `use(quota)` for the queue's quota of the flavor and resource, if any.
template <typename Spec, typename Use>
void WithQuota(Spec& spec, const LoweredQuota& of, Use use) {
  for (auto& group : spec.resource_groups) {
    for (auto& flavor : group.flavors) {
      for (auto& quota : flavor.resources) {
        if (flavor.name == of.flavor && quota.name == of.resource) use(quota);
      }
    }
  }
}

// Returns kNoId if the ClusterQueue does not exist or is being deleted.
NodeId DeclaredQueue(const State& state, const std::string& name) {
  const NodeId queue = state.forest().FindClusterQueue(name);
  const bool is_there = queue != kNoId && state.forest().IsDeclared(queue) && !state.Queue(queue).terminating;
  return is_there ? queue : kNoId;
}

// Returns 0 if the queue has no such quota.
int64_t NominalQuota(const State& state, NodeId queue, const LoweredQuota& of) {
  int64_t nominal = 0;
  WithQuota(state.Queue(queue).spec, of,
            [&](const ResourceQuota& quota) { nominal = quota.nominal.value(); });
  return nominal;
}

}  // namespace

absl::Status CheckFailures(const State& state, const std::vector<Failures>& failures) {
  for (const Failures& of : failures) {
    const Int128 units = NominalOf(state, CellOf(state, of)) / of.unit;
    if (units <= 0 || of.mtbf / units >= kLeastGap) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "Failures of flavor ", of.flavor, ": mtbf: is ", static_cast<double>(of.mtbf) / kSecond,
        " s for each of ", static_cast<double>(units), " nodes, which is more than one failure per second; ",
        "use a longer mtbf or a larger unit of ", of.resource));
  }
  return absl::OkStatus();
}

void NodeFailures::Plan(JobRuns& runs, size_t failure) {
  const Failures& of = runs.data().options.delays.failures[failure];
  Int128 units = NominalOf(runs.data().engine.state(), CellOf(runs.data().engine.state(), of)) / of.unit;
  if (units <= 0) return;
  units = std::min<Int128>(units, std::max<Time>(1, of.mtbf / kLeastGap));
  const Int128 gap = static_cast<Int128>(of.gap.At(failures_[failure])) * of.mtbf / units / kWholePart;
  const auto wait = static_cast<Time>(std::clamp<Int128>(gap, 1, INT64_MAX));
  runs.data().calendar.Plan(SaturatingAdd(runs.data().now(), wait), Happening::kFailure,
                            static_cast<int32_t>(failure), 0);
}

// Jobs are laid out over the nodes in order, so the probability that a failure affects a job is proportional
// to the job's usage, and a failure of an unused node affects no job.
void NodeFailures::Fail(JobRuns& runs, size_t failure, const std::vector<int32_t>& arrived) {
  const Failures& of = runs.data().options.delays.failures[failure];
  State& state = runs.data().engine.state();
  const FlavorResourceId fr = CellOf(state, of);
  const Int128 units = std::min<Int128>(NominalOf(state, fr) / of.unit, INT64_MAX);
  const Int128 node = of.place.At(failures_[failure]) * units / kWholePart;
  ++failures_[failure];
  std::vector<int32_t> hit;
  Int128 place = 0;
  for (const int32_t number : runs.data().jobs.Holding(arrived)) {
    for (const auto& [held, amount] : state.At(runs.data().jobs.At(number).workload).usage) {
      if (held != fr) continue;
      if (place < (node + 1) * of.unit && place + amount.value() > node * of.unit) hit.push_back(number);
      place += amount.value();
    }
  }
  for (int32_t job : hit) {
    runs.Stir(runs.data().jobs.At(job).queue);
    runs.data().engine.Evict(runs.data().jobs.At(job).workload, Reason::kNodeFailures, "A node failed");
  }
  runs.Listen();  // Process the steps before the id of a workload can be reused.
  if (of.lowers_quota && !hit.empty()) LowerFor(runs, failure, runs.data().jobs.At(hit.front()).queue);
  Plan(runs, failure);
}

// Lowers the quota of the queue that uses most of the flavor by the amount of the node, until the repair.
void NodeFailures::LowerFor(JobRuns& runs, size_t failure, NodeId holder) {
  const Failures& of = runs.data().options.delays.failures[failure];
  const State& state = runs.data().engine.state();
  const FlavorResourceId fr = CellOf(state, of);
  for (NodeId queue : state.forest().Queues()) {
    if (state.quota.Usage(queue, fr) > state.quota.Usage(holder, fr)) holder = queue;
  }
  const LoweredQuota found{state.forest().Name(holder), of.flavor, of.resource};
  if (DeclaredQueue(state, found.queue) == kNoId) return;
  auto lowered = std::find_if(lowered_.begin(), lowered_.end(), [&](const LoweredQuota& other) {
    return other.queue == found.queue && other.flavor == of.flavor && other.resource == of.resource;
  });
  if (lowered == lowered_.end()) lowered = lowered_.insert(lowered, found);
  if (lowered->broken == 0) lowered->declared = NominalQuota(state, holder, *lowered);
  Lower(runs, *lowered, of.unit);
  runs.QuotasChanged();
  const Time repair = of.repair.At(failures_[failure] - 1);
  broken_[failure].push_back(static_cast<size_t>(lowered - lowered_.begin()));
  runs.data().calendar.Plan(SaturatingAdd(runs.data().now(), repair), Happening::kRepair,
                            static_cast<int32_t>(failure), 0);
}

void NodeFailures::Repair(JobRuns& runs, size_t failure) {
  LoweredQuota& lowered = lowered_[broken_[failure].front()];
  broken_[failure].erase(broken_[failure].begin());
  if (lowered.queue.empty()) return;
  Lower(runs, lowered, -runs.data().options.delays.failures[failure].unit);
  runs.QuotasChanged();
}

// Changes the amount on failed nodes of a queue. Its quota is the declared quota minus this amount, at least
// 0.
void NodeFailures::Lower(JobRuns& runs, LoweredQuota& lowered, int64_t by) {
  lowered.broken = SaturatingAdd(lowered.broken, by);
  const NodeId queue = DeclaredQueue(runs.data().engine.state(), lowered.queue);
  if (queue == kNoId) return;
  ClusterQueueSpec spec = runs.data().engine.state().Queue(queue).spec;
  WithQuota(spec, lowered, [&](ResourceQuota& quota) {
    quota.nominal = Amount(std::max<int64_t>(0, SaturatingSub(lowered.declared, lowered.broken)));
  });
  ApplyClusterQueue(runs.data().engine.state(), spec, /*changed=*/true);
}

void NodeFailures::LowerAgain(JobRuns& runs, const std::vector<std::string>& queues) {
  for (LoweredQuota& lowered : lowered_) {
    if (std::find(queues.begin(), queues.end(), lowered.queue) == queues.end()) continue;
    const NodeId queue = DeclaredQueue(runs.data().engine.state(), lowered.queue);
    if (queue == kNoId) {
      lowered.queue.clear();  // A new queue with the same name has different nodes.
    } else if (lowered.broken > 0) {
      lowered.declared = NominalQuota(runs.data().engine.state(), queue, lowered);
      Lower(runs, lowered, 0);
    }
  }
}

}  // namespace kueue
