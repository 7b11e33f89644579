// Texts of a manifest as Python objects: most of them come again and again.
#ifndef KUEUE_BINDINGS_MANIFEST_TEXTS_H_
#define KUEUE_BINDINGS_MANIFEST_TEXTS_H_

#include <vector>

#include "bindings/pybind.h"

namespace kueue::python {

// Raised where the exact reader must be asked; nothing is wrong with the text for that.
struct Unsupported {};

class Texts {
 public:
  // `resolve` is kueuepy.manifest.text.scalars.resolve, for what may be a number of whatever kind.
  explicit Texts(py::function resolve) : resolve_(std::move(resolve)), known_(kSlots), keys_(kSlots) {}

  // The text itself. Raises Unsupported where it has characters that may not stand for themselves in YAML, if
  // it is that.
  py::object Text(absl::string_view text, bool is_yaml = true);
  // What a plain scalar means (kueuepy/manifest/text/scalars.py:resolve).
  py::object Scalar(absl::string_view text);
  // The key that a plain scalar of ASCII makes. Raises Unsupported for a number or a word that is no text.
  py::object Key(absl::string_view text);
  // A number of JSON with a fraction or an exponent.
  py::object Number(absl::string_view text) { return resolve_(Text(text)); }

 private:
  static constexpr size_t kSlots = 1 << 13;
  static constexpr size_t kLongest = 64;

  py::function resolve_;
  std::vector<py::object> known_, keys_;
};

// Whether a text is digits that an int64 holds, with no sign but minus and no leading 0.
bool IsSimpleInteger(absl::string_view text);

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_MANIFEST_TEXTS_H_
