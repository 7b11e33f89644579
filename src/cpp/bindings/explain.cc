// Facts of an explanation as dicts, in which ids are replaced by names. Amounts are integers in the core's
// unit; an absent limit is None.
#include "questions/explain.h"

#include "bindings/method.h"
#include "bindings/read.h"
#include "bindings/records.h"
#include "objects/fields.h"
#include "questions/ask.h"
#include "questions/tree.h"

namespace kueue::python {
namespace {

// While a Naming exists, the records that this thread converts contain ids of its state.
thread_local const State* named_state = nullptr;

class Naming {
 public:
  explicit Naming(const State& state) : before_(named_state) { named_state = &state; }
  ~Naming() { named_state = before_; }
  Naming(const Naming&) = delete;
  Naming& operator=(const Naming&) = delete;

 private:
  const State* before_;
};

template <typename Names, typename Id>
py::object NameOrEmpty(const Names& names, Id id) {
  return py::str(id == kNoId ? std::string() : names.Name(id));
}

// An id becomes a name, or an empty string for kNoId. An unlimited amount becomes None.
py::object View(const State& state, NodeId node) { return NameOrEmpty(state.forest(), node); }
py::object View(const State& state, FlavorId flavor) { return NameOrEmpty(state.flavor_names, flavor); }
py::object View(const State& state, ResourceId resource) {
  return NameOrEmpty(state.resource_names, resource);
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
py::object View(const State& state, const Refusal& refusal) { return py::cast(ViewRefusal(state, refusal)); }
py::object View(const State& state, const PlaceFacts& facts) { return py::cast(ViewPlace(state, facts)); }
py::object View(const State& state, const std::vector<FlavorResourceAmount>& amounts) {
  py::dict view;
  for (const auto& [fr, amount] : amounts) view[View(state, fr)] = View(state, amount);
  return std::move(view);
}

// Converts a value with View().
template <typename T>
py::handle CastNamed(const T& value) {
  if (named_state == nullptr) ThrowIfError(absl::InternalError("the names of an id are unknown"));
  return View(*named_state, value).release();
}

template <typename T, typename... Types>
constexpr bool kIsOneOf = (std::is_same_v<T, Types> || ...);
template <typename T>
constexpr bool kIsNamed = kIsOneOf<T, NodeId, FlavorId, ResourceId, WorkloadId, FlavorResourceId, Reason,
                                   Amount, Requests, Refusal, PlaceFacts>;

}  // namespace
}  // namespace kueue::python

namespace pybind11::detail {

template <>
struct type_caster_enum_type_enabled<kueue::Reason> : std::false_type {};

template <typename T>
struct type_caster<T, std::enable_if_t<kueue::python::kIsNamed<T>>> {
  static constexpr auto name = const_name("object");
  static handle cast(const T& value, return_value_policy, handle) { return kueue::python::CastNamed(value); }
};

// pybind11 has a conversion of vectors, so this is a full specialization.
template <>
struct type_caster<std::vector<kueue::FlavorResourceAmount>> {
  static constexpr auto name = const_name("dict");
  static handle cast(const std::vector<kueue::FlavorResourceAmount>& value, return_value_policy, handle) {
    return kueue::python::CastNamed(value);
  }
};

}  // namespace pybind11::detail

namespace kueue::python {
namespace {

// Converts the facts while all ids in them are valid.
py::object ExplainWorkload(SharedEngine& shared, Serial serial) {
  py::object view;
  const py::gil_scoped_release release;
  shared.Change([&](Engine& engine) {
    State& state = engine.state();
    const WorkloadId id = PlaceOf(state, serial);
    const TemporaryClass cls(state, id);
    const FactsView facts = Explain(state, id);
    const py::gil_scoped_acquire acquire;
    const Naming naming(state);
    view = py::cast(facts);
  });
  return view;
}

py::object AllShares(SharedEngine& shared) {
  return shared.Write([](Engine& engine) {
    const Naming naming(engine.state());
    return py::cast(ExplainAllShares(engine.state()));
  });
}

std::optional<DomainPods> CountPods(SharedEngine& shared, const std::string& flavor,
                                    const py::dict& requests) {
  const ResourceList asked = ReadResources(ValueOf(requests), "requests");
  return shared.Write([&](Engine& engine) { return PodsInDomains(engine.state(), flavor, asked); });
}

}  // namespace

void BindExplain(py::module_& module) {
  AddMethod(module, "explain", &ExplainWorkload, py::arg("id"));
  AddMethod(module, "share_facts", &AllShares);
  AddMethod(module, "topology_tree", Writing(&TreeOf), py::arg("flavor"));
  AddMethod(module, "pods_in_domains", &CountPods, py::arg("flavor"), py::arg("requests"));
}

}  // namespace kueue::python
