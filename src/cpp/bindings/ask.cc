// Questions: what a cycle would answer about a workload that is not there, many at a time.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "bindings/decision.h"
#include "bindings/method.h"
#include "bindings/read.h"
#include "lifecycle/conditions.h"
#include "lifecycle/queueing.h"
#include "model/poll.h"
#include "questions/drain.h"
#include "text/text.h"

namespace kueue::python {
namespace {

// A workload read once.
struct Question {
  WorkloadObject object;
};

// An answer, with its text: the classes of questions are forgotten.
struct AnswerRecord {
  DecisionRecord decision;
  std::string message;
};

// A workload that takes part for as long as this lives, in no queue and known to nobody.
class HypotheticalWorkload {
 public:
  HypotheticalWorkload(State& state, const WorkloadObject& object)
      : state_(state), classes_(state.classes.size()), id_(state.workloads.AddGuest()) {
    Workload& workload = state.At(id_);
    workload.local_queue = state.InternLocalQueue(object.spec->ns, object.spec->queue_name);
    workload.created = object.created.value_or(state.now);
    workload.queue_time = workload.created;
    workload.name = object.name;
    workload.uid = object.uid;
    workload.spec = object.spec;
    ClassifyHypothetical(state, id_);
  }
  ~HypotheticalWorkload() {
    state_.workloads.RemoveGuest(id_);
    if (state_.classes.size() > classes_) state_.classes.pop_back();
  }
  HypotheticalWorkload(const HypotheticalWorkload&) = delete;
  HypotheticalWorkload& operator=(const HypotheticalWorkload&) = delete;
  WorkloadId id() const { return id_; }

 private:
  State& state_;
  const size_t classes_;
  const WorkloadId id_;
};

AnswerRecord AnswerFor(State& state, WorkloadId id) {
  AnswerRecord answer;
  answer.decision.workload = state.At(id).Key();
  const auto [reason, text] = Obstacle(state, state.At(id));
  if (!text.empty()) {
    answer.decision.queue = state.QueueOf(state.At(id));
    answer.decision.reason = static_cast<int32_t>(reason);
    answer.message = text;
    return answer;
  }
  const std::shared_ptr<const ScanProgress> progress = state.At(id).progress;
  const Entry entry = Cycle(state).Nominate(id, state.QueueOf(state.At(id)));
  state.At(id).progress = progress;
  answer.decision = Asked(state, entry);
  answer.message = Render(state, answer.decision.message);
  if (answer.decision.verdict == Verdict::kAdmitted) {
    // Which checks it needs depends on the flavors that it would get.
    std::shared_ptr<const Admission> admission = answer.decision.admission;
    Workload& workload = state.At(id);
    workload.admission.swap(admission);
    answer.decision.admitted = HasAllRequiredChecks(state, answer.decision.queue, workload);
    workload.admission.swap(admission);
  }
  return answer;
}

// What is to be asked: a new workload, or one that the engine has.
struct Subject {
  WorkloadObject object;
  Serial serial = kNoId;  // of one that the engine has
};

Subject ReadSubject(const py::handle& item) {
  if (py::isinstance<Question>(item)) return {item.cast<const Question&>().object, kNoId};
  if (py::isinstance<py::int_>(item)) return {{}, item.cast<Serial>()};
  return {ReadWorkload(item), kNoId};
}

AnswerRecord AnswerFor(State& state, const Subject& subject) {
  if (subject.object.spec == nullptr) {
    const WorkloadId id = PlaceOf(state, subject.serial);
    if (state.At(id).cls == kNoId) Classify(state, id);
    return AnswerFor(state, id);
  }
  const HypotheticalWorkload visitor(state, subject.object);
  return AnswerFor(state, visitor.id());
}

py::tuple View(SharedEngine& shared, const Legend& legend, const AnswerRecord& answer) {
  return shared.ReadWith(legend, [&answer](const State& state) {
    const DecisionRecord& decision = answer.decision;
    py::object admission = py::none();
    if (decision.admission) admission = ViewAdmission(state, *decision.admission);
    return py::make_tuple(VerdictName(decision.verdict), decision.workload,
                          decision.queue == kNoId ? "" : state.forest().Name(decision.queue),
                          state.reasons.Name(decision.reason), answer.message, decision.admitted,
                          decision.borrowing, admission, ViewTargets(state, decision.targets),
                          ViewAttempts(state, decision));
  });
}

// The answers with the engine that can name what is in them; each is named when it is looked at.
struct Answers {
  py::object engine;
  std::shared_ptr<const Legend> legend;
  std::vector<AnswerRecord> records;

  py::tuple At(size_t index) const {
    if (index >= records.size()) throw py::index_error();
    return View(engine.cast<SharedEngine&>(), *legend, records[index]);
  }
};

py::tuple AskOne(SharedEngine& shared, const py::handle& item) {
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
  shared.Write([&](Engine& engine) {
    answers.legend = shared.legend();
    engine.state().EnsureBuilt();
    answers.records.reserve(subjects.size());
    for (const Subject& subject : subjects) {
      Poll();
      answers.records.push_back(AnswerFor(engine.state(), subject));
    }
    return 0;
  });
  return answers;
}

// Reason and message of what a cycle would answer about each workload alone, from its first flavor on.
std::vector<std::pair<std::string, std::string>> Evaluations(SharedEngine& shared,
                                                             const std::vector<Serial>& serials) {
  const py::gil_scoped_release release;
  return shared.Write([&serials](Engine& engine) {
    State& state = engine.state();
    state.EnsureBuilt();
    std::vector<std::pair<std::string, std::string>> told;
    for (Serial serial : serials) {
      Poll();
      const WorkloadId id = PlaceOf(state, serial);
      if (state.At(id).cls == kNoId) Classify(state, id);
      std::shared_ptr<const ScanProgress> progress;
      state.At(id).progress.swap(progress);
      const AnswerRecord answer = AnswerFor(state, id);
      state.At(id).progress.swap(progress);
      told.emplace_back(state.reasons.Name(answer.decision.reason), answer.message);
    }
    return told;
  });
}

bool WouldDo(State& state, WorkloadObject object, size_t pod_set, int64_t count, bool preempting) {
  auto spec = std::make_shared<WorkloadSpec>(*object.spec);
  spec->pod_sets[pod_set].count = count;
  spec->pod_sets[pod_set].min_count.reset();
  object.spec = std::move(spec);
  const HypotheticalWorkload visitor(state, object);
  const DecisionRecord decision = AnswerFor(state, visitor.id()).decision;
  return decision.verdict == Verdict::kAdmitted || (preempting && decision.verdict == Verdict::kPreempting);
}

// A count that would do while one more would not, found by doubling and halving; `most` where nothing ends
// it.
int64_t LargestCount(SharedEngine& shared, const Question& question, size_t pod_set, bool preempting) {
  if (pod_set >= question.object.spec->pod_sets.size()) {
    ThrowIfError(absl::NotFoundError(absl::StrCat("the workload has no pod set ", pod_set)));
  }
  constexpr int64_t most = INT32_MAX;
  const py::gil_scoped_release release;
  return shared.Write([&](Engine& engine) -> int64_t {
    const auto does = [&](int64_t count) {
      return WouldDo(engine.state(), question.object, pod_set, count, preempting);
    };
    engine.state().EnsureBuilt();
    int64_t low = 0, high = 1;
    while (high <= most && does(high)) {
      low = high;
      high *= 2;
    }
    high = std::min(high, most + 1);
    while (high - low > 1) {
      const int64_t middle = low + (high - low) / 2;
      (does(middle) ? low : high) = middle;
    }
    return low;
  });
}

py::list MustLeaveOf(SharedEngine& shared) {
  std::vector<std::string> keys;
  {
    const py::gil_scoped_release release;
    shared.Write([&keys](Engine& engine) {
      for (WorkloadId id : MustLeave(engine.state())) keys.push_back(engine.state().At(id).Key());
      return 0;
    });
  }
  return py::cast(keys);
}

}  // namespace

void BindAsk(py::module_& module) {
  py::class_<Question>(module, "Question", "A workload read once, to be asked about again and again.")
      .def(py::init([](const py::object& workload) { return Question{ReadWorkload(workload)}; }),
           py::arg("workload"))
      .def_property_readonly("key", [](const Question& self) { return self.object.Key(); });
  py::class_<Answers>(module, "Answers", "Answers to questions, named when they are looked at.")
      .def("__len__", [](const Answers& self) { return self.records.size(); })
      .def("__getitem__", &Answers::At, py::arg("index"))
      .def(
          "verdict",
          [](const Answers& self, size_t index) {
            if (index >= self.records.size()) throw py::index_error();
            return VerdictName(self.records[index].decision.verdict);
          },
          py::arg("index"));
  AddMethod(module, "ask", &Ask, py::arg("items"));
  AddMethod(module, "evaluations", &Evaluations, py::arg("ids"));
  AddMethod(module, "ask_one", &AskOne, py::arg("item"));
  AddMethod(module, "must_leave", &MustLeaveOf);
  AddMethod(module, "largest_count", &LargestCount, py::arg("question"), py::arg("pod_set"),
            py::arg("preempting"));
}

}  // namespace kueue::python
