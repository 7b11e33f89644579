#include "bindings/decision.h"

#include "bindings/method.h"
#include "engine/fingerprint.h"
#include "quantity/quantity.h"
#include "questions/status.h"
#include "state/rebuild.h"
#include "text/text.h"

namespace kueue::python {
namespace {

// Decisions of a cycle, and the engine that can resolve the names in them.
struct Decisions {
  py::object engine;
  py::tuple not_modelled;
  std::shared_ptr<const Legend> legend;
  CycleRecord record;

  py::tuple All() const {
    return engine.cast<SharedEngine&>().ReadWith(*legend, [this](const State& state) {
      return TupleOf(record.decisions, [&](const DecisionRecord& decision) {
        return ViewDecision(state, decision, Render(state, decision.message), not_modelled);
      });
    });
  }
};

Decisions Decide(const py::object& self, const py::tuple& not_modelled) {
  SharedEngine& shared = self.cast<SharedEngine&>();
  CycleRecord record;
  std::shared_ptr<const Legend> legend;
  {
    const py::gil_scoped_release release;
    record = shared.Write([&](Engine& engine) {
      legend = shared.legend();
      CycleRecord made;
      std::vector<Entry> entries;
      made.result = engine.RunCycle(&entries);
      made.decisions.reserve(entries.size());
      for (const Entry& entry : entries) made.decisions.push_back(Decided(engine.state(), entry));
      made.ahead = WaitingInBestEffort(engine.state());
      return made;
    });
  }
  return {self, not_modelled, std::move(legend), std::move(record)};
}

}  // namespace

namespace {

py::tuple ValuesOf(const State& state, const DomainCount& domain) {
  return py::tuple(py::cast(SplitValues(state.topology.domains.Name(domain.domain))));
}

// Returns ((levels), (((level values), pods), ...)), or None without a topology assignment.
py::object ViewPlacement(const State& state, const PodSetAdmission& pod_set) {
  if (!pod_set.topology) return py::none();
  const py::tuple places = TupleOf(pod_set.topology->domains, [&state](const DomainCount& domain) {
    return py::make_tuple(ValuesOf(state, domain), domain.count);
  });
  return py::make_tuple(py::tuple(py::cast(pod_set.topology->levels)), places);
}

}  // namespace

py::tuple ViewAdmission(const State& state, const Admission& admission) {
  py::tuple pod_sets(admission.pod_sets.size());
  for (size_t i = 0; i < admission.pod_sets.size(); ++i) {
    const PodSetAdmission& pod_set = admission.pod_sets[i];
    py::dict resources;
    for (const PodSetAdmission::Resource& entry : pod_set.resources) {
      resources[py::str(state.resource_names.Name(entry.resource))] =
          py::make_tuple(entry.flavor == kNoId ? "" : state.flavor_names.Name(entry.flavor), entry.usage);
    }
    pod_sets[i] = py::cast(PodSetAdmissionView{pod_set.name, pod_set.count, resources,
                                               ViewPlacement(state, pod_set), pod_set.delayed});
  }
  return pod_sets;
}

namespace {

AssignmentView ViewAssignment(const State& state, const PodSetAdmission& pod_set) {
  AssignmentView view{pod_set.name, {}, {}, pod_set.count, std::nullopt, std::nullopt};
  for (const PodSetAdmission::Resource& entry : pod_set.resources) {
    const std::string& resource = state.resource_names.Name(entry.resource);
    const py::str name(resource);
    view.flavors[name] = py::str(entry.flavor == kNoId ? "" : state.flavor_names.Name(entry.flavor));
    view.resource_usage[name] = py::str(ResourceQuantityString(resource, entry.usage, /*as_bytes=*/false));
  }
  if (pod_set.topology) {
    view.topology_assignment = {py::tuple(py::cast(pod_set.topology->levels)),
                                TupleOf(pod_set.topology->domains, [&state](const DomainCount& domain) {
                                  return DomainView{ValuesOf(state, domain), domain.count};
                                })};
  }
  if (pod_set.delayed != DelayedTopology{}) view.delayed_topology_request = pod_set.delayed;
  return view;
}

// Returns the name of a reason. The known reasons are the same in all states, so their strings are created
// once.
py::object ReasonText(const State& state, Reason reason) {
  static auto& known = *new std::vector<PyObject*>(KnownReasons().size());  // Guarded by the GIL.
  const size_t place = IndexOf(reason);
  if (place >= known.size()) return Text(state.reasons.Name(reason));
  if (known[place] == nullptr) known[place] = Text(state.reasons.Name(reason)).release().ptr();
  return py::reinterpret_borrow<py::object>(known[place]);
}

}  // namespace

py::object ViewDecision(const State& state, const DecisionRecord& record, absl::string_view message,
                        const py::tuple& not_modelled) {
  const auto name = [&state](NodeId node) -> absl::string_view {
    return node == kNoId ? absl::string_view() : state.forest().Name(node);
  };
  const absl::string_view queue = name(record.queue);
  const py::tuple attempts = TupleOf(record.attempts, [&state](const std::pair<int, FlavorAttempt>& tried) {
    const auto& [pod_set, attempt] = tried;
    return AttemptView{pod_set, state.flavor_names.Name(attempt.flavor), attempt.mode, attempt.borrow,
                       ReasonText(state, attempt.no_fit_reason)};
  });
  switch (record.verdict) {
    case Verdict::kAdmitted: {
      const py::tuple pod_sets =
          !record.admission ? py::tuple()
                            : TupleOf(record.admission->pod_sets, [&state](const PodSetAdmission& pod_set) {
                                return ViewAssignment(state, pod_set);
                              });
      return py::cast(AdmittedView{record.workload, queue, pod_sets, record.borrowing, record.admitted,
                                   attempts, not_modelled});
    }
    case Verdict::kPreempting: {
      const py::tuple targets = TupleOf(record.targets, [&name](const TargetRecord& target) {
        return TargetView{target.workload, target.reason, name(target.queue)};
      });
      return py::cast(PreemptingView{record.workload, targets, queue, ReasonText(state, record.reason),
                                     message, attempts, not_modelled});
    }
    case Verdict::kPending:
      break;
  }
  return py::cast(
      RefusedView{record.workload, ReasonText(state, record.reason), queue, message, attempts, not_modelled});
}

void BindDecision(py::module_& module) {
  py::class_<Decisions>(module, "Decisions")
      .def("__len__", [](const Decisions& self) { return self.record.decisions.size(); })
      .def("all", &Decisions::All)
      .def_property_readonly("idle", [](const Decisions& self) { return self.record.result.idle; })
      .def_property_readonly("admitted", [](const Decisions& self) { return self.record.result.admitted; })
      .def_property_readonly("evicted", [](const Decisions& self) { return self.record.result.evicted; })
      .def_property_readonly("ahead", [](const Decisions& self) { return self.record.ahead; });
  AddMethod(module, "decide", &Decide, py::arg("not_modelled") = py::tuple());
  AddMethod(module, "fingerprint", [](SharedEngine& shared) {
    const py::gil_scoped_release release;
    return shared.Write([](Engine& engine) {
      EnsureBuilt(engine.state());
      return Fingerprint(engine.state());
    });
  });
}

}  // namespace kueue::python
