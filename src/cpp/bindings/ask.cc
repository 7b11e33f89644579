// Questions: decisions about many hypothetical workloads at once.
#include "questions/ask.h"

#include "absl/strings/str_cat.h"
#include "bindings/decision.h"
#include "bindings/method.h"
#include "bindings/read.h"
#include "lifecycle/queueing.h"
#include "model/poll.h"
#include "questions/drain.h"
#include "text/text.h"

namespace kueue::python {
namespace {

// A hypothetical workload, converted once.
struct Question {
  WorkloadObject object;
};

// A decision and its message. The message is rendered at once, because the class of a question is dropped
// afterwards.
struct AnswerRecord {
  DecisionRecord decision;
  std::string message;
};

AnswerRecord AnswerFor(State& state, WorkloadId id, Search search = Search::kGoesOn) {
  AnswerRecord answer{Answer(state, id, search), {}};
  answer.message = Render(state, answer.decision.message);
  return answer;
}

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
  return {ReadWorkload(workload)};
}

std::optional<Question> ReadQuestionOfRow(const py::handle& row) {
  std::optional<WorkloadObject> read = ReadPlainRow(row);
  if (!read) return std::nullopt;
  return Question{*std::move(read)};
}

Subject ReadSubject(const py::handle& item) {
  if (py::isinstance<Question>(item)) return {item.cast<const Question&>().object, kNoId};
  if (py::isinstance<py::int_>(item)) return {{}, item.cast<Serial>()};
  return {ReadWorkload(item), kNoId};
}

AnswerRecord AnswerFor(State& state, const Subject& subject) {
  if (subject.object.spec == nullptr) {
    const WorkloadId id = PlaceOf(state, subject.serial);
    const TemporaryClass cls(state, id);
    return AnswerFor(state, id);
  }
  const HypotheticalWorkload hypothetical(state, subject.object);
  return AnswerFor(state, hypothetical.id());
}

DecisionView View(SharedEngine& shared, const Legend& legend, const AnswerRecord& answer) {
  return shared.ReadWith(
      legend, [&answer](const State& state) { return ViewDecision(state, answer.decision, answer.message); });
}

// Decisions, and the engine that can resolve the names in them. Names are resolved on access.
struct Answers {
  py::object engine;
  std::shared_ptr<const Legend> legend;
  std::vector<AnswerRecord> records;

  DecisionView At(size_t index) const {
    if (index >= records.size()) throw py::index_error();
    return View(engine.cast<SharedEngine&>(), *legend, records[index]);
  }
  const char* VerdictAt(size_t index) const {
    if (index >= records.size()) throw py::index_error();
    return VerdictName(records[index].decision.verdict);
  }
};

DecisionView AskOne(SharedEngine& shared, const py::handle& item) {
  const Subject subject = ReadSubject(item);
  AnswerRecord answer;
  std::shared_ptr<const Legend> legend;
  {
    const py::gil_scoped_release release;
    answer = shared.Write([&](Engine& engine) {
      legend = shared.legend();
      engine.state().EnsureBuilt();
      return AnswerFor(engine.state(), subject);
    });
  }
  return View(shared, *legend, answer);
}

Answers Ask(const py::object& self, const py::iterable& items) {
  std::vector<Subject> subjects;
  for (const py::handle& item : items) subjects.push_back(ReadSubject(item));
  Answers answers{self, nullptr, {}};
  SharedEngine& shared = self.cast<SharedEngine&>();
  const py::gil_scoped_release release;
  shared.Change([&](Engine& engine) {
    answers.legend = shared.legend();
    engine.state().EnsureBuilt();
    answers.records.reserve(subjects.size());
    for (const Subject& subject : subjects) {
      PollAtOnce();
      answers.records.push_back(AnswerFor(engine.state(), subject));
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
    state.EnsureBuilt();
    std::vector<std::pair<std::string, std::string>> told;
    for (Serial serial : serials) {
      PollAtOnce();
      const WorkloadId id = PlaceOf(state, serial);
      const TemporaryClass cls(state, id);
      const AnswerRecord answer = AnswerFor(state, id, Search::kAnew);
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
  py::class_<Answers>(module, "Answers",
                      "Decisions about hypothetical workloads. Names are resolved on access.")
      .def("__len__", [](const Answers& self) { return self.records.size(); })
      .def("__getitem__", &Answers::At, py::arg("index"))
      .def("verdict", &Answers::VerdictAt, py::arg("index"));
  AddMethod(module, "ask", &Ask, py::arg("items"));
  AddMethod(module, "evaluations", &Evaluations, py::arg("ids"));
  AddMethod(module, "ask_one", &AskOne, py::arg("item"));
  AddMethod(module, "must_leave", &MustLeaveOf);
  AddMethod(module, "largest_count", &LargestCountOf, py::arg("question"), py::arg("pod_set"),
            py::arg("preempting"));
}

}  // namespace kueue::python
