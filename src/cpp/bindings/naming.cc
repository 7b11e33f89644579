#include "bindings/naming.h"

#include <optional>
#include <string>
#include <tuple>

#include "bindings/records.h"
#include "text/text.h"

namespace kueue::python {

thread_local const State* Naming::current_ = nullptr;

const State& Naming::state() {
  if (current_ == nullptr) ThrowIfError(absl::InternalError("the names of an id are unknown"));
  return *current_;
}

py::object View(const State& state, NodeId node) {
  return py::str(node == kNoId ? std::string() : state.forest().Name(node));
}
py::object View(const State& state, FlavorId flavor) {
  return py::str(flavor == kNoId ? std::string() : state.flavor_names.Name(flavor));
}
py::object View(const State& state, ResourceId resource) {
  return py::str(resource == kNoId ? std::string() : state.resource_names.Name(resource));
}
py::object View(const State& state, WorkloadId workload) {
  return py::str(workload == kNoId ? std::string() : state.At(workload).Key());
}
py::object View(const State& state, FlavorResourceId fr) {
  const auto& [flavor, resource] = state.flavor_resources[fr];
  return py::make_tuple(View(state, flavor), View(state, resource));
}
py::object View(const State& state, Reason reason) { return py::str(state.reasons.Name(reason)); }
py::object View(const State&, Amount amount) {
  return amount.IsUnlimited() ? py::object(py::none()) : py::object(py::int_(amount.value()));
}
py::object View(const State& state, const Requests& requests) {
  py::dict view;
  for (const auto& [resource, amount] : requests) view[View(state, resource)] = amount;
  return std::move(view);
}
py::object View(const State& state, const Refusal& refusal) {
  RefusalView view{refusal.kind, Render(state, refusal), std::nullopt};
  if (refusal.kind == RefusalKind::kUntoleratedTaint) {
    view.taint = {refusal.taint().key, refusal.taint().value, refusal.taint().effect};
  }
  return py::cast(view);
}
py::object View(const State& state, const PlaceFacts& facts) { return py::cast(ViewPlace(state, facts)); }
py::object View(const State& state, const std::vector<FlavorResourceAmount>& amounts) {
  py::dict view;
  for (const auto& [fr, amount] : amounts) view[View(state, fr)] = View(state, amount);
  return std::move(view);
}

}  // namespace kueue::python
