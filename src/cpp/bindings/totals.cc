#include "workload/totals.h"

#include "bindings/read.h"
#include "objects/cluster.h"
#include "objects/configuration.h"
#include "objects/fields.h"
#include "objects/pod_template.h"

namespace kueue::python {
namespace {

py::dict PodRequestsOf(const py::dict& pod_template, const py::handle& runtime_classes,
                       const py::handle& limit_ranges, const py::handle& configuration) {
  const PodTemplate pod = Adjust(ReadPodTemplate(ValueOf(pod_template), "template"),
                                 ReadByName(ValueOf(runtime_classes), &ReadRuntimeClass),
                                 ReadByName(ValueOf(limit_ranges), &ReadLimitRange));
  py::dict requests;
  for (const auto& [name, value] : PerPodRequests(pod, ReadRequestsConfig(ValueOf(configuration)))) {
    requests[py::str(name)] = value;
  }
  return requests;
}

}  // namespace

void BindTotals(py::module_& module) {
  const py::tuple none;
  module.def("pod_requests", &PodRequestsOf, py::arg("template"), py::kw_only(),
             py::arg("runtime_classes") = none, py::arg("limit_ranges") = none,
             py::arg("configuration") = py::none());
}

}  // namespace kueue::python
