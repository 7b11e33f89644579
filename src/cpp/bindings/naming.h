// Names of the ids in a record. Ids are converted to names of the state for which a Naming exists.
#ifndef KUEUE_BINDINGS_NAMING_H_
#define KUEUE_BINDINGS_NAMING_H_

#include <type_traits>

#include "bindings/pybind.h"
#include "questions/explain.h"
#include "questions/places.h"
#include "state/state.h"

namespace kueue::python {

// The records that this thread converts while a Naming exists contain ids of its state.
class Naming {
 public:
  explicit Naming(const State& state) : before_(current_) { current_ = &state; }
  ~Naming() { current_ = before_; }
  Naming(const Naming&) = delete;
  Naming& operator=(const Naming&) = delete;

  // Raises InternalError if there is no Naming.
  static const State& state();

 private:
  static thread_local const State* current_;
  const State* before_;
};

// An id becomes a name, or an empty string for kNoId. An unlimited amount becomes None.
py::object View(const State& state, NodeId node);
py::object View(const State& state, FlavorId flavor);
py::object View(const State& state, ResourceId resource);
py::object View(const State& state, WorkloadId workload);
py::object View(const State& state, FlavorResourceId fr);  // A tuple (flavor, resource).
py::object View(const State& state, Reason reason);
py::object View(const State& state, Amount amount);
py::object View(const State& state, const Requests& requests);  // A dict by resource.
py::object View(const State& state, const Refusal& refusal);
py::object View(const State& state, const PlaceFacts& facts);
// A dict by (flavor, resource).
py::object View(const State& state, const std::vector<FlavorResourceAmount>& amounts);

template <typename T, typename... Types>
constexpr bool kIsOneOf = (std::is_same_v<T, Types> || ...);
// Whether View() converts the type. pybind11 has a conversion of vectors, so their type_caster is a full
// specialization below.
template <typename T>
constexpr bool kIsNamed = kIsOneOf<T, NodeId, FlavorId, ResourceId, WorkloadId, FlavorResourceId, Reason,
                                   Amount, Requests, Refusal, PlaceFacts>;

}  // namespace kueue::python

namespace pybind11::detail {

template <>
struct type_caster_enum_type_enabled<kueue::Reason> : std::false_type {};

template <typename T>
struct type_caster<T, std::enable_if_t<kueue::python::kIsNamed<T>>> {
  static constexpr auto name = const_name("object");
  static handle cast(const T& value, return_value_policy, handle) {
    return kueue::python::View(kueue::python::Naming::state(), value).release();
  }
};

template <>
struct type_caster<std::vector<kueue::FlavorResourceAmount>> {
  static constexpr auto name = const_name("dict");
  static handle cast(const std::vector<kueue::FlavorResourceAmount>& value, return_value_policy, handle) {
    return kueue::python::View(kueue::python::Naming::state(), value).release();
  }
};

}  // namespace pybind11::detail

#endif  // KUEUE_BINDINGS_NAMING_H_
