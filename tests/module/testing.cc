// The module kueuepy._testing: access to individual rules, and intentionally corrupted states. For the
// project's own tests; not part of the wheels.
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bindings/engine.h"
#include "bindings/pybind.h"
#include "bindings/read.h"
#include "fairness/ledger.h"
#include "fairness/share.h"
#include "fairness/tournament.h"
#include "objects/cluster.h"
#include "objects/fields.h"
#include "objects/pod_template.h"
#include "preemption/preemption.h"
#include "state/check.h"
#include "state/names.h"
#include "state/rebuild.h"
#include "workload/shape.h"
#include "workload/totals.h"

namespace kueue::python {
namespace {

using FlavorResourceName = std::pair<std::string, std::string>;  // (flavor, resource)

// Ways to corrupt a state with one pending and one admitted workload. Check() must detect each of them.
struct Corruption {
  const char* name;
  void (*apply)(State& state, WorkloadId waiting, WorkloadId holding);
};
constexpr Corruption kCorruptions[] = {
    {"usage", [](State& s, WorkloadId,
                 WorkloadId holding) { s.quota.Add(s.At(holding).charged, FlavorResourceId(0), Amount(1)); }},
    {"nominal",
     [](State& s, WorkloadId, WorkloadId holding) {
       s.quota.SetQuota(s.At(holding).charged, FlavorResourceId(0), Amount(1), Amount::Unlimited(),
                        Amount::Unlimited());
     }},
    {"account",
     [](State& s, WorkloadId, WorkloadId holding) { s.Queue(s.At(holding).charged).workloads.pop_back(); }},
    {"charge",
     [](State& s, WorkloadId, WorkloadId holding) { s.At(holding).usage.front().second += Amount(1); }},
    {"admission", [](State& s, WorkloadId, WorkloadId holding) { s.At(holding).admission = nullptr; }},
    {"twice",
     [](State& s, WorkloadId, WorkloadId holding) {
       s.At(holding).conditions.push_back(s.At(holding).conditions.front());
     }},
    {"future", [](State& s, WorkloadId,
                  WorkloadId holding) { s.At(holding).conditions.front().transition = s.now + 1; }},
    {"place", [](State& s, WorkloadId waiting, WorkloadId) { s.At(waiting).place = QueuePlace::kNowhere; }},
    {"in flight",
     [](State& s, WorkloadId waiting, WorkloadId) { s.At(waiting).place = QueuePlace::kInflight; }},
    {"lost",
     [](State& s, WorkloadId waiting, WorkloadId) {
       s.Queue(s.At(waiting).queued).pending.Erase(s.pending_tables(), waiting);
       s.At(waiting).queued = kNoId;
     }},
    {"time", [](State& s, WorkloadId waiting, WorkloadId) { ++s.At(waiting).queue_time; }},
    {"priority", [](State& s, WorkloadId waiting, WorkloadId) { ++s.At(waiting).priority; }},
    {"deleted", [](State& s, WorkloadId waiting, WorkloadId) { s.At(waiting).deleted = true; }},
    {"preemptor", [](State& s, WorkloadId waiting,
                     WorkloadId holding) { s.Queue(s.At(waiting).queued).pending.preemptor = holding; }},
    {"key", [](State& s, WorkloadId, WorkloadId) { s.workload_of_key.Clear(); }},
    {"listed",
     [](State& s, WorkloadId waiting, WorkloadId) {
       s.MarkDirty(waiting);
       s.dirty.clear();
     }},
    {"activity",
     [](State& s, WorkloadId waiting, WorkloadId) { s.forest().SetActive(s.At(waiting).queued, false); }},
    {"cohort",
     [](State& s, WorkloadId waiting, WorkloadId) { s.forest().SetParent(s.At(waiting).queued, kNoId); }},
    {"ledger", [](State& s, WorkloadId waiting,
                  WorkloadId) { s.ledger[s.At(waiting).local_queue].consumed[s.cpu] = -1; }},
    {"wake", [](State& s, WorkloadId, WorkloadId) { s.to_requeue.insert(NodeId(s.forest().size())); }},
    {"tree", [](State& s, WorkloadId, WorkloadId) { s.flavors[FlavorId(0)].spec = nullptr; }},
    {"free room",
     [](State& s, WorkloadId, WorkloadId) { ++s.topology.made.capacity.Find(FlavorId(0))->free[0]; }},
    {"used room",
     [](State& s, WorkloadId, WorkloadId) { --s.topology.made.capacity.Find(FlavorId(0))->used[0]; }},
    {"assumed room",
     [](State& s, WorkloadId, WorkloadId) { ++s.topology.made.capacity.Find(FlavorId(0))->assumed[0]; }},
    {"placed pods",
     [](State& s, WorkloadId, WorkloadId holding) {
       auto moved = std::make_shared<Admission>(*s.At(holding).admission);
       moved->pod_sets[0].topology = nullptr;
       s.At(holding).admission = std::move(moved);
     }},
};

// A copy of an engine's state whose usage can be changed freely.
class Tables {
 public:
  explicit Tables(State state) : state_(std::move(state)) { EnsureBuilt(state_); }

  void Add(const std::string& queue, const FlavorResourceName& fr, int64_t amount) {
    state_.quota.Add(Queue(queue), Intern(fr), Amount(amount));
  }
  void Remove(const std::string& queue, const FlavorResourceName& fr, int64_t amount) {
    state_.quota.Remove(Queue(queue), Intern(fr), Amount(amount));
  }

  // Returns subtree quota, local quota, usage, available amount (raw), potential, and whether it borrows, for
  // a ClusterQueue or a Cohort.
  py::tuple Node(const std::string& name, bool is_cohort, const FlavorResourceName& fr_name) {
    const NodeId node = is_cohort ? Cohort(name) : Queue(name);
    const FlavorResourceId fr = Intern(fr_name);
    const Quota& quota = state_.quota;
    return py::make_tuple(quota.limits().subtree(node, fr).value(), quota.limits().local(node, fr).value(),
                          quota.Usage(node, fr).value(), quota.RawAvailable(node, fr).value(),
                          quota.limits().potential(node, fr).value(), quota.IsBorrowing(node, fr));
  }
  // Returns the nonzero usage of all nodes by (name, whether it is a Cohort, flavor, resource).
  py::dict Usage() const {
    py::dict usage;
    for (NodeId node : state_.forest().TopDown()) {
      for (FlavorResourceId fr : state_.quota.FlavorResources()) {
        const Amount used = state_.quota.Usage(node, fr);
        if (used == Amount(0)) continue;
        const auto [flavor, resource] = state_.flavor_resources[fr];
        usage[py::make_tuple(state_.forest().Name(node), !state_.forest().IsClusterQueue(node),
                             state_.flavor_names.Name(flavor), state_.resource_names.Name(resource))] =
            used.value();
      }
    }
    return usage;
  }
  bool Fits(const std::string& queue, const FlavorResourceName& fr, int64_t amount) {
    return Amount(amount) <= state_.quota.Available(Queue(queue), Intern(fr));
  }
  std::pair<int, bool> Height(const std::string& queue, const FlavorResourceName& fr, int64_t amount) {
    const SubtreeHeight found = LowestSubtreeThatFits(state_.quota, Queue(queue), Intern(fr), Amount(amount));
    return {found.height, found.smaller_than_tree};
  }

  // Returns ratio, precise weighted share, dominant resource, whether it borrows, and the rounded share of
  // the status.
  py::tuple ShareOf(const std::string& name, bool is_cohort) {
    const Share share = DominantResourceShare(state_, is_cohort ? Cohort(name) : Queue(name));
    const std::string resource = share.dominant == kNoId ? "" : state_.resource_names.Name(share.dominant);
    return py::make_tuple(share.ratio, share.Weighted(), resource, share.borrowing, share.Rounded());
  }

  void SetConsumed(const std::string& ns, const std::string& queue, const std::string& resource,
                   int64_t nano) {
    const LocalQueueId local = InternLocalQueue(state_, ns, queue);
    LedgerEntry& entry = state_.ledger[local];
    entry.exists = true;
    entry.consumed[InternResource(state_, resource)] = nano;
    RefreshLocalQueueUsage(state_, local);
  }

  // Returns the targets of a pending workload in order, with the reasons of their preemption.
  std::vector<std::pair<std::string, std::string>> Search(
      const std::string& key, const std::vector<FlavorResourceName>& contested,
      const std::vector<std::pair<FlavorResourceName, int64_t>>& request) {
    PreemptionQuery query{kNoId, Workload(key), {}, {}};
    query.queue = state_.QueueOf(state_.At(query.preemptor));
    for (const FlavorResourceName& fr : contested) query.contested.push_back(Intern(fr));
    for (const auto& [fr, amount] : request) query.request.push_back({Intern(fr), Amount(amount)});
    std::vector<std::pair<std::string, std::string>> targets;
    for (const Target& target : Preemptor(state_).Search(query)) {
      targets.emplace_back(state_.At(target.workload).name, state_.reasons.Name(ReasonOf(target.reason)));
    }
    return targets;
  }
  // Returns the result of the preemption oracle: NoCandidates, Preempt or Reclaim, and the borrowing level.
  std::pair<std::string, int> Simulate(const std::string& key, const FlavorResourceName& fr_name,
                                       int64_t amount) {
    const WorkloadId workload = Workload(key);
    const FlavorResourceId fr = Intern(fr_name);
    const GranularMode found = Preemptor(state_).SimulatePreemption(state_.QueueOf(state_.At(workload)),
                                                                    workload, fr, Amount(amount));
    const char* mode = found.mode == PreemptionMode::kNoCandidates ? "NoCandidates"
                       : found.mode == PreemptionMode::kPreempt    ? "Preempt"
                                                                   : "Reclaim";
    return {mode, found.borrowing_level};
  }

  std::vector<std::string> Problems() const { return Check(state_); }
  void Corrupt(const std::string& name, const std::string& waiting, const std::string& holding) {
    for (const Corruption& corruption : kCorruptions) {
      if (corruption.name == name) return corruption.apply(state_, Workload(waiting), Workload(holding));
    }
    ThrowIfError(absl::NotFoundError(absl::StrCat("no corruption is named ", name)));
  }

  struct HeadSpec {
    std::string queue;
    int64_t priority;
    Time time;
    bool is_preemptor;
    std::vector<std::pair<FlavorResourceName, int64_t>> usage;
    bool is_charged;  // Charge its usage after it was returned.
  };
  // Returns the order of the heads of a cycle with fair sharing, as indexes.
  std::vector<size_t> FairOrder(const std::vector<HeadSpec>& specs) {
    std::vector<std::vector<FlavorResourceAmount>> usage(specs.size());
    for (size_t i = 0; i < specs.size(); ++i) {
      for (const auto& [fr, amount] : specs[i].usage) usage[i].push_back({Intern(fr), Amount(amount)});
    }
    std::vector<Head> heads;
    for (size_t i = 0; i < specs.size(); ++i) {
      heads.push_back({Queue(specs[i].queue), specs[i].priority, specs[i].time, specs[i].is_preemptor, true,
                       usage[i].data(), usage[i].size()});
    }
    const Trial trial(state_, kNoId);
    Tournament tournament(state_, heads);
    std::vector<size_t> order;
    while (tournament.HasNext()) {
      order.push_back(tournament.Pop());
      if (!specs[order.back()].is_charged) continue;
      for (const FlavorResourceAmount& entry : usage[order.back()]) {
        state_.quota.Add(heads[order.back()].queue, entry.fr, entry.amount);
      }
    }
    return order;
  }

 private:
  FlavorResourceId Intern(const FlavorResourceName& fr) {
    const FlavorResourceId id =
        InternFlavorResource(state_, InternFlavor(state_, fr.first), InternResource(state_, fr.second));
    state_.quota.Resize(state_.flavor_resources.size());
    return id;
  }
  NodeId Queue(const std::string& name) const { return Found(state_.forest().FindClusterQueue(name), name); }
  NodeId Cohort(const std::string& name) const { return Found(state_.forest().FindCohort(name), name); }
  WorkloadId Workload(const std::string& key) const { return Found(FindByKey(state_, key), key); }
  template <typename IdT>
  static IdT Found(IdT id, const std::string& name) {
    if (id == kNoId) ThrowIfError(absl::NotFoundError(absl::StrCat("nothing is named ", name)));
    return id;
  }

  State state_;
};

using HeadFields =
    std::tuple<std::string, int64_t, Time, bool, std::vector<std::pair<FlavorResourceName, int64_t>>, bool>;

std::vector<size_t> FairOrderOf(Tables& tables, const std::vector<HeadFields>& heads) {
  std::vector<Tables::HeadSpec> read;
  for (const auto& [queue, priority, time, is_preemptor, usage, is_charged] : heads) {
    read.push_back({queue, priority, time, is_preemptor, usage, is_charged});
  }
  return tables.FairOrder(read);
}

// Rules for pod templates

PodTemplate ReadAdjusted(const py::dict& pod_template, const std::string& path,
                         const py::handle& runtime_classes,
                         const std::map<std::string, LimitRange>& limit_ranges) {
  return Adjust(ReadPodTemplate(ValueOf(pod_template), path),
                ReadByName(ValueOf(runtime_classes), &ReadRuntimeClass), limit_ranges);
}

// Returns the errors of a pod template: requests above their limits, and violations of LimitRanges.
py::tuple PodErrors(const py::dict& pod_template, const std::string& path, const py::handle& runtime_classes,
                    const py::handle& limit_ranges) {
  const auto ranges = ReadByName(ValueOf(limit_ranges), &ReadLimitRange);
  const PodTemplate pod = ReadAdjusted(pod_template, path, runtime_classes, ranges);
  const std::string spec = path + ".spec";
  return py::make_tuple(ValidateResources(pod, spec), ValidateLimitRanges(pod, spec, ranges));
}

// Returns a key that is equal for two templates only if the scheduler treats their pods as equal.
py::bytes PodShape(const py::dict& pod_template, const py::handle& runtime_classes,
                   const py::handle& limit_ranges) {
  return SpecShape(ReadAdjusted(pod_template, "template", runtime_classes,
                                ReadByName(ValueOf(limit_ranges), &ReadLimitRange)));
}

}  // namespace

void BindPods(py::module_& module) {
  const py::tuple none;
  module.def("pod_errors", &PodErrors, py::arg("template"), py::kw_only(), py::arg("path") = "template",
             py::arg("runtime_classes") = none, py::arg("limit_ranges") = none);
  module.def("pod_shape", &PodShape, py::arg("template"), py::kw_only(), py::arg("runtime_classes") = none,
             py::arg("limit_ranges") = none);
}

void BindTables(py::module_& module) {
  py::list corruptions;
  for (const Corruption& corruption : kCorruptions) corruptions.append(corruption.name);
  module.attr("CORRUPTIONS") = py::tuple(corruptions);
  py::class_<Tables>(module, "Tables")
      .def(py::init([](SharedEngine& shared) {
             return Tables(shared.Read([](const Engine& source) { return source.state(); }));
           }),
           py::arg("engine"))
      .def("add", &Tables::Add, py::arg("queue"), py::arg("cell"), py::arg("amount"))
      .def("remove", &Tables::Remove, py::arg("queue"), py::arg("cell"), py::arg("amount"))
      .def("node", &Tables::Node, py::arg("name"), py::arg("is_cohort"), py::arg("cell"))
      .def("usage", &Tables::Usage)
      .def("check", &Tables::Problems)
      .def("corrupt", &Tables::Corrupt, py::arg("name"), py::arg("waiting"), py::arg("holding"))
      .def("fits", &Tables::Fits, py::arg("queue"), py::arg("cell"), py::arg("amount"))
      .def("height", &Tables::Height, py::arg("queue"), py::arg("cell"), py::arg("amount"))
      .def("share", &Tables::ShareOf, py::arg("name"), py::arg("is_cohort"))
      .def("set_consumed", &Tables::SetConsumed, py::arg("namespace"), py::arg("queue"), py::arg("resource"),
           py::arg("nano"))
      .def("search", &Tables::Search, py::arg("key"), py::arg("contested"), py::arg("request"))
      .def("simulate", &Tables::Simulate, py::arg("key"), py::arg("cell"), py::arg("amount"))
      .def("fair_order", &FairOrderOf, py::arg("heads"));
}

}  // namespace kueue::python

PYBIND11_MODULE(_testing, module) {
  module.doc() = "Access to individual rules of the core, for kueuepy's own tests.";
  py::module_::import("kueuepy._core");  // Defines the engine class from which Tables are created.
  kueue::python::RegisterErrors();
  kueue::python::BindTables(module);
  kueue::python::BindPods(module);
}
