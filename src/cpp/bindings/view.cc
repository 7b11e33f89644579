#include "bindings/view.h"

#include "absl/strings/str_cat.h"
#include "bindings/decision.h"
#include "fairness/share.h"
#include "lifecycle/queueing.h"
#include "quantity/nano.h"
#include "text/text.h"

namespace kueue::python {
namespace {

ConditionView View(const State& state, const Condition& condition) {
  return {condition.status, state.reasons.Name(condition.reason), Render(state, condition.message),
          condition.transition};
}

// Returns {key: amount}. A key is a resource name for consumed usage, or "penalty:" followed by a resource
// name for pending penalties.
py::dict View(const State& state, const LedgerEntry& entry) {
  py::dict amounts;
  for (const auto& [resource, nano] : entry.consumed) {
    amounts[py::str(state.resource_names.Name(resource))] = NanoDecimalText(nano);
  }
  NanoAmounts penalties;
  for (const auto& [workload, penalty] : entry.penalties) {
    for (const auto& [resource, nano] : penalty) penalties[resource] += nano;
  }
  for (const auto& [resource, nano] : penalties) {
    amounts[py::str("penalty:" + state.resource_names.Name(resource))] = NanoDecimalText(nano);
  }
  return amounts;
}

}  // namespace

std::vector<ChangeView> TakeEvents(SharedEngine& shared) {
  return shared.Write([](Engine& engine) {
    std::vector<ChangeView> events;
    const Interner<Reason>& reasons = engine.state().reasons;
    for (const Event& event : engine.state().events) {
      events.push_back(
          {event.kind, event.workload, event.by, reasons.Name(event.reason), reasons.Name(event.preemption)});
    }
    engine.state().events.clear();
    return events;
  });
}

std::string KeyOf(SharedEngine& shared, Serial serial) {
  return shared.Read([serial](const Engine& engine) { return WorkloadOf(engine.state(), serial).Key(); });
}

std::optional<ConditionView> ConditionOf(SharedEngine& shared, Serial serial, const std::string& type) {
  return shared.Read([&](const Engine& engine) -> std::optional<ConditionView> {
    for (const Condition& condition : WorkloadOf(engine.state(), serial).conditions) {
      if (type == kConditionTypeNames[static_cast<int>(condition.type)])
        return View(engine.state(), condition);
    }
    return std::nullopt;
  });
}

py::dict ConditionsOf(SharedEngine& shared, Serial serial) {
  return shared.Read([serial](const Engine& engine) {
    py::dict conditions;
    for (const Condition& condition : WorkloadOf(engine.state(), serial).conditions) {
      conditions[kConditionTypeNames[static_cast<int>(condition.type)]] = View(engine.state(), condition);
    }
    return conditions;
  });
}

std::optional<AdmissionView> AdmissionOf(SharedEngine& shared, Serial serial) {
  return shared.Read([serial](const Engine& engine) -> std::optional<AdmissionView> {
    const State& state = engine.state();
    const Workload& workload = WorkloadOf(state, serial);
    if (!workload.admission) return std::nullopt;
    return AdmissionView{state.forest().Name(workload.admission->cluster_queue),
                         ViewAdmission(state, *workload.admission)};
  });
}

py::dict QueuesOf(SharedEngine& shared) {
  return shared.Read([](const Engine& engine) {
    const State& state = engine.state();
    py::dict queues;
    for (NodeId node : state.forest().Queues()) {
      const PendingQueue& pending = state.Queue(node).pending;
      py::list keys, inadmissible;
      for (WorkloadId id : pending.Ordered(state.workloads, *state.ledger_usage)) {
        const py::str key(state.At(id).Key());
        keys.append(key);
        if (pending.IsInadmissible(state.workloads, id)) inadmissible.append(key);
      }
      if (!keys.empty()) queues[py::str(state.forest().Name(node))] = py::make_tuple(keys, inadmissible);
    }
    return queues;
  });
}

py::dict UsageOf(SharedEngine& shared, bool active) {
  return shared.Write([active](Engine& engine) {
    State& state = engine.state();
    state.EnsureBuilt();
    py::dict usage;
    for (NodeId node : state.forest().Queues()) {
      if (active && !state.forest().IsActive(node)) continue;
      py::dict frs;
      for (FlavorResourceId fr : state.quota.FlavorResources()) {
        const Amount used = state.quota.Usage(node, fr);
        if (used != Amount(0)) frs[py::str(FlavorResourceName(state, fr))] = used.value();
      }
      usage[py::str(state.forest().Name(node))] = frs;
    }
    return usage;
  });
}

py::dict SharesOf(SharedEngine& shared) {
  return shared.Write([](Engine& engine) {
    State& state = engine.state();
    state.EnsureBuilt();
    py::dict shares;
    for (NodeId node : state.forest().Queues()) {
      if (!state.forest().IsActive(node)) continue;
      const double share = DominantResourceShare(state, node).Weighted();
      if (share != 0) shares[py::str(state.forest().Name(node))] = share;
    }
    return shares;
  });
}

py::dict ConsumedOf(SharedEngine& shared) {
  return shared.Read([](const Engine& engine) {
    const State& state = engine.state();
    py::dict consumed;
    for (LocalQueueId local : state.ledger.Ids()) {
      const py::dict amounts = View(state, state.ledger[local]);
      if (amounts.empty()) continue;
      const LocalQueue& queue = state.Local(local);
      consumed[py::str(queue.ns + "/" + queue.name)] = amounts;
    }
    return consumed;
  });
}

}  // namespace kueue::python
