// The rules one at a time, for tests: what kueuepy._core._testing holds. Not part of the public surface.
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bindings/engine.h"
#include "bindings/pybind.h"
#include "fairness/ledger.h"
#include "fairness/share.h"
#include "fairness/tournament.h"
#include "preemption/preemption.h"
#include "state/check.h"

namespace kueue::python {
namespace {

using CellName = std::pair<std::string, std::string>;  // flavor, resource

// Ways to break a state in which one workload waits and one holds quota: each must be found by Check().
struct Corruption {
  const char* name;
  void (*apply)(State& state, WorkloadId waiting, WorkloadId holding);
};
constexpr Corruption kCorruptions[] = {
    {"usage",
     [](State& s, WorkloadId, WorkloadId holding) { s.quota.Add(s.At(holding).charged, 0, Amount(1)); }},
    {"nominal",
     [](State& s, WorkloadId, WorkloadId holding) {
       s.quota.SetCell(s.At(holding).charged, 0, Amount(1), Amount::Unlimited(), Amount::Unlimited());
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
    {"key", [](State& s, WorkloadId, WorkloadId) { s.workload_of_key.clear(); }},
    {"listed",
     [](State& s, WorkloadId waiting, WorkloadId) {
       s.MarkDirty(waiting);
       s.dirty.clear();
     }},
    {"activity",
     [](State& s, WorkloadId waiting, WorkloadId) { s.forest().SetActive(s.At(waiting).queued, false); }},
    {"cohort",
     [](State& s, WorkloadId waiting, WorkloadId) { s.forest().SetParent(s.At(waiting).queued, kNoId); }},
    {"ledger",
     [](State& s, WorkloadId waiting, WorkloadId) {
       s.ledger[static_cast<size_t>(s.At(waiting).local_queue)].consumed[s.cpu] = -1;
     }},
    {"wake", [](State& s, WorkloadId, WorkloadId) { s.to_wake.insert(s.forest().size()); }},
};

// A copy of an engine's state, whose usage may be changed at will.
class Tables {
 public:
  explicit Tables(State state) : state_(std::move(state)) { state_.EnsureBuilt(); }

  void Add(const std::string& queue, const CellName& cell, int64_t amount) {
    state_.quota.Add(Queue(queue), Intern(cell), Amount(amount));
  }
  void Remove(const std::string& queue, const CellName& cell, int64_t amount) {
    state_.quota.Remove(Queue(queue), Intern(cell), Amount(amount));
  }

  // Of a ClusterQueue or a Cohort: subtree quota, local quota, usage, available (raw), potential, and whether
  // it uses more than its own.
  py::tuple Node(const std::string& name, bool is_cohort, const CellName& cell_name) {
    const NodeId node = is_cohort ? Cohort(name) : Queue(name);
    const CellId cell = Intern(cell_name);
    const Quota& quota = state_.quota;
    return py::make_tuple(quota.Subtree(node, cell).value(), quota.Local(node, cell).value(),
                          quota.Usage(node, cell).value(), quota.RawAvailable(node, cell).value(),
                          quota.Potential(node, cell).value(), quota.IsBorrowing(node, cell));
  }
  // The usage of every node of every tree, by (name, whether it is a Cohort, flavor, resource); zeros are
  // left out.
  py::dict Usage() const {
    py::dict usage;
    for (NodeId node : state_.forest().TopDown()) {
      for (CellId cell = 0; cell < state_.quota.cells(); ++cell) {
        const Amount used = state_.quota.Usage(node, cell);
        if (used == Amount(0)) continue;
        const auto [flavor, resource] = state_.cell_names[static_cast<size_t>(cell)];
        usage[py::make_tuple(state_.forest().Name(node), !state_.forest().IsClusterQueue(node),
                             state_.flavor_names.Name(flavor), state_.resource_names.Name(resource))] =
            used.value();
      }
    }
    return usage;
  }
  bool Fits(const std::string& queue, const CellName& cell, int64_t amount) {
    return Amount(amount) <= state_.quota.Available(Queue(queue), Intern(cell));
  }
  std::pair<int, bool> Height(const std::string& queue, const CellName& cell, int64_t amount) {
    const Quota::Height found =
        state_.quota.LowestSubtreeThatFits(Queue(queue), Intern(cell), Amount(amount));
    return {found.height, found.smaller_than_tree};
  }

  // Ratio, precise weighted share, dominant resource, whether it borrows, and the rounded share of the
  // status.
  py::tuple ShareOf(const std::string& name, bool is_cohort) {
    const Share share = DominantResourceShare(state_, is_cohort ? Cohort(name) : Queue(name));
    const std::string resource = share.dominant == kNoId ? "" : state_.resource_names.Name(share.dominant);
    return py::make_tuple(share.ratio, share.Weighted(), resource, share.borrowing, share.Rounded());
  }

  void SetConsumed(const std::string& ns, const std::string& queue, const std::string& resource,
                   int64_t nano) {
    const LocalQueueId local = state_.InternLocalQueue(ns, queue);
    LedgerEntry& entry = state_.ledger[static_cast<size_t>(local)];
    entry.exists = true;
    entry.consumed[state_.InternResource(resource)] = nano;
    RefreshLocalQueueUsage(state_, local);
  }

  // The targets of a pending workload, in order, with the reason of their preemption.
  std::vector<std::pair<std::string, std::string>> Search(
      const std::string& key, const std::vector<CellName>& contested,
      const std::vector<std::pair<CellName, int64_t>>& request) {
    PreemptionQuery query{kNoId, Workload(key), {}, {}};
    query.queue = state_.QueueOf(state_.At(query.preemptor));
    for (const CellName& cell : contested) query.contested.push_back(Intern(cell));
    for (const auto& [cell, amount] : request) query.request.push_back({Intern(cell), Amount(amount)});
    std::vector<std::pair<std::string, std::string>> targets;
    for (const Target& target : Preemptor(state_).Search(query)) {
      targets.emplace_back(state_.At(target.workload).name,
                           state_.reasons.Name(static_cast<int32_t>(ReasonOf(target.reason))));
    }
    return targets;
  }
  // What the choice of a flavor learns of preemption: NoCandidates, Preempt or Reclaim, and the borrowing
  // level.
  std::pair<std::string, int> Simulate(const std::string& key, const CellName& cell_name, int64_t amount) {
    const WorkloadId workload = Workload(key);
    const CellId cell = Intern(cell_name);
    const GranularMode found = Preemptor(state_).SimulatePreemption(state_.QueueOf(state_.At(workload)),
                                                                    workload, cell, Amount(amount));
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

  struct Head {
    std::string queue;
    int64_t priority;
    Time time;
    bool is_preemptor;
    std::vector<std::pair<CellName, int64_t>> usage;
    bool is_charged;  // once it was its turn
  };
  // The order of the heads of a cycle under fair sharing, as indexes.
  std::vector<size_t> FairOrder(const std::vector<Head>& heads) {
    std::vector<std::vector<CellAmount>> usage(heads.size());
    for (size_t i = 0; i < heads.size(); ++i) {
      for (const auto& [cell, amount] : heads[i].usage) usage[i].push_back({Intern(cell), Amount(amount)});
    }
    std::vector<Contender> contenders;
    for (size_t i = 0; i < heads.size(); ++i) {
      contenders.push_back({Queue(heads[i].queue), heads[i].priority, heads[i].time, heads[i].is_preemptor,
                            usage[i].data(), usage[i].size()});
    }
    const Trial trial(state_);
    Tournament tournament(state_, contenders);
    std::vector<size_t> order;
    while (tournament.HasNext()) {
      order.push_back(tournament.Pop());
      if (!heads[order.back()].is_charged) continue;
      for (const CellAmount& entry : usage[order.back()]) {
        state_.quota.Add(contenders[order.back()].queue, entry.cell, entry.amount);
      }
    }
    return order;
  }

 private:
  CellId Intern(const CellName& cell) {
    return state_.InternCell(state_.InternFlavor(cell.first), state_.InternResource(cell.second));
  }
  NodeId Queue(const std::string& name) const { return Found(state_.forest().FindClusterQueue(name), name); }
  NodeId Cohort(const std::string& name) const { return Found(state_.forest().FindCohort(name), name); }
  WorkloadId Workload(const std::string& key) const { return Found(state_.FindWorkload(key), key); }
  static int32_t Found(int32_t id, const std::string& name) {
    if (id == kNoId) ThrowIfError(absl::NotFoundError(absl::StrCat("nothing is named ", name)));
    return id;
  }

  State state_;
};

std::vector<std::string> CheckEngine(SharedEngine& shared) {
  return shared.Read([](const Engine& engine) { return Check(engine.state()); });
}

}  // namespace

void BindTesting(py::module_& module) {
  py::class_<SharedEngine> engine = module.attr("Engine");
  engine.def("check", &CheckEngine);
  py::module_ testing =
      module.def_submodule("_testing", "Single rules of the core, for kueuepy's own tests.");
  py::list corruptions;
  for (const Corruption& corruption : kCorruptions) corruptions.append(corruption.name);
  testing.attr("CORRUPTIONS") = py::tuple(corruptions);
  py::class_<Tables>(testing, "Tables")
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
      .def(
          "fair_order",
          [](Tables& tables,
             const std::vector<std::tuple<std::string, int64_t, Time, bool,
                                          std::vector<std::pair<CellName, int64_t>>, bool>>& heads) {
            std::vector<Tables::Head> read;
            for (const auto& [queue, priority, time, is_preemptor, usage, is_charged] : heads) {
              read.push_back({queue, priority, time, is_preemptor, usage, is_charged});
            }
            return tables.FairOrder(read);
          },
          py::arg("heads"));
}

}  // namespace kueue::python
