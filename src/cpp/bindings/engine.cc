#include "bindings/engine.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "bindings/method.h"
#include "bindings/pybind.h"
#include "bindings/read.h"
#include "bindings/records.h"
#include "engine/topologies.h"
#include "fairness/ledger.h"
#include "lifecycle/controllers.h"
#include "lifecycle/dispatched.h"
#include "lifecycle/families.h"
#include "lifecycle/queueing.h"
#include "objects/configuration.h"
#include "objects/fields.h"
#include "objects/kinds.h"
#include "objects/workload.h"
#include "persist/persist.h"
#include "state/names.h"

namespace kueue::python {
namespace {

// `prepared`, if not null, is the workload without its uid and its creation time.
// Creates workloads in one change: all are read, and compared with those that exist, before the first is
// created.
std::vector<Serial> SubmitAll(SharedEngine& shared, const py::list& workloads,
                              const std::vector<bool>& single_pods,
                              const std::vector<const Question*>& prepared) {
  std::vector<WorkloadObject> read;
  std::vector<std::optional<WorkloadStatus>> known;
  for (size_t i = 0; i < workloads.size(); ++i) {
    const Value object = ValueOf(workloads[i]);
    const Question* const question = prepared.at(i);
    read.push_back(question != nullptr ? question->object : ReadWorkload(object));
    if (question != nullptr) {
      read.back().uid = TextOf(object, "uid");
      read.back().created = OptionalTime(object.Field("creation_timestamp"));
    }
    read.back().owned_by_single_pod = single_pods.at(i);
    const Value status = object.Field("status");
    known.push_back(status ? std::optional(ReadStatus(status)) : std::nullopt);
  }
  return shared.Write([&](Engine& engine) {
    for (const WorkloadObject& one : read) {
      if (FindByKey(engine.state(), one.Key()) == kNoId) continue;
      ThrowIfError(absl::AlreadyExistsError(absl::StrCat("Workload \"", one.Key(), "\" exists already")));
    }
    std::vector<Serial> serials;
    for (size_t i = 0; i < read.size(); ++i) {
      const WorkloadId id = engine.Submit(std::move(read[i]), known[i] ? &*known[i] : nullptr);
      serials.push_back(engine.state().At(id).serial);
    }
    return serials;
  });
}

// The reasons with which Kueue finishes workloads, and the messages that do not depend on the job
// (jobframework/reconciler.go, pkg/workload/workload.go:FinalizeOrphanedWorkload).
constexpr std::pair<const char*, const char*> kEnds[] = {
    {"Succeeded", ""},
    {"Failed", ""},
    {"FailedToStart", ""},
    {"OutOfSync", "The prebuilt workload is out of sync with its user job"},
    {"OwnerNotFound", "The workload's owner no longer exists"}};

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
  const Value given = ValueOf(configuration);
  return std::make_unique<SharedEngine>(
      std::make_shared<Engine>(ReadConfig(given), ReadRequestsConfig(given)));
}

py::bytes Save(SharedEngine& shared) {
  std::string text;
  {
    const py::gil_scoped_release release;
    text = shared.Read([](const Engine& engine) { return SaveState(engine.state()); });
  }
  return py::bytes(text);
}

std::unique_ptr<SharedEngine> Load(const py::bytes& data) {
  const absl::string_view text(PyBytes_AsString(data.ptr()), static_cast<size_t>(PyBytes_Size(data.ptr())));
  absl::StatusOr<State> state = [text] {
    const py::gil_scoped_release release;
    return LoadState(text);
  }();
  ThrowIfError(state.status());
  auto engine = std::make_shared<Engine>(state->config, state->requests);
  engine->state() = *std::move(state);
  return std::make_unique<SharedEngine>(std::move(engine));
}

void ApplyTo(SharedEngine& shared, const py::handle& object, bool changed) {
  shared.Change(ReadObject(ValueOf(object), changed));
}

void DeleteFrom(SharedEngine& shared, const std::string& kind, const std::string& ns,
                const std::string& name) {
  shared.Change([&](Engine& engine) { DeleteObject(engine, kind, ns, name); });
}

void DropTopologyFrom(SharedEngine& shared, const std::string& name) {
  shared.Change([&](Engine& engine) { DropTopology(engine.state(), name); });
}

Time NowOf(const State& state) { return state.now; }

void RecordEvents(SharedEngine& shared, bool on) {
  shared.Change([on](Engine& engine) {
    engine.state().record_events = on;
    engine.state().events.clear();
  });
}

// Workloads

void Update(SharedEngine& shared, Serial serial, const py::handle& object, bool changed) {
  WorkloadObject read = ReadWorkload(ValueOf(object));
  WithWorkload(shared, serial,
               [&](Engine& engine, WorkloadId id) { engine.Update(id, std::move(read), changed); });
}

void Finish(SharedEngine& shared, Serial serial, const std::string& reason, const std::string& message) {
  const auto* const end =
      std::find_if(std::begin(kEnds), std::end(kEnds), [&](const auto& one) { return one.first == reason; });
  if (end == std::end(kEnds)) {
    ThrowIfError(absl::InvalidArgumentError(absl::StrCat("reason of an end: \"", reason, "\"")));
  }
  WithWorkload(shared, serial, [&](Engine& engine, WorkloadId id) {
    engine.Finish(id, InternReason(engine.state(), end->first), message.empty() ? end->second : message);
  });
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

PodSetUpdates ParsePodSetUpdates(const std::string& json) {
  if (json.empty()) return {};
  return ReadPodSetUpdates(ValueOf(py::module_::import("json").attr("loads")(json)), json);
}

// Cycles

void Settle(SharedEngine& shared, bool all_devices) {
  const py::gil_scoped_release release;
  shared.Change([all_devices](Engine& engine) { engine.Settle(all_devices); });
}

bool IsBlocked(const State& state) { return state.waiting.start != nullptr; }

CycleView RunCycle(SharedEngine& shared) {
  CycleResult result;
  {
    const py::gil_scoped_release release;
    result = shared.Write([](Engine& engine) { return engine.RunCycle(); });
  }
  return {result.idle, result.admitted, result.evicted, result.moved};
}

// Returns the logical device resources whose amounts are printed with binary suffixes.
std::set<std::string> ByteResourcesOf(const State& state) {
  std::set<std::string> names;
  for (const DeviceClassMapping& mapping : state.config.device_class_mappings) {
    if (IsChargedBySource(state.config, mapping.name)) names.insert(mapping.name);
  }
  return names;
}

Serial FindWorkload(const State& state, const std::string& key) {
  const WorkloadId id = FindByKey(state, key);
  return id == kNoId ? Serial{kNoId} : state.At(id).serial;
}

std::vector<std::string> NotifiedTrees(SharedEngine& shared) {
  return shared.Read([](const Engine& engine) { return engine.NotifiedTrees(); });
}

std::vector<Serial> Expired(SharedEngine& shared) {
  return shared.Write([](Engine& engine) {
    std::vector<Serial> serials;
    for (WorkloadId id : ExpiredWorkloads(engine.state()))
      serials.push_back(std::as_const(engine).state().At(id).serial);
    return serials;
  });
}

using BoundEngine = py::class_<SharedEngine>;

void BindObjects(BoundEngine& bound) {
  bound.def(py::init(&MakeEngine), py::arg("configuration") = py::none())
      .def_static("load", &Load, py::arg("data"))
      .def("save", &Save)
      .def("fork", &SharedEngine::Fork)
      .def("apply", &ApplyTo, py::arg("object"), py::arg("changed") = true)
      .def("delete_object", &DeleteFrom, py::arg("kind"), py::arg("namespace"), py::arg("name"))
      .def("continue_usage",
           [](SharedEngine& shared, const std::string& ns, const std::string& name, Time sampled) {
             shared.Change([&](Engine& engine) {
               ContinueUsage(engine.state(), InternLocalQueue(engine.state(), ns, name), sampled);
             });
           })
      .def("take_up_delayed",
           [](SharedEngine& shared) { shared.Change([](Engine& engine) { TakeUpDelayed(engine.state()); }); })
      .def("drop_topology", &DropTopologyFrom, py::arg("name"))
      .def("set_now", Changing(&Engine::SetNow), py::arg("now"))
      .def_property_readonly("now", ReadingStored(&NowOf))
      .def("set_stop_delay", Changing(&Engine::SetStopDelay), py::arg("delay"))
      .def("record_events", &RecordEvents, py::arg("on"));
}

void BindWorkloads(BoundEngine& bound) {
  bound.def("submit_all", &SubmitAll, py::arg("workloads"), py::arg("single_pods"), py::arg("prepared"))
      .def(
          "submit",
          [](SharedEngine& shared, const py::object& workload) {
            py::list one;
            one.append(workload);
            return SubmitAll(shared, one, {false}, {nullptr}).front();
          },
          py::arg("workload"))
      .def("update", &Update, py::arg("id"), py::arg("workload"), py::arg("changed") = true)
      .def("finish", &Finish, py::arg("id"), py::arg("reason") = "Succeeded", py::arg("message") = "")
      .def("delete", ChangingWorkload(&Engine::Delete), py::arg("id"))
      .def(
          "set_check",
          [](SharedEngine& shared, Serial serial, const std::string& check, const std::string& state,
             std::optional<std::string> message, std::optional<int64_t> requeue_after_seconds,
             const std::optional<std::string>& pod_set_updates) {
            std::optional<PodSetUpdates> updates;
            if (pod_set_updates) updates = ParsePodSetUpdates(*pod_set_updates);
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
      .def("expired", &Expired)
      .def("family_changes", ReadingStored(&FamilyChangesOf))
      .def("set_threads", Changing(&Engine::SetThreads), py::arg("count"), py::arg("least_heads"))
      .def("hold_retries", Changing(&Engine::HoldRetries), py::arg("hold"))
      .def("notified_trees", &NotifiedTrees)
      .def("retry", Changing(&Engine::Retry), py::arg("trees"))
      .def_property_readonly("is_blocked", Reading(&IsBlocked))
      .def("cycle", &RunCycle)
      .def_property_readonly("byte_resources", Reading(&ByteResourcesOf))
      .def("find", ReadingStored(&FindWorkload), py::arg("key"))
      .def("check", Reading(&Check));
}

}  // namespace

void BindEngine(py::module_& module) {
  BoundEngine engine(module, "Engine");
  BindObjects(engine);
  BindWorkloads(engine);
  BindRuns(engine);
}

}  // namespace kueue::python
