// The only file that includes pybind11. All other binding files include this header instead of pybind11.
#ifndef KUEUE_BINDINGS_PYBIND_H_
#define KUEUE_BINDINGS_PYBIND_H_

#include <pybind11/numpy.h>
#include <pybind11/operators.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <utility>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "bindings/errors.h"

namespace py = pybind11;

namespace pybind11::detail {

// A function that returns StatusOr<T> returns T in Python and raises an error status as an exception.
template <typename T>
struct type_caster<absl::StatusOr<T>> {
  static constexpr auto name = make_caster<T>::name;
  template <typename StatusOr>
  static handle cast(StatusOr&& result, return_value_policy policy, handle parent) {
    kueue::ThrowIfError(result.status());
    return make_caster<T>::cast(*std::forward<StatusOr>(result), policy, parent);
  }
};

// A function that returns Status returns None in Python and raises an error status as an exception.
template <>
struct type_caster<absl::Status> {
  static constexpr auto name = const_name("None");
  static handle cast(const absl::Status& status, return_value_policy, handle) {
    kueue::ThrowIfError(status);
    return none().release();
  }
};

#ifndef ABSL_USES_STD_STRING_VIEW
template <>
struct type_caster<absl::string_view> : string_caster<absl::string_view, true> {};
#endif

}  // namespace pybind11::detail

#endif  // KUEUE_BINDINGS_PYBIND_H_
