#include "workload/totals.h"

#include "bindings/read.h"
#include "workload/shape.h"

namespace kueue::python {
namespace {

using namespace py::literals;

PodTemplate ReadAdjusted(const py::dict& pod_template, const std::string& path,
                         const py::iterable& runtime_classes,
                         const std::map<std::string, LimitRange>& limit_ranges) {
  std::map<std::string, RuntimeClass> classes;
  for (const py::handle object : runtime_classes) classes[TextOf(object, "name")] = ReadRuntimeClass(object);
  return Adjust(ReadPodTemplate(pod_template, path), classes, limit_ranges);
}

std::map<std::string, LimitRange> ReadLimitRanges(const py::iterable& objects) {
  std::map<std::string, LimitRange> limit_ranges;
  for (const py::handle object : objects) limit_ranges[TextOf(object, "name")] = ReadLimitRange(object);
  return limit_ranges;
}

py::dict PodRequestsOf(const py::dict& pod_template, const py::iterable& runtime_classes,
                       const py::iterable& limit_ranges, const py::object& configuration) {
  const PodTemplate pod =
      ReadAdjusted(pod_template, "template", runtime_classes, ReadLimitRanges(limit_ranges));
  py::dict requests;
  for (const auto& [name, value] : PerPodRequests(pod, ReadRequestsConfig(configuration))) {
    requests[py::str(name)] = value;
  }
  return requests;
}

py::tuple PodErrors(const py::dict& pod_template, const std::string& path,
                    const py::iterable& runtime_classes, const py::iterable& limit_ranges) {
  const std::map<std::string, LimitRange> ranges = ReadLimitRanges(limit_ranges);
  const PodTemplate pod = ReadAdjusted(pod_template, path, runtime_classes, ranges);
  const std::string spec = path + ".spec";
  return py::make_tuple(ValidateResources(pod, spec), ValidateLimitRanges(pod, spec, ranges));
}

py::bytes PodShape(const py::dict& pod_template, const py::iterable& runtime_classes,
                   const py::iterable& limit_ranges) {
  return SpecShape(ReadAdjusted(pod_template, "template", runtime_classes, ReadLimitRanges(limit_ranges)));
}

}  // namespace

void BindTotals(py::module_& module) {
  const py::tuple none;
  module.def("pod_requests", &PodRequestsOf, "template"_a, py::kw_only(), "runtime_classes"_a = none,
             "limit_ranges"_a = none, "configuration"_a = py::none());
  module.def("pod_errors", &PodErrors, "template"_a, py::kw_only(), "path"_a = "template",
             "runtime_classes"_a = none, "limit_ranges"_a = none);
  module.def("pod_shape", &PodShape, "template"_a, py::kw_only(), "runtime_classes"_a = none,
             "limit_ranges"_a = none);
}

}  // namespace kueue::python
