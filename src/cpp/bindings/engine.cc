#include "bindings/engine.h"

#include "absl/strings/str_cat.h"
#include "bindings/pybind.h"
#include "bindings/read.h"
#include "bindings/read_devices.h"
#include "bindings/records.h"
#include "bindings/view.h"

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
       return [spec = ReadFlavor(object)](Engine& engine) { engine.ApplyFlavor(spec); };
     },
     [](Engine& engine, const std::string&, const std::string& name) { engine.DeleteFlavor(name); }},
    {"ClusterQueue",
     [](const py::handle& object, bool changed) -> ApplyObject {
       return [spec = ReadClusterQueue(object), changed](Engine& engine) {
         engine.ApplyClusterQueue(spec, changed);
       };
     },
     [](Engine& engine, const std::string&, const std::string& name) { engine.DeleteClusterQueue(name); }},
    {"Cohort",
     [](const py::handle& object, bool changed) -> ApplyObject {
       return [spec = ReadCohort(object), changed](Engine& engine) { engine.ApplyCohort(spec, changed); };
     },
     [](Engine& engine, const std::string&, const std::string& name) { engine.DeleteCohort(name); }},
    {"LocalQueue",
     [](const py::handle& object, bool) -> ApplyObject {
       return [spec = ReadLocalQueue(object)](Engine& engine) { engine.ApplyLocalQueue(spec); };
     },
     [](Engine& engine, const std::string& ns, const std::string& name) {
       engine.DeleteLocalQueue(ns, name);
     }},
    {"Namespace",
     [](const py::handle& object, bool) -> ApplyObject {
       return [name = TextOf(object, "name"), labels = Labels(object.attr("labels"))](Engine& engine) {
         engine.ApplyNamespace(name, labels);
       };
     },
     [](Engine& engine, const std::string&, const std::string& name) { engine.DeleteNamespace(name); }},
    {"AdmissionCheck",
     [](const py::handle& object, bool) -> ApplyObject {
       return [spec = ReadCheck(object)](Engine& engine) { engine.ApplyCheck(spec); };
     },
     [](Engine& engine, const std::string&, const std::string& name) { engine.DeleteCheck(name); }},
    {"Topology",
     [](const py::handle& object, bool) -> ApplyObject {
       return [name = TextOf(object, "name"), levels = Texts(object.attr("levels"))](Engine& engine) {
         engine.ApplyTopology(name, levels);
       };
     },
     [](Engine& engine, const std::string&, const std::string& name) { engine.DeleteTopology(name); }},
    {"Node",
     [](const py::handle& object, bool) -> ApplyObject {
       return [node = ReadNode(object), since = OptionalTime(object.attr("ready_since"))](Engine& engine) {
         engine.ApplyNode(node, since);
       };
     },
     [](Engine& engine, const std::string&, const std::string& name) { engine.DeleteNode(name); }},
    {"Pod",
     [](const py::handle& object, bool) -> ApplyObject {
       return
           [pod = ReadPod(object)](Engine& engine) { engine.ApplyPod(pod.ns, pod.name, pod.pod, pod.spec); };
     },
     [](Engine& engine, const std::string& ns, const std::string& name) { engine.DeletePod(ns, name); }},
    {"LimitRange",
     [](const py::handle& object, bool) -> ApplyObject {
       return [ns = TextOf(object, "namespace"), name = TextOf(object, "name"),
               limits = ReadLimitRange(object)](Engine& engine) { engine.ApplyLimitRange(ns, name, limits); };
     },
     [](Engine& engine, const std::string& ns, const std::string& name) {
       engine.DeleteLimitRange(ns, name);
     }},
    {"RuntimeClass",
     [](const py::handle& object, bool) -> ApplyObject {
       return [name = TextOf(object, "name"), runtime_class = ReadRuntimeClass(object)](Engine& engine) {
         engine.ApplyRuntimeClass(name, runtime_class);
       };
     },
     [](Engine& engine, const std::string&, const std::string& name) { engine.DeleteRuntimeClass(name); }},
    {"DeviceClass",
     [](const py::handle& object, bool) -> ApplyObject {
       return [name = TextOf(object, "name"), device_class = ReadDeviceClass(object),
               created = OptionalTime(object.attr("creation_timestamp"))](Engine& engine) {
         engine.ApplyDeviceClass(name, device_class, created);
       };
     },
     [](Engine& engine, const std::string&, const std::string& name) { engine.DeleteDeviceClass(name); }},
    {"ResourceClaimTemplate",
     [](const py::handle& object, bool) -> ApplyObject {
       return [ns = TextOf(object, "namespace"), name = TextOf(object, "name"),
               spec = ReadResourceClaimTemplate(object)](Engine& engine) {
         engine.ApplyResourceClaimTemplate(ns, name, spec);
       };
     },
     [](Engine& engine, const std::string& ns, const std::string& name) {
       engine.DeleteResourceClaimTemplate(ns, name);
     }},
    // A workload that refers to a ResourceClaim is refused, whether the claim exists or not.
    {"ResourceClaim", [](const py::handle&, bool) -> ApplyObject { return [](Engine&) {}; },
     [](Engine&, const std::string&, const std::string&) {}},
    {"ResourceSlice",
     [](const py::handle& object, bool changed) -> ApplyObject {
       return [name = TextOf(object, "name"), slice = ReadResourceSlice(object), changed](Engine& engine) {
         engine.ApplyResourceSlice(name, slice, changed);
       };
     },
     [](Engine& engine, const std::string&, const std::string& name) { engine.DeleteResourceSlice(name); }},
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

// Wraps every call that changes a workload.
template <typename Use>
void WithWorkload(SharedEngine& shared, Serial serial, Use use) {
  shared.Change([&](Engine& engine) { use(engine, PlaceOf(engine.state(), serial)); });
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

void SetNow(SharedEngine& shared, Time now) {
  shared.Change([now](Engine& engine) { engine.SetNow(now); });
}

void SetStopDelay(SharedEngine& shared, Time delay) {
  shared.Change([delay](Engine& engine) { engine.SetStopDelay(delay); });
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

void Delete(SharedEngine& shared, Serial serial) {
  WithWorkload(shared, serial, [](Engine& engine, WorkloadId id) { engine.Delete(id); });
}

// Answer of an admission check about a workload.
struct CheckAnswer {
  std::optional<std::string> message;
  std::optional<int64_t> requeue_after_seconds;
  std::optional<PodSetUpdates> updates;
};

void SetCheck(SharedEngine& shared, Serial serial, const std::string& check, CheckState state,
              CheckAnswer answer) {
  WithWorkload(shared, serial, [&](Engine& engine, WorkloadId id) {
    engine.SetCheckState(id, check, state, std::move(answer.message), answer.requeue_after_seconds,
                         std::move(answer.updates));
  });
}

void SetPodsReady(SharedEngine& shared, Serial serial, bool ready) {
  WithWorkload(shared, serial, [&](Engine& engine, WorkloadId id) { engine.SetPodsReady(id, ready); });
}

void SetJobStop(SharedEngine& shared, Serial serial, Time at) {
  WithWorkload(shared, serial, [&](Engine& engine, WorkloadId id) { engine.SetJobStop(id, at); });
}

void SetPreemptor(SharedEngine& shared, Serial serial) {
  WithWorkload(shared, serial, [](Engine& engine, WorkloadId id) { engine.SetPreemptor(id); });
}

void SetReclaimable(SharedEngine& shared, Serial serial, std::map<std::string, int64_t> reclaimable) {
  WithWorkload(shared, serial,
               [&](Engine& engine, WorkloadId id) { engine.SetReclaimable(id, std::move(reclaimable)); });
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

void HoldRetries(SharedEngine& shared, bool hold) {
  shared.Change([hold](Engine& engine) { engine.HoldRetries(hold); });
}

std::vector<std::string> NotifiedTrees(SharedEngine& shared) {
  return shared.Read([](const Engine& engine) { return engine.NotifiedTrees(); });
}

void Retry(SharedEngine& shared, const std::set<std::string>& trees) {
  shared.Change([&](Engine& engine) { engine.Retry(trees); });
}

void SetThreads(SharedEngine& shared, int count, size_t least_heads) {
  shared.Change([&](Engine& engine) { engine.SetThreads(count, least_heads); });
}

using BoundEngine = py::class_<SharedEngine>;

void BindObjects(BoundEngine& bound) {
  bound.def(py::init(&MakeEngine), py::arg("configuration") = py::none())
      .def("fork", &SharedEngine::Fork)
      .def("apply", &ApplyTo, py::arg("object"), py::arg("changed") = true)
      .def("delete_object", &DeleteFrom, py::arg("kind"), py::arg("namespace"), py::arg("name"))
      .def("set_now", &SetNow, py::arg("now"))
      .def_property_readonly("now", &NowOf)
      .def("set_stop_delay", &SetStopDelay, py::arg("delay"))
      .def("record_events", &RecordEvents, py::arg("on"));
}

void BindWorkloads(BoundEngine& bound) {
  bound
      .def("submit", &Submit, py::arg("workload"), py::arg("single_pod") = false,
           py::arg("prepared") = py::none())
      .def("update", &Update, py::arg("id"), py::arg("workload"), py::arg("changed") = true)
      .def("finish", &Finish, py::arg("id"), py::arg("reason") = "Succeeded", py::arg("message") = "")
      .def("delete", &Delete, py::arg("id"))
      .def(
          "set_check",
          [](SharedEngine& shared, Serial serial, const std::string& check, const std::string& state,
             std::optional<std::string> message, std::optional<int64_t> requeue_after_seconds,
             const std::optional<std::string>& pod_set_updates) {
            CheckAnswer answer{std::move(message), requeue_after_seconds, std::nullopt};
            if (pod_set_updates) answer.updates = ReadPodSetUpdates(*pod_set_updates);
            SetCheck(shared, serial, check, ParseCheckState(state), std::move(answer));
          },
          py::arg("id"), py::arg("check"), py::arg("state"), py::arg("message") = py::none(),
          py::arg("requeue_after_seconds") = py::none(), py::arg("pod_set_updates") = py::none())
      .def("set_pods_ready", &SetPodsReady, py::arg("id"), py::arg("ready"))
      .def("set_job_stop", &SetJobStop, py::arg("id"), py::arg("at"))
      .def("set_preemptor", &SetPreemptor, py::arg("id"))
      .def("set_reclaimable", &SetReclaimable, py::arg("id"), py::arg("reclaimable"));
}

void BindRuns(BoundEngine& bound) {
  bound.def("settle", &Settle, py::arg("all_devices") = false)
      .def("set_threads", &SetThreads, py::arg("count"), py::arg("least_heads"))
      .def("hold_retries", &HoldRetries, py::arg("hold"))
      .def("notified_trees", &NotifiedTrees)
      .def("retry", &Retry, py::arg("trees"))
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
