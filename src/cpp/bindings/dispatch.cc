// Python class of a dispatcher between separate engines: a manager and its workers.
#include "bindings/dispatch.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "bindings/engine.h"
#include "bindings/read.h"
#include "bindings/records.h"

namespace kueue::python {

using namespace py::literals;

DispatcherOptions ReadDispatcher(const py::dict& options) {
  DispatcherOptions read;
  read.kind = Named(options["kind"].cast<std::string>(), DispatcherKind::kAllAtOnce);
  read.step = options["step"].cast<int32_t>();
  read.round = options["round"].cast<Time>();
  read.in_config_order = options["in_config_order"].cast<bool>();
  read.worker_lost_timeout = options["worker_lost_timeout"].cast<Time>();
  return read;
}

std::vector<CheckClusters> ReadCheckClusters(const py::handle& checks) {
  return ReadItems(checks, [](const py::handle& item) -> CheckClusters {
    const auto [name, clusters] = item.cast<std::pair<std::string, std::optional<std::vector<int32_t>>>>();
    return {name, clusters.value_or(std::vector<int32_t>()), clusters.has_value()};
  });
}

namespace {

// Records (what, cluster, workload) in the order of occurrence.
class MoveList : public DispatchListener {
 public:
  explicit MoveList(const std::vector<WorkerCluster>& clusters) : clusters_(clusters) {}
  void Moved(Move move, const Local& local, const Copy& copy) override {
    moves.append(py::make_tuple(move, clusters_[static_cast<size_t>(copy.cluster)].name, local.key));
  }
  py::list moves;

 private:
  const std::vector<WorkerCluster>& clusters_;
};

// Locks engines in a fixed order: the manager, then the workers.
class Dispatch {
 public:
  Dispatch(py::object manager, const py::list& clusters, const py::list& checks, const py::dict& options)
      : dispatcher_(WithNames(ReadDispatcher(options)), ReadCheckClusters(checks)) {
    engines_.push_back({std::move(manager), -1});
    for (const py::handle& item : clusters) {
      const auto fields = item.cast<py::tuple>();
      if (!fields[1].is_none())
        engines_.push_back({fields[1].cast<py::object>(), static_cast<int>(clusters_.size())});
      WorkerCluster cluster;
      cluster.name = fields[0].cast<std::string>();
      cluster.connected = !fields[1].is_none();
      clusters_.push_back(cluster);
    }
  }

  using Shared = std::pair<std::string, std::vector<std::string>>;
  // `jobs` are (workload, name of a StatusCopy, (name of a GroupRole, keys of the job's other workloads)).
  py::list LookAtAll(const std::vector<std::tuple<Serial, std::string, Shared>>& jobs) {
    return Do([&] {
      for (const auto& [serial, copy, shared] : jobs) {
        dispatcher_.SetJob(PlaceOf(manager_->state(), serial), Named(copy, StatusCopy::kAlways),
                           Named(shared.first, GroupRole::kAlone), shared.second);
      }
      dispatcher_.LookAtAll();
    });
  }
  py::list Collect() {
    return Do([this] { dispatcher_.CollectGarbage(); });
  }
  void SetConnected(int32_t cluster, bool connected) {
    Do([=] { dispatcher_.SetConnected(cluster, connected); });
  }
  void RefreshChecks() {
    Do([this] { dispatcher_.RefreshChecks(); });
  }
  // Clusters that are not known yet are added without an engine, and are never connected.
  void SetClusters(const std::vector<std::string>& names, const py::list& checks) {
    for (size_t i = clusters_.size(); i < names.size(); ++i) {
      WorkerCluster& added = clusters_.emplace_back();
      added.name = names[i];
      added.connected = false;
    }
    std::vector<CheckClusters> read = ReadCheckClusters(checks);
    Do([&] { dispatcher_.SetClusters(std::move(read)); });
  }
  void SetDeclared(const std::vector<bool>& declared) {
    Do([&] { dispatcher_.SetDeclared(declared); });
  }
  void Nominate(Serial serial, const std::vector<int32_t>& clusters) {
    Do([&] { dispatcher_.Nominate(PlaceOf(manager_->state(), serial), clusters); });
  }

  std::optional<DispatchView> StatusOf(Serial serial) {
    std::optional<DispatchView> status;
    Do([&] { status = dispatcher_.StatusOf(WorkloadOf(manager_->state(), serial)); });
    return status;
  }
  std::vector<CopyView> CopiesOf(Serial serial) {
    std::vector<CopyView> copies;
    Do([&] { copies = dispatcher_.CopiesOf(serial); });
    return copies;
  }

  // Returns a dispatcher with the same records for forks of these engines.
  std::unique_ptr<Dispatch> Fork(const py::object& manager, const py::list& workers) {
    auto twin = std::make_unique<Dispatch>(*this);
    size_t next = 0;
    for (Held& held : twin->engines_) {
      held.engine = held.cluster < 0 ? manager : workers[next++].cast<py::object>();
    }
    return twin;
  }

 private:
  struct Held {
    py::object engine;
    int cluster;  // -1 for the manager.
  };

  static DispatcherOptions WithNames(DispatcherOptions options) {
    options.finds_by_name = true;
    return options;
  }

  py::list Do(const std::function<void()>& use) {
    MoveList moves(clusters_);
    Nest(0, [&] {
      dispatcher_.Attach(manager_, &clusters_, &moves);
      use();
    });
    return std::move(moves.moves);
  }

  void Nest(size_t at, const std::function<void()>& use) {
    if (at == engines_.size()) return use();
    engines_[at].engine.cast<SharedEngine&>().Change([&](Engine& engine) {
      const int cluster = engines_[at].cluster;
      (cluster < 0 ? manager_ : clusters_[static_cast<size_t>(cluster)].engine) = &engine;
      Nest(at + 1, use);
    });
  }

  Dispatcher dispatcher_;
  std::vector<Held> engines_;
  std::vector<WorkerCluster> clusters_;
  Engine* manager_ = nullptr;
};

}  // namespace

void BindDispatch(py::module_& module) {
  py::class_<Dispatch>(module, "Dispatch")
      .def(py::init<py::object, const py::list&, const py::list&, const py::dict&>(), "manager"_a,
           "clusters"_a, "checks"_a, "options"_a)
      .def("look", &Dispatch::LookAtAll, "jobs"_a = py::tuple())
      .def("collect", &Dispatch::Collect)
      .def("set_connected", &Dispatch::SetConnected, "cluster"_a, "connected"_a)
      .def("refresh_checks", &Dispatch::RefreshChecks)
      .def("set_clusters", &Dispatch::SetClusters, "names"_a, "checks"_a)
      .def("set_declared", &Dispatch::SetDeclared, "declared"_a)
      .def("nominate", &Dispatch::Nominate, "id"_a, "clusters"_a)
      .def("status", &Dispatch::StatusOf, "id"_a)
      .def("copies", &Dispatch::CopiesOf, "id"_a)
      .def("fork", &Dispatch::Fork, "manager"_a, "workers"_a);
}

}  // namespace kueue::python
