// Engine tables as NumPy arrays. A Tables object is an unmodified fork. Its arrays are read-only, share the
// memory of the engine and keep the engine alive. They do not reflect later changes of the engine.
#include <algorithm>

#include "bindings/columns.h"
#include "bindings/engine.h"
#include "bindings/method.h"
#include "bindings/pybind.h"
#include "bindings/records.h"
#include "lifecycle/queueing.h"
#include "questions/status.h"
#include "state/rebuild.h"

namespace kueue::python {
namespace {

static_assert(sizeof(Amount) == sizeof(int64_t) && std::is_standard_layout_v<Amount>,
              "an Amount is read as int64");

class TableView {
 public:
  explicit TableView(SharedEngine& shared) {
    shared.Change([](Engine& engine) { EnsureBuilt(engine.state()); });
    fork_ = shared.Fork();
  }
  template <typename Use>
  auto With(Use use) const {
    return fork_->Read([&use](const Engine& engine) { return use(engine.state()); });
  }

 private:
  std::unique_ptr<SharedEngine> fork_;
};

py::object ReadOnly(py::array array) {
  array.attr("setflags")(py::arg("write") = false);
  return std::move(array);
}

// Wraps a table of the engine without copying; `owner` keeps it alive.
py::object Borrowed(const Table& table, const py::object& owner) {
  const auto width = static_cast<py::ssize_t>(sizeof(int64_t));
  const py::ssize_t rows = table.rows(), columns = table.cols();
  return ReadOnly(
      py::array(py::dtype::of<int64_t>(), {rows, columns}, {columns * width, width}, table.data(), owner));
}

template <Table QuotaLimits::* table>
py::object LimitsOf(const py::object& self) {
  return self.cast<const TableView&>().With(
      [&self](const State& state) { return Borrowed(state.quota.limits().*table, self); });
}

py::object Usage(const py::object& self) {
  return self.cast<const TableView&>().With(
      [&self](const State& state) { return Borrowed(state.quota.usage(), self); });
}

py::object Available(const py::object& self) {
  const Table table =
      self.cast<const TableView&>().With([](const State& state) { return RawAvailableOfAll(state.quota); });
  std::vector<int64_t> values(static_cast<size_t>(table.size()));
  std::transform(table.data(), table.data() + table.size(), values.begin(),
                 [](Amount amount) { return amount.value(); });
  return OwnedArray(std::move(values)).attr("reshape")(table.rows(), table.cols());
}

py::list Cells(const TableView& self) {
  return self.With([](const State& state) {
    py::list frs;
    for (const auto& [flavor, resource] : state.flavor_resources) {
      frs.append(py::make_tuple(state.flavor_names.Name(flavor), state.resource_names.Name(resource)));
    }
    return frs;
  });
}

std::string LocalQueueName(const Workload& workload) {
  return workload.spec->ns + "/" + workload.spec->queue_name;
}

const char* StatusOf(const State& state, WorkloadId id) {
  const Workload& workload = state.At(id);
  if (workload.IsFinished()) return "Finished";
  if (workload.IsEvicted() && workload.charged != kNoId) return "Evicted";
  if (workload.IsAdmitted()) return "Admitted";
  if (workload.HasQuotaReservation()) return "QuotaReserved";
  return workload.spec->active ? "Pending" : "Deactivated";
}

}  // namespace

struct WorkloadRow {
  std::string key;
  Word cluster_queue, local_queue, status, reason;
  int64_t priority, created, reserved;
};
KUEUE_COLUMNS(WorkloadRow, key, cluster_queue, local_queue, status, reason, priority, created, reserved);

// A pending workload.
struct PositionRow {
  std::string key;
  Word cluster_queue, local_queue;
  int32_t position_in_cluster_queue, position_in_local_queue;
  int64_t priority;
  bool inadmissible;
};
KUEUE_COLUMNS(PositionRow, key, cluster_queue, local_queue, position_in_cluster_queue,
              position_in_local_queue, priority, inadmissible);

namespace {

py::dict Workloads(SharedEngine& shared) {
  return shared.Read([](const Engine& engine) {
    const State& state = engine.state();
    Rows<WorkloadRow> rows;
    for (WorkloadId id : state.Living()) {
      const Workload& workload = state.At(id);
      const NodeId node = workload.charged != kNoId ? workload.charged : state.QueueOf(workload);
      const Condition* reserved = workload.Find(ConditionType::kQuotaReserved);
      const std::string local_queue = LocalQueueName(workload);
      rows.Add({workload.Key(),
                node == kNoId ? Word{"", true} : Word{state.forest().Name(node)},
                {local_queue},
                {StatusOf(state, id)},
                {reserved == nullptr ? "" : state.reasons.Name(reserved->reason)},
                workload.priority,
                workload.created,
                reserved != nullptr && reserved->status ? reserved->transition : -1});
    }
    return rows.Take();
  });
}

// Returns one row per pending workload, in queue order.
py::dict Positions(SharedEngine& shared) {
  return shared.Read([](const Engine& engine) {
    const State& state = engine.state();
    Rows<PositionRow> rows;
    for (NodeId node : state.forest().Queues()) {
      const PendingQueue& pending = state.Queue(node).pending;
      std::map<LocalQueueId, int32_t> seen;
      int32_t place = 0;
      for (WorkloadId id : pending.Ordered(state.workloads, *state.ledger_usage)) {
        const Workload& workload = state.At(id);
        const std::string local_queue = LocalQueueName(workload);
        rows.Add({workload.Key(),
                  {state.forest().Name(node)},
                  {local_queue},
                  place++,
                  seen[workload.local_queue]++,
                  workload.priority,
                  pending.IsInadmissible(state.workloads, id)});
      }
    }
    return rows.Take();
  });
}

}  // namespace

void BindTables(py::module_& module) {
  py::class_<TableView>(module, "Tables")
      .def(py::init<SharedEngine&>(), py::arg("engine"))
      .def_property_readonly("nodes", [](const TableView& self) { return self.With(&NodeRows); })
      .def_property_readonly("cells", &Cells)
      .def_property_readonly("nominal_quota", &LimitsOf<&QuotaLimits::nominal>)
      .def_property_readonly("borrowing_limit", &LimitsOf<&QuotaLimits::borrowing>)
      .def_property_readonly("lending_limit", &LimitsOf<&QuotaLimits::lending>)
      .def_property_readonly("subtree_quota", &LimitsOf<&QuotaLimits::subtree>)
      .def_property_readonly("guaranteed", &LimitsOf<&QuotaLimits::local>)
      .def_property_readonly("potential", &LimitsOf<&QuotaLimits::potential>)
      .def_property_readonly("usage", &Usage)
      .def_property_readonly("available", &Available);
  AddMethod(module, "workload_columns", &Workloads);
  AddMethod(module, "position_columns", &Positions);
}

}  // namespace kueue::python
