// Python values of a manifest.
#ifndef KUEUE_BINDINGS_MANIFEST_VALUES_H_
#define KUEUE_BINDINGS_MANIFEST_VALUES_H_

#include <utility>
#include <vector>

#include "bindings/pybind.h"

namespace kueue::python {

// Creates the values for a FastReader. Texts are cached, because most keys and values occur repeatedly in a
// manifest.
class PythonValues {
 public:
  using Object = py::object;
  // `resolve` is the Python function kueuepy.manifest.text.scalars.resolve, which is called for scalars that
  // may be numbers.
  explicit PythonValues(py::function resolve) : resolve_(std::move(resolve)), known_(kSlots), keys_(kSlots) {}

  Object Null() const { return py::none(); }
  Object Bool(bool value) const { return py::bool_(value); }
  Object Map() const { return py::dict(); }
  Object List() const { return py::list(); }
  void Append(const Object& list, const Object& item) const;
  // Returns whether the key is new.
  bool Add(const Object& map, const Object& key, const Object& value) const;
  bool Equals(const Object& text, const char* expected) const {
    return PyUnicode_CompareWithASCIIString(text.ptr(), expected) == 0;
  }

  // Throws Unsupported if `is_yaml` is set and the text contains characters that YAML does not allow
  // unescaped.
  Object Text(absl::string_view text, bool is_yaml = true);
  // Returns the value of a plain YAML scalar (kueuepy/manifest/text/scalars.py:resolve).
  Object Scalar(absl::string_view text);
  // Returns the key that is written as an ASCII plain scalar. Throws Unsupported for numbers and for words
  // that YAML does not read as strings, such as `true`.
  Object Key(absl::string_view text);
  // Returns the value of a JSON number with a fraction or an exponent.
  Object Number(absl::string_view text) { return resolve_(Text(text)); }

 private:
  static constexpr size_t kSlots = 1 << 13;
  static constexpr size_t kLongest = 64;

  py::function resolve_;
  std::vector<py::object> known_, keys_;
};

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_MANIFEST_VALUES_H_
