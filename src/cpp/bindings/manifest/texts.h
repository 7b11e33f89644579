// Cache of Python strings for the keys and values of a manifest. Most keys and values occur repeatedly in a
// manifest.
#ifndef KUEUE_BINDINGS_MANIFEST_TEXTS_H_
#define KUEUE_BINDINGS_MANIFEST_TEXTS_H_

#include <vector>

#include "bindings/pybind.h"

namespace kueue::python {

// Exception that is thrown if the exact parser must parse the text. The exception does not imply that the
// text is invalid.
struct Unsupported {};

class Texts {
 public:
  // `resolve` is the Python function kueuepy.manifest.text.scalars.resolve, which is called for scalars that
  // may be numbers.
  explicit Texts(py::function resolve) : resolve_(std::move(resolve)), known_(kSlots), keys_(kSlots) {}

  // Returns the text as a Python string. Throws Unsupported if `is_yaml` is set and the text contains
  // characters that YAML does not allow unescaped.
  py::object Text(absl::string_view text, bool is_yaml = true);
  // Returns the Python value of a plain YAML scalar (kueuepy/manifest/text/scalars.py:resolve).
  py::object Scalar(absl::string_view text);
  // Returns the Python string for a key that is written as an ASCII plain scalar. Throws Unsupported for
  // numbers and for words that YAML does not read as strings, such as `true`.
  py::object Key(absl::string_view text);
  // Returns the Python value of a JSON number with a fraction or an exponent.
  py::object Number(absl::string_view text) { return resolve_(Text(text)); }

 private:
  static constexpr size_t kSlots = 1 << 13;
  static constexpr size_t kLongest = 64;

  py::function resolve_;
  std::vector<py::object> known_, keys_;
};

// Returns true if the text is a decimal integer that fits in int64 and has no leading zeros; a minus sign is
// allowed.
bool IsSimpleInteger(absl::string_view text);

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_MANIFEST_TEXTS_H_
