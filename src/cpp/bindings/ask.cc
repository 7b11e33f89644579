// Questions: decisions about many hypothetical workloads at once.
#include "questions/ask.h"

#include "absl/strings/str_cat.h"
#include "bindings/decision.h"
#include "bindings/method.h"
#include "bindings/read.h"
#include "lifecycle/queueing.h"
#include "model/poll.h"
#include "objects/workload.h"
#include "questions/drain.h"
#include "state/names.h"
#include "state/rebuild.h"
#include "text/text.h"

namespace kueue::python {
namespace {

// A decision. The message about a hypothetical workload is rendered on access, with the pod sets of its spec.
// The message about a workload of the engine is rendered at once, because its temporary class is removed.
struct AnswerRecord {
  DecisionRecord decision;
  std::shared_ptr<const WorkloadSpec> spec;  // Null for a workload of the engine.
  std::string message;
};

// Subject of a question: a new workload, or one of the engine.
struct Subject {
  WorkloadObject object;
  Serial serial = kNoId;  // Serial number of a workload of the engine.
};

Question ReadQuestion(const py::object& workload) {
  if (!py::hasattr(workload, "pod_sets")) {
    ThrowIfError(absl::InvalidArgumentError(
        absl::StrCat("Question: workload: is ", Briefly(workload), "; it must be a Workload")));
  }
  return {ReadWorkload(ValueOf(workload))};
}

std::optional<Question> ReadQuestionOfRow(const py::handle& row) {
  std::optional<WorkloadObject> read = ReadPlainRow(row);
  if (!read) return std::nullopt;
  return Question{*std::move(read)};
}

Subject ReadSubject(const py::handle& item) {
  if (py::isinstance<Question>(item)) return {item.cast<const Question&>().object, kNoId};
  if (py::isinstance<py::int_>(item)) return {{}, item.cast<Serial>()};
  return {ReadWorkload(ValueOf(item)), kNoId};
}

AnswerRecord AnswerFor(State& state, const WorkloadObject& object) {
  const HypotheticalWorkload hypothetical(state, object);
  return {Answer(state, hypothetical.id()), object.spec, {}};
}

AnswerRecord AnswerFor(State& state, Serial serial, Search search) {
  const WorkloadId id = PlaceOf(state, serial);
  const TemporaryClass cls(state, id);
  AnswerRecord answer{Answer(state, id, search), nullptr, {}};
  answer.message = Render(state, answer.decision.message);
  return answer;
}

py::object View(const State& state, const AnswerRecord& answer, const py::tuple& not_modelled) {
  const std::string message =
      answer.spec ? Render(state, answer.decision.message, answer.spec->pod_sets) : answer.message;
  return ViewDecision(state, answer.decision, message, not_modelled);
}

// Decisions, and the engine that can resolve the names in them. Names are resolved on access.
struct Answers {
  py::object engine;
  py::tuple not_modelled;
  std::shared_ptr<const Legend> legend;
  std::vector<AnswerRecord> records;

  py::object At(size_t index) const {
    if (index >= records.size()) throw py::index_error();
    return engine.cast<SharedEngine&>().ReadWith(
        *legend, [&](const State& state) { return View(state, records[index], not_modelled); });
  }
  py::tuple Verdicts() const {
    return TupleOf(records, [](const AnswerRecord& answer) { return answer.decision.verdict; });
  }
};

// Returns the workload of a Question, or the workload of a row of plain values, which is stored in `row`.
// Returns null for all other items.
const WorkloadObject* PreparedWorkload(const py::handle& item, std::optional<WorkloadObject>& row) {
  if (Is<Question>(item.ptr())) return &Self<Question>(item.ptr()).object;
  row = ReadPlainRow(item);
  return row ? &*row : nullptr;
}

// Returns whether the column `gpu` of a row can only mean nvidia.com/gpu: whether its queue has no quotas for
// a resource named `gpu`, or has quotas for both.
bool IsGpuClear(State& state, const WorkloadSpec& row) {
  constexpr absl::string_view gpu = "gpu", device = "nvidia.com/gpu";
  const ResourceList& requests = row.pod_sets[0].pod_template->containers[0].requests;
  if (requests.find(std::string(device)) == requests.end()) return true;
  const LocalQueueId local = LocalQueueOf(state, row);
  const State& view = state;  // Copies no page that a fork shares.
  const NodeId queue = view.Local(local).cluster_queue;
  if (queue == kNoId) return true;
  bool has_gpu = false, has_device = false;
  for (const ResourceGroup& group : view.Queue(queue).spec.resource_groups) {
    for (const std::string& resource : group.covered_resources) {
      has_gpu = has_gpu || resource == gpu;
      has_device = has_device || resource == device;
    }
  }
  return !has_gpu || has_device;
}

// The decision is converted during the call, so one lock suffices.
py::object AskOne(SharedEngine& shared, PyObject* item, const py::tuple& not_modelled) {
  std::optional<WorkloadObject> row;
  const WorkloadObject* const object = PreparedWorkload(item, row);
  if (object == nullptr) return py::none();
  return shared.Write([&](Engine& engine) -> py::object {
    if (row && !IsGpuClear(engine.state(), *row->spec)) return py::none();
    const AnswerRecord answer = [&] {
      const py::gil_scoped_release release;
      EnsureBuilt(engine.state());
      return AnswerFor(engine.state(), *object);
    }();
    return View(engine.state(), answer, not_modelled);
  });
}

// A lock of Python's module `threading`, held for the duration of a call. A with statement in Python would
// create four objects for each call.
class Held {
 public:
  explicit Held(py::handle lock) : lock_(lock) {
    PyObject* const acquired = Call("acquire");
    if (acquired == nullptr) throw py::error_already_set();
    Py_DECREF(acquired);
  }
  ~Held() {
    PyObject* const released = Call("release");
    if (released == nullptr) PyErr_WriteUnraisable(lock_.ptr());
    Py_XDECREF(released);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  PyObject* Call(const char* method) const {
    return PyObject_CallMethodNoArgs(lock_.ptr(), Interned(method).ptr());
  }
  const py::handle lock_;
};

// Answers a question about the state of a Session, which holds its lock meanwhile.
py::object AskSession(PyObject* session, PyObject* item) {
  const auto attribute = [](const py::handle& object, const char* name) {
    PyObject* const value = PyObject_GetAttr(object.ptr(), Interned(name).ptr());
    if (value == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(value);
  };
  const py::object lock = attribute(session, "lock");
  const Held held(lock);
  const py::object state = attribute(session, "state");
  py::object not_modelled = attribute(state, "known_not_modelled");  // None after a change.
  if (not_modelled.is_none()) not_modelled = attribute(state, "not_modelled");
  const py::object engine = attribute(state, "engine");
  if (!Is<SharedEngine>(engine.ptr()) || !py::isinstance<py::tuple>(not_modelled))
    throw py::type_error("ask_session: session: it must be a Session");
  return AskOne(Self<SharedEngine>(engine.ptr()), item, py::reinterpret_borrow<py::tuple>(not_modelled));
}

Answers Ask(const py::object& self, const py::iterable& items, const py::tuple& not_modelled) {
  std::vector<Subject> subjects;
  for (const py::handle& item : items) subjects.push_back(ReadSubject(item));
  Answers answers{self, not_modelled, nullptr, {}};
  SharedEngine& shared = self.cast<SharedEngine&>();
  const py::gil_scoped_release release;
  shared.Change([&](Engine& engine) {
    answers.legend = shared.legend();
    EnsureBuilt(engine.state());
    answers.records.reserve(subjects.size());
    for (const Subject& subject : subjects) {
      PollAtOnce();
      answers.records.push_back(subject.object.spec
                                    ? AnswerFor(engine.state(), subject.object)
                                    : AnswerFor(engine.state(), subject.serial, Search::kGoesOn));
    }
  });
  return answers;
}

// Returns, for each workload, the reason and the message that a cycle with this workload as its only head
// would produce. The flavor scan starts at the first flavor.
std::vector<std::pair<std::string, std::string>> Evaluations(SharedEngine& shared,
                                                             const std::vector<Serial>& serials) {
  const py::gil_scoped_release release;
  return shared.Write([&serials](Engine& engine) {
    State& state = engine.state();
    EnsureBuilt(state);
    std::vector<std::pair<std::string, std::string>> told;
    for (Serial serial : serials) {
      PollAtOnce();
      const AnswerRecord answer = AnswerFor(state, serial, Search::kAnew);
      told.emplace_back(state.reasons.Name(answer.decision.reason), answer.message);
    }
    return told;
  });
}

int64_t LargestCountOf(SharedEngine& shared, const Question& question, size_t pod_set, bool preempting) {
  if (pod_set >= question.object.spec->pod_sets.size()) {
    ThrowIfError(absl::NotFoundError(absl::StrCat("the workload has no pod set ", pod_set)));
  }
  const py::gil_scoped_release release;
  return shared.Write(
      [&](Engine& engine) { return LargestCount(engine.state(), question.object, pod_set, preempting); });
}

py::list MustLeaveOf(SharedEngine& shared) {
  std::vector<std::string> keys;
  {
    const py::gil_scoped_release release;
    shared.Change([&keys](Engine& engine) {
      for (WorkloadId id : MustLeave(engine.state())) keys.push_back(engine.state().At(id).Key());
    });
  }
  return py::cast(keys);
}

}  // namespace

void BindAsk(py::module_& module) {
  py::class_<Question>(module, "Question",
                       "A hypothetical workload, converted once so that it can be used in many calls.")
      .def(py::init(&ReadQuestion), py::arg("workload"))
      .def_property_readonly("key", [](const Question& self) { return self.object.Key(); })
      .def_property_readonly("local_queue", [](const Question& self) {
        return absl::StrCat(self.object.spec->ns, "/", self.object.spec->queue_name);
      });
  module.def("question_of_row", &ReadQuestionOfRow, py::arg("row"));
  py::class_<Answers>(module, "Answers")
      .def("__len__", [](const Answers& self) { return self.records.size(); })
      .def("__getitem__", &Answers::At, py::arg("index"))
      .def_property_readonly("verdicts", &Answers::Verdicts);
  AddMethod(module, "ask", &Ask, py::arg("items"), py::arg("not_modelled") = py::tuple());
  AddMethod(module, "evaluations", &Evaluations, py::arg("ids"));
  AddMethod(module, "ask_one",
            [](SharedEngine& shared, const py::object& item, const py::tuple& not_modelled) {
              return AskOne(shared, item.ptr(), not_modelled);
            });
  AddDirectFunction<&AskSession>(module, "ask_session");
  AddMethod(module, "must_leave", &MustLeaveOf);
  AddMethod(module, "largest_count", &LargestCountOf, py::arg("question"), py::arg("pod_set"),
            py::arg("preempting"));
}

}  // namespace kueue::python
