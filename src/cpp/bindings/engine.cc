#include "bindings/engine.h"

#include "absl/strings/str_cat.h"
#include "bindings/pybind.h"
#include "bindings/read.h"
#include "bindings/view.h"

namespace kueue::python {
namespace {

using Release = py::gil_scoped_release;

}  // namespace

std::function<void(Engine&)> ReadObject(const py::handle& object, bool changed) {
  const std::string kind = Text(py::type::of(object).attr("__name__"));
  if (kind == "ResourceFlavor") {
    return [spec = ReadFlavor(object)](Engine& engine) { engine.ApplyFlavor(spec); };
  }
  if (kind == "ClusterQueue") {
    return [spec = ReadClusterQueue(object), changed](Engine& engine) {
      engine.ApplyClusterQueue(spec, changed);
    };
  }
  if (kind == "Cohort") {
    return [spec = ReadCohort(object), changed](Engine& engine) { engine.ApplyCohort(spec, changed); };
  }
  if (kind == "LocalQueue") {
    return [spec = ReadLocalQueue(object)](Engine& engine) { engine.ApplyLocalQueue(spec); };
  }
  if (kind == "Namespace") {
    return [name = TextOf(object, "name"), labels = Labels(object.attr("labels"))](Engine& engine) {
      engine.ApplyNamespace(name, labels);
    };
  }
  if (kind == "AdmissionCheck") {
    return [spec = ReadCheck(object)](Engine& engine) { engine.ApplyCheck(spec); };
  }
  if (kind == "Topology") {
    return [name = TextOf(object, "name"), levels = Texts(object.attr("levels"))](Engine& engine) {
      engine.ApplyTopology(name, levels);
    };
  }
  if (kind == "Node") {
    return [node = ReadNode(object), since = OptionalInt(object.attr("ready_since"))](Engine& engine) {
      engine.ApplyNode(node, since);
    };
  }
  if (kind == "Pod") {
    return [pod = ReadPod(object)](Engine& engine) { engine.ApplyPod(pod.ns, pod.name, pod.pod, pod.spec); };
  }
  if (kind == "LimitRange") {
    return [ns = TextOf(object, "namespace"), name = TextOf(object, "name"),
            limits = ReadLimitRange(object)](Engine& engine) { engine.ApplyLimitRange(ns, name, limits); };
  }
  if (kind == "RuntimeClass") {
    return [name = TextOf(object, "name"), runtime_class = ReadRuntimeClass(object)](Engine& engine) {
      engine.ApplyRuntimeClass(name, runtime_class);
    };
  }
  ThrowIfError(
      absl::UnimplementedError(absl::StrCat("objects of kind ", kind, " do not take part in admission")));
  return {};
}

void DeleteObject(Engine& engine, const std::string& kind, const std::string& ns, const std::string& name) {
  if (kind == "ResourceFlavor") engine.DeleteFlavor(name);
  if (kind == "ClusterQueue") engine.DeleteClusterQueue(name);
  if (kind == "Cohort") engine.DeleteCohort(name);
  if (kind == "LocalQueue") engine.DeleteLocalQueue(ns, name);
  if (kind == "Namespace") engine.DeleteNamespace(name);
  if (kind == "AdmissionCheck") engine.DeleteCheck(name);
  if (kind == "Topology") engine.DeleteTopology(name);
  if (kind == "Node") engine.DeleteNode(name);
  if (kind == "Pod") engine.DeletePod(ns, name);
  if (kind == "LimitRange") engine.DeleteLimitRange(ns, name);
  if (kind == "RuntimeClass") engine.DeleteRuntimeClass(name);
}

namespace {

Serial Submit(SharedEngine& shared, const py::handle& object, bool single_pod) {
  WorkloadObject read = ReadWorkload(object);
  read.owned_by_single_pod = single_pod;
  const py::object status = object.attr("status");
  std::optional<WorkloadStatus> known;
  if (!status.is_none()) known = ReadStatus(status);
  return shared.Write([&](Engine& engine) {
    if (engine.state().FindWorkload(read.Key()) != kNoId) {
      ThrowIfError(absl::AlreadyExistsError(absl::StrCat("Workload \"", read.Key(), "\" exists already")));
    }
    const WorkloadId id = engine.Submit(std::move(read), known ? &*known : nullptr);
    return engine.state().At(id).serial;
  });
}

CheckState ParseCheckState(const std::string& name) {
  if (name == "Ready") return CheckState::kReady;
  if (name == "Retry") return CheckState::kRetry;
  if (name == "Rejected") return CheckState::kRejected;
  if (name != "Pending") {
    ThrowIfError(absl::InvalidArgumentError(absl::StrCat(
        "state of an admission check: \"", name, "\"; it must be Pending, Ready, Retry or Rejected")));
  }
  return CheckState::kPending;
}

Reason ParseFinishReason(const std::string& name) {
  if (name == "Failed") return Reason::kFailed;
  if (name == "FailedToStart") return Reason::kFailedToStart;
  if (name != "Succeeded") {
    ThrowIfError(absl::InvalidArgumentError(
        absl::StrCat("reason of an end: \"", name, "\"; it must be Succeeded, Failed or FailedToStart")));
  }
  return Reason::kSucceeded;
}

// Every call that changes a workload.
template <typename Use>
void WithWorkload(SharedEngine& shared, Serial serial, Use use) {
  shared.Write([&](Engine& engine) {
    use(engine, PlaceOf(engine.state(), serial));
    return 0;
  });
}

using BoundEngine = py::class_<SharedEngine>;

// Objects and time.
void BindObjects(BoundEngine& bound) {
  bound
      .def(py::init([](const py::object& configuration) {
             return std::make_unique<SharedEngine>(
                 std::make_shared<Engine>(ReadConfig(configuration), ReadRequestsConfig(configuration)));
           }),
           py::arg("configuration") = py::none())
      .def("fork", &SharedEngine::Fork)
      .def(
          "apply",
          [](SharedEngine& shared, const py::handle& object, bool changed) {
            const auto apply = ReadObject(object, changed);
            shared.Write([&apply](Engine& engine) {
              apply(engine);
              return 0;
            });
          },
          py::arg("object"), py::arg("changed") = true)
      .def(
          "delete_object",
          [](SharedEngine& shared, const std::string& kind, const std::string& ns, const std::string& name) {
            shared.Write([&](Engine& engine) {
              DeleteObject(engine, kind, ns, name);
              return 0;
            });
          },
          py::arg("kind"), py::arg("namespace"), py::arg("name"))
      .def(
          "set_now",
          [](SharedEngine& shared, Time now) {
            shared.Write([now](Engine& engine) {
              engine.SetNow(now);
              return 0;
            });
          },
          py::arg("now"))
      .def_property_readonly("now",
                             [](SharedEngine& shared) {
                               return shared.Read([](const Engine& engine) { return engine.state().now; });
                             })
      .def(
          "set_stop_delay",
          [](SharedEngine& shared, Time delay) {
            shared.Write([delay](Engine& engine) {
              engine.SetStopDelay(delay);
              return 0;
            });
          },
          py::arg("delay"))
      .def(
          "record_events",
          [](SharedEngine& shared, bool on) {
            shared.Write([on](Engine& engine) {
              engine.state().record_events = on;
              engine.state().events.clear();
              return 0;
            });
          },
          py::arg("on"));
}

// Workloads come, change and go.
void BindWorkloads(BoundEngine& bound) {
  bound.def("submit", &Submit, py::arg("workload"), py::arg("single_pod") = false)
      .def(
          "update",
          [](SharedEngine& shared, Serial serial, const py::handle& object, bool changed) {
            WorkloadObject read = ReadWorkload(object);
            WithWorkload(shared, serial,
                         [&](Engine& engine, WorkloadId id) { engine.Update(id, std::move(read), changed); });
          },
          py::arg("id"), py::arg("workload"), py::arg("changed") = true)
      .def(
          "finish",
          [](SharedEngine& shared, Serial serial, const std::string& reason, const std::string& message) {
            const Reason parsed = ParseFinishReason(reason);
            WithWorkload(shared, serial,
                         [&](Engine& engine, WorkloadId id) { engine.Finish(id, parsed, message); });
          },
          py::arg("id"), py::arg("reason") = "Succeeded", py::arg("message") = "")
      .def(
          "delete",
          [](SharedEngine& shared, Serial serial) {
            WithWorkload(shared, serial, [](Engine& engine, WorkloadId id) { engine.Delete(id); });
          },
          py::arg("id"))
      .def(
          "set_check",
          [](SharedEngine& shared, Serial serial, const std::string& check, const std::string& state,
             std::optional<std::string> message, std::optional<int64_t> requeue_after_seconds,
             const std::optional<std::string>& pod_set_updates) {
            std::optional<PodSetUpdates> updates;
            if (pod_set_updates) updates = ReadPodSetUpdates(*pod_set_updates);
            const CheckState parsed = ParseCheckState(state);
            WithWorkload(shared, serial, [&](Engine& engine, WorkloadId id) {
              engine.SetCheckState(id, check, parsed, std::move(message), requeue_after_seconds,
                                   std::move(updates));
            });
          },
          py::arg("id"), py::arg("check"), py::arg("state"), py::arg("message") = py::none(),
          py::arg("requeue_after_seconds") = py::none(), py::arg("pod_set_updates") = py::none())
      .def(
          "set_pods_ready",
          [](SharedEngine& shared, Serial serial, bool ready) {
            WithWorkload(shared, serial,
                         [&](Engine& engine, WorkloadId id) { engine.SetPodsReady(id, ready); });
          },
          py::arg("id"), py::arg("ready"))
      .def(
          "set_reclaimable",
          [](SharedEngine& shared, Serial serial, std::map<std::string, int64_t> reclaimable) {
            WithWorkload(shared, serial, [&](Engine& engine, WorkloadId id) {
              engine.SetReclaimable(id, std::move(reclaimable));
            });
          },
          py::arg("id"), py::arg("reclaimable"));
}

// What runs, and what it comes to.
void BindRuns(BoundEngine& bound) {
  bound
      .def("settle",
           [](SharedEngine& shared) {
             const Release release;
             shared.Write([](Engine& engine) {
               engine.Settle();
               return 0;
             });
           })
      .def_property_readonly(
          "is_blocked",
          [](SharedEngine& shared) {
            return shared.Read([](const Engine& engine) { return engine.state().waiting.start != nullptr; });
          })
      .def("cycle",
           [](SharedEngine& shared) {
             CycleResult result;
             {
               const Release release;
               result = shared.Write([](Engine& engine) { return engine.RunCycle(); });
             }
             return py::make_tuple(result.idle, result.admitted, result.evicted, result.moved);
           })
      .def(
          "find",
          [](SharedEngine& shared, const std::string& key) {
            return shared.Read([&key](const Engine& engine) {
              const WorkloadId id = engine.state().FindWorkload(key);
              return id == kNoId ? Serial{kNoId} : engine.state().At(id).serial;
            });
          },
          py::arg("key"))
      .def("take_events", &TakeEvents)
      .def("key", &KeyOf, py::arg("id"))
      .def("condition", &ConditionOf, py::arg("id"), py::arg("type"))
      .def("conditions", &ConditionsOf, py::arg("id"))
      .def("admission", &AdmissionOf, py::arg("id"))
      .def("queues", &QueuesOf)
      .def("usage", &UsageOf, py::arg("active") = false)
      .def("shares", &SharesOf)
      .def("consumed", &ConsumedOf)
      .def("check", [](SharedEngine& shared) {
        return shared.Read([](const Engine& engine) { return Check(engine.state()); });
      });
}

}  // namespace

void BindEngine(py::module_& module) {
  BoundEngine engine(module, "Engine");
  BindObjects(engine);
  BindWorkloads(engine);
  BindRuns(engine);
}

}  // namespace kueue::python
