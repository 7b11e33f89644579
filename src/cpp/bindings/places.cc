// Questions about the topology of a flavor.
#include "bindings/method.h"
#include "bindings/read.h"
#include "bindings/records.h"
#include "questions/tree.h"

namespace kueue::python {
namespace {

std::optional<std::pair<std::vector<int32_t>, std::vector<int32_t>>> CountPods(SharedEngine& shared,
                                                                               const std::string& flavor,
                                                                               const py::dict& requests) {
  const ResourceList asked = ReadResources(requests, "requests");
  return shared.Write([&](Engine& engine) { return PodsInDomains(engine.state(), flavor, asked); });
}

}  // namespace

void BindPlaces(py::module_& module) {
  AddMethod(module, "topology_tree", Writing(&TreeOf), py::arg("flavor"));
  AddMethod(module, "pods_in_domains", &CountPods, py::arg("flavor"), py::arg("requests"));
}

}  // namespace kueue::python
