#include "bindings/engine.h"

#include "absl/strings/str_cat.h"
#include "bindings/pybind.h"
#include "bindings/read.h"
#include "bindings/read_devices.h"
#include "bindings/records.h"
#include "bindings/view.h"
#include "engine/devices.h"
#include "engine/objects.h"
#include "engine/templates.h"
#include "engine/topologies.h"
#include "engine/trees.h"

namespace kueue::python {
namespace {

using ApplyObject = std::function<void(Engine&)>;

// The functions that read and delete objects of a kind. Only some kinds use `changed`.
struct ObjectKind {
  const char* name;
  ApplyObject (*read)(const py::handle& object, bool changed);
  void (*remove)(Engine& engine, const std::string& ns, const std::string& name);
};
constexpr ObjectKind kObjectKinds[] = {
    {"ResourceFlavor",
     [](const py::handle& object, bool) -> ApplyObject {
       return [spec = ReadFlavor(object)](Engine& engine) { ApplyFlavor(engine.state(), spec); };
     },
     [](Engine& engine, const std::string&, const std::string& name) { DeleteFlavor(engine.state(), name); }},
    {"ClusterQueue",
     [](const py::handle& object, bool changed) -> ApplyObject {
       return [spec = ReadClusterQueue(object), changed](Engine& engine) {
         ApplyClusterQueue(engine.state(), spec, changed);
       };
     },
     [](Engine& engine, const std::string&, const std::string& name) {
       DeleteClusterQueue(engine.state(), name);
     }},
    {"Cohort",
     [](const py::handle& object, bool changed) -> ApplyObject {
       return [spec = ReadCohort(object), changed](Engine& engine) {
         ApplyCohort(engine.state(), spec, changed);
       };
     },
     [](Engine& engine, const std::string&, const std::string& name) { DeleteCohort(engine.state(), name); }},
    {"LocalQueue",
     [](const py::handle& object, bool) -> ApplyObject {
       return [spec = ReadLocalQueue(object)](Engine& engine) { ApplyLocalQueue(engine.state(), spec); };
     },
     [](Engine& engine, const std::string& ns, const std::string& name) {
       DeleteLocalQueue(engine.state(), ns, name);
     }},
    {"Namespace",
     [](const py::handle& object, bool) -> ApplyObject {
       return [name = TextOf(object, "name"), labels = Labels(object.attr("labels"))](Engine& engine) {
         ApplyNamespace(engine.state(), name, labels);
       };
     },
     [](Engine& engine, const std::string&, const std::string& name) {
       DeleteNamespace(engine.state(), name);
     }},
    {"AdmissionCheck",
     [](const py::handle& object, bool) -> ApplyObject {
       return [spec = ReadCheck(object)](Engine& engine) { ApplyCheck(engine.state(), spec); };
     },
     [](Engine& engine, const std::string&, const std::string& name) { DeleteCheck(engine.state(), name); }},
    {"Topology",
     [](const py::handle& object, bool) -> ApplyObject {
       return [name = TextOf(object, "name"), levels = Texts(object.attr("levels"))](Engine& engine) {
         ApplyTopology(engine.state(), name, levels);
       };
     },
     [](Engine& engine, const std::string&, const std::string& name) {
       DeleteTopology(engine.state(), name);
     }},
    {"Node",
     [](const py::handle& object, bool) -> ApplyObject {
       return [node = ReadNode(object), since = OptionalTime(object.attr("ready_since"))](Engine& engine) {
         ApplyNode(engine.state(), node, since);
       };
     },
     [](Engine& engine, const std::string&, const std::string& name) { DeleteNode(engine.state(), name); }},
    {"Pod",
     [](const py::handle& object, bool) -> ApplyObject {
       return [pod = ReadPod(object)](Engine& engine) {
         ApplyPod(engine.state(), pod.ns, pod.name, pod.pod, pod.spec);
       };
     },
     [](Engine& engine, const std::string& ns, const std::string& name) {
       DeletePod(engine.state(), ns, name);
     }},
    {"LimitRange",
     [](const py::handle& object, bool) -> ApplyObject {
       return [ns = TextOf(object, "namespace"), name = TextOf(object, "name"),
               limits = ReadLimitRange(object)](Engine& engine) {
         ApplyLimitRange(engine.state(), ns, name, limits);
       };
     },
     [](Engine& engine, const std::string& ns, const std::string& name) {
       DeleteLimitRange(engine.state(), ns, name);
     }},
    {"RuntimeClass",
     [](const py::handle& object, bool) -> ApplyObject {
       return [name = TextOf(object, "name"), runtime_class = ReadRuntimeClass(object)](Engine& engine) {
         ApplyRuntimeClass(engine.state(), name, runtime_class);
       };
     },
     [](Engine& engine, const std::string&, const std::string& name) {
       DeleteRuntimeClass(engine.state(), name);
     }},
    {"DeviceClass",
     [](const py::handle& object, bool) -> ApplyObject {
       return [name = TextOf(object, "name"), device_class = ReadDeviceClass(object),
               created = OptionalTime(object.attr("creation_timestamp"))](Engine& engine) {
         ApplyDeviceClass(engine.state(), name, device_class, created);
       };
     },
     [](Engine& engine, const std::string&, const std::string& name) {
       DeleteDeviceClass(engine.state(), name);
     }},
    {"ResourceClaimTemplate",
     [](const py::handle& object, bool) -> ApplyObject {
       return [ns = TextOf(object, "namespace"), name = TextOf(object, "name"),
               spec = ReadResourceClaimTemplate(object)](Engine& engine) {
         ApplyResourceClaimTemplate(engine.state(), ns, name, spec);
       };
     },
     [](Engine& engine, const std::string& ns, const std::string& name) {
       DeleteResourceClaimTemplate(engine.state(), ns, name);
     }},
    // A workload that refers to a ResourceClaim is refused, whether the claim exists or not.
    {"ResourceClaim", [](const py::handle&, bool) -> ApplyObject { return [](Engine&) {}; },
     [](Engine&, const std::string&, const std::string&) {}},
    {"ResourceSlice",
     [](const py::handle& object, bool changed) -> ApplyObject {
       return [name = TextOf(object, "name"), slice = ReadResourceSlice(object), changed](Engine& engine) {
         ApplyResourceSlice(engine.state(), name, slice, changed);
       };
     },
     [](Engine& engine, const std::string&, const std::string& name) {
       DeleteResourceSlice(engine.state(), name);
     }},
};

}  // namespace

std::function<void(Engine&)> ReadObject(const py::handle& object, bool changed) {
  const std::string name = Text(py::type::of(object).attr("__name__"));
  for (const ObjectKind& kind : kObjectKinds) {
    if (kind.name == name) return kind.read(object, changed);
  }
  ThrowIfError(absl::UnimplementedError(
      absl::StrCat("kind: is ", name, "; objects of this kind do not affect admission")));
  return {};
}

void AddIfQueue(const py::handle& object, std::vector<std::string>& queues) {
  if (Text(py::type::of(object).attr("__name__")) == "ClusterQueue") queues.push_back(TextOf(object, "name"));
}

void DeleteObject(Engine& engine, const std::string& kind, const std::string& ns, const std::string& name) {
  for (const ObjectKind& known : kObjectKinds) {
    if (known.name == kind) known.remove(engine, ns, name);
  }
}

namespace {

// `prepared`, if not null, is the workload without its uid and its creation time.
Serial Submit(SharedEngine& shared, const py::handle& object, bool single_pod, const Question* prepared) {
  WorkloadObject read = prepared != nullptr ? prepared->object : ReadWorkload(object);
  if (prepared != nullptr) {
    read.uid = TextOf(object, "uid");
    read.created = OptionalTime(Field(object, "creation_timestamp"));
  }
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

Reason ParseFinishReason(const std::string& name) {
  if (name == "Failed") return Reason::kFailed;
  if (name == "FailedToStart") return Reason::kFailedToStart;
  if (name != "Succeeded") {
    ThrowIfError(absl::InvalidArgumentError(
        absl::StrCat("reason of an end: \"", name, "\"; it must be Succeeded, Failed or FailedToStart")));
  }
  return Reason::kSucceeded;
}

// Wraps a call that changes a workload.
template <typename Use>
void WithWorkload(SharedEngine& shared, Serial serial, Use use) {
  shared.Change([&](Engine& engine) { use(engine, PlaceOf(engine.state(), serial)); });
}

// Returns a function that calls a method of the engine.
template <typename... Arguments>
auto Changing(void (Engine::*method)(Arguments...)) {
  return [method](SharedEngine& shared, std::decay_t<Arguments>... arguments) {
    shared.Change([&](Engine& engine) { (engine.*method)(std::move(arguments)...); });
  };
}
// Same, for a method whose first argument is a workload.
template <typename... Arguments>
auto ChangingWorkload(void (Engine::*method)(WorkloadId, Arguments...)) {
  return [method](SharedEngine& shared, Serial serial, std::decay_t<Arguments>... arguments) {
    WithWorkload(shared, serial,
                 [&](Engine& engine, WorkloadId id) { (engine.*method)(id, std::move(arguments)...); });
  };
}

// Objects and time

std::unique_ptr<SharedEngine> MakeEngine(const py::object& configuration) {
  return std::make_unique<SharedEngine>(
      std::make_shared<Engine>(ReadConfig(configuration), ReadRequestsConfig(configuration)));
}

void ApplyTo(SharedEngine& shared, const py::handle& object, bool changed) {
  shared.Change(ReadObject(object, changed));
}

void DeleteFrom(SharedEngine& shared, const std::string& kind, const std::string& ns,
                const std::string& name) {
  shared.Change([&](Engine& engine) { DeleteObject(engine, kind, ns, name); });
}

Time NowOf(SharedEngine& shared) {
  return shared.Read([](const Engine& engine) { return engine.state().now; });
}

void RecordEvents(SharedEngine& shared, bool on) {
  shared.Change([on](Engine& engine) {
    engine.state().record_events = on;
    engine.state().events.clear();
  });
}

// Workloads

void Update(SharedEngine& shared, Serial serial, const py::handle& object, bool changed) {
  WorkloadObject read = ReadWorkload(object);
  WithWorkload(shared, serial,
               [&](Engine& engine, WorkloadId id) { engine.Update(id, std::move(read), changed); });
}

void Finish(SharedEngine& shared, Serial serial, const std::string& reason, const std::string& message) {
  const Reason parsed = ParseFinishReason(reason);
  WithWorkload(shared, serial, [&](Engine& engine, WorkloadId id) { engine.Finish(id, parsed, message); });
}

CheckState ParseCheckState(const std::string& name) {
  const auto none = static_cast<CheckState>(CountOf<CheckState>());
  const CheckState state = Named(name, none);
  if (state == none) {
    ThrowIfError(absl::InvalidArgumentError(absl::StrCat(
        "state of an admission check: \"", name, "\"; it must be Pending, Ready, Retry or Rejected")));
  }
  return state;
}

// Cycles

void Settle(SharedEngine& shared, bool all_devices) {
  const py::gil_scoped_release release;
  shared.Change([all_devices](Engine& engine) { engine.Settle(all_devices); });
}

bool IsBlocked(SharedEngine& shared) {
  return shared.Read([](const Engine& engine) { return engine.state().waiting.start != nullptr; });
}

CycleView RunCycle(SharedEngine& shared) {
  CycleResult result;
  {
    const py::gil_scoped_release release;
    result = shared.Write([](Engine& engine) { return engine.RunCycle(); });
  }
  return {result.idle, result.admitted, result.evicted, result.moved};
}

// Returns the logical device resources whose amounts are printed with binary suffixes.
std::set<std::string> ByteResourcesOf(SharedEngine& shared) {
  return shared.Read([](const Engine& engine) {
    std::set<std::string> names;
    for (const DeviceClassMapping& mapping : engine.state().config.device_class_mappings) {
      if (IsChargedBySource(engine.state().config, mapping.name)) names.insert(mapping.name);
    }
    return names;
  });
}

Serial FindWorkload(SharedEngine& shared, const std::string& key) {
  return shared.Read([&key](const Engine& engine) {
    const WorkloadId id = engine.state().FindWorkload(key);
    return id == kNoId ? Serial{kNoId} : engine.state().At(id).serial;
  });
}

std::vector<std::string> ProblemsOf(SharedEngine& shared) {
  return shared.Read([](const Engine& engine) { return Check(engine.state()); });
}

std::vector<std::string> NotifiedTrees(SharedEngine& shared) {
  return shared.Read([](const Engine& engine) { return engine.NotifiedTrees(); });
}

using BoundEngine = py::class_<SharedEngine>;

void BindObjects(BoundEngine& bound) {
  bound.def(py::init(&MakeEngine), py::arg("configuration") = py::none())
      .def("fork", &SharedEngine::Fork)
      .def("apply", &ApplyTo, py::arg("object"), py::arg("changed") = true)
      .def("delete_object", &DeleteFrom, py::arg("kind"), py::arg("namespace"), py::arg("name"))
      .def("set_now", Changing(&Engine::SetNow), py::arg("now"))
      .def_property_readonly("now", &NowOf)
      .def("set_stop_delay", Changing(&Engine::SetStopDelay), py::arg("delay"))
      .def("record_events", &RecordEvents, py::arg("on"));
}

void BindWorkloads(BoundEngine& bound) {
  bound
      .def("submit", &Submit, py::arg("workload"), py::arg("single_pod") = false,
           py::arg("prepared") = py::none())
      .def("update", &Update, py::arg("id"), py::arg("workload"), py::arg("changed") = true)
      .def("finish", &Finish, py::arg("id"), py::arg("reason") = "Succeeded", py::arg("message") = "")
      .def("delete", ChangingWorkload(&Engine::Delete), py::arg("id"))
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
      .def("set_pods_ready", ChangingWorkload(&Engine::SetPodsReady), py::arg("id"), py::arg("ready"))
      .def("set_job_stop", ChangingWorkload(&Engine::SetJobStop), py::arg("id"), py::arg("at"))
      .def("set_preemptor", ChangingWorkload(&Engine::SetPreemptor), py::arg("id"))
      .def("set_reclaimable", ChangingWorkload(&Engine::SetReclaimable), py::arg("id"),
           py::arg("reclaimable"));
}

void BindRuns(BoundEngine& bound) {
  bound.def("settle", &Settle, py::arg("all_devices") = false)
      .def("set_threads", Changing(&Engine::SetThreads), py::arg("count"), py::arg("least_heads"))
      .def("hold_retries", Changing(&Engine::HoldRetries), py::arg("hold"))
      .def("notified_trees", &NotifiedTrees)
      .def("retry", Changing(&Engine::Retry), py::arg("trees"))
      .def_property_readonly("is_blocked", &IsBlocked)
      .def("cycle", &RunCycle)
      .def_property_readonly("byte_resources", &ByteResourcesOf)
      .def("find", &FindWorkload, py::arg("key"))
      .def("take_events", &TakeEvents)
      .def("key", &KeyOf, py::arg("id"))
      .def("condition", &ConditionOf, py::arg("id"), py::arg("type"))
      .def("conditions", &ConditionsOf, py::arg("id"))
      .def("admission", &AdmissionOf, py::arg("id"))
      .def("queues", &QueuesOf)
      .def("usage", &UsageOf, py::arg("active") = false)
      .def("shares", &SharesOf)
      .def("consumed", &ConsumedOf)
      .def("check", &ProblemsOf);
}

}  // namespace

void BindEngine(py::module_& module) {
  BoundEngine engine(module, "Engine");
  BindObjects(engine);
  BindWorkloads(engine);
  BindRuns(engine);
}

}  // namespace kueue::python
