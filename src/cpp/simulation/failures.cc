// Nodes that fail and are repaired.
#include <algorithm>

#include "simulation/simulation.h"

namespace kueue {
namespace {

constexpr int64_t kWholePart = int64_t{1} << 32;

// Of a flavor, all nominal quota of what counts nodes; 0 where there is none.
Int128 NominalOf(const State& state, FlavorResourceId cell) {
  Int128 nominal = 0;
  for (NodeId node = 0; cell != kNoId && node < state.quota.rows(); ++node) {
    if (state.forest().Exists(node)) nominal += state.quota.Nominal(node, cell).value();
  }
  return nominal;
}

FlavorResourceId CellOf(const State& state, const Failures& of) {
  const FlavorId flavor = state.flavor_names.Find(of.flavor);
  const ResourceId resource = state.resource_names.Find(of.resource);
  return flavor == kNoId || resource == kNoId ? kNoId : state.FlavorResource(flavor, resource);
}

// Changes the nominal quota of a queue, not below 0; returns by how much.
int64_t ChangeNominal(Engine& engine, NodeId queue, const Failures& of, int64_t by) {
  ClusterQueueSpec spec = engine.state().Queue(queue).spec;
  int64_t changed = 0;
  for (ResourceGroup& group : spec.resource_groups) {
    for (FlavorQuotas& flavor : group.flavors) {
      for (ResourceQuota& quota : flavor.resources) {
        if (flavor.name != of.flavor || quota.name != of.resource) continue;
        changed = std::max(by, -quota.nominal.value());
        quota.nominal = Amount(quota.nominal.value() + changed);
      }
    }
  }
  engine.ApplyClusterQueue(std::move(spec), /*changed=*/true);
  return changed;
}

}  // namespace

void Simulation::PlanFailure(size_t failure) {
  const Failures& of = options_.delays.failures[failure];
  const auto units = static_cast<int64_t>(NominalOf(engine_.state(), CellOf(engine_.state(), of)) / of.unit);
  if (units <= 0) return;
  const Int128 gap = static_cast<Int128>(of.gap.At(failures_[failure])) * of.mtbf / units / kWholePart;
  calendar_.Plan(SaturatingAdd(now(), static_cast<Time>(std::max<Int128>(gap, 1))), Happening::kFailure,
                 static_cast<int32_t>(failure), 0);
}

// One of all nodes of the flavor fails. Runs lie on them in the order of their jobs, so that one is hit with
// a probability in proportion to what it holds, and none if the node is free.
void Simulation::Fail(size_t failure) {
  const Failures& of = options_.delays.failures[failure];
  State& state = engine_.state();
  const FlavorResourceId cell = CellOf(state, of);
  const auto units = static_cast<int64_t>(NominalOf(state, cell) / of.unit);
  const auto node =
      static_cast<int64_t>(static_cast<Int128>(of.place.At(failures_[failure])) * units / kWholePart);
  const Time repair = of.repair.At(failures_[failure]);
  ++failures_[failure];
  std::vector<int32_t> hit;
  int64_t place = 0;
  for (size_t number = 0; number < next_; ++number) {
    if (jobs_[number].reserved < 0) continue;
    for (const auto& [held, amount] : state.At(jobs_[number].workload).usage) {
      if (held != cell) continue;
      if (place < (node + 1) * of.unit && place + amount.value() > node * of.unit)
        hit.push_back(static_cast<int32_t>(number));
      place += amount.value();
    }
  }
  for (int32_t job : hit) {
    Stir(At(job).queue);
    engine_.Evict(At(job).workload, Reason::kNodeFailures, "A node failed");
  }
  Listen();  // before a place of a workload may be another's
  if (of.lowers_quota && !hit.empty()) {
    NodeId holder = At(hit.front()).queue;
    for (NodeId queue : state.forest().Queues()) {
      if (state.quota.Usage(queue, cell) > state.quota.Usage(holder, cell)) holder = queue;
    }
    lowered_[failure].emplace_back(holder, ChangeNominal(engine_, holder, of, -of.unit));
    QuotasChanged();
    calendar_.Plan(SaturatingAdd(now(), repair), Happening::kRepair, static_cast<int32_t>(failure), 0);
  }
  PlanFailure(failure);
}

// The node that has been broken for longest is there again.
void Simulation::Repair(size_t failure) {
  const auto [holder, change] = lowered_[failure].front();
  lowered_[failure].erase(lowered_[failure].begin());
  ChangeNominal(engine_, holder, options_.delays.failures[failure], -change);
  QuotasChanged();
}

}  // namespace kueue
