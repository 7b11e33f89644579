#include "bindings/manifest/values.h"

#include <cmath>
#include <cstring>

#include "absl/hash/hash.h"
#include "absl/strings/numbers.h"
#include "manifest/fast_reader.h"
#include "manifest/plain.h"

namespace kueue::python {
namespace {

py::object Steal(PyObject* object) {
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

py::object AsciiText(absl::string_view text) {
  py::object made = Steal(PyUnicode_New(static_cast<Py_ssize_t>(text.size()), 127));
  std::memcpy(PyUnicode_1BYTE_DATA(made.ptr()), text.data(), text.size());
  return made;
}

bool IsText(const py::object& known, absl::string_view text) {
  return static_cast<size_t>(PyUnicode_GET_LENGTH(known.ptr())) == text.size() &&
         std::memcmp(PyUnicode_1BYTE_DATA(known.ptr()), text.data(), text.size()) == 0;
}

}  // namespace

void PythonValues::Append(const Object& list, const Object& item) const {
  if (PyList_Append(list.ptr(), item.ptr()) != 0) throw py::error_already_set();
}

bool PythonValues::Add(const Object& map, const Object& key, const Object& value) const {
  const Py_ssize_t before = PyDict_GET_SIZE(map.ptr());
  if (PyDict_SetItem(map.ptr(), key.ptr(), value.ptr()) != 0) throw py::error_already_set();
  return PyDict_GET_SIZE(map.ptr()) != before;
}

py::object PythonValues::Text(absl::string_view text, bool is_yaml) {
  if (!IsAscii(text)) {
    if (is_yaml && HasUnsupportedCharacters(text)) throw Unsupported();
    return Steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), nullptr));
  }
  if (text.size() > kLongest || text.empty()) return AsciiText(text);
  py::object& known = known_[absl::Hash<absl::string_view>()(text) % kSlots];
  if (!known || !IsText(known, text)) known = AsciiText(text);
  return known;
}

py::object PythonValues::Scalar(absl::string_view text) {
  if (!StartsNumber(text[0])) {
    switch (WordOf(text)) {
      case PlainWord::kTrue:
        return Bool(true);
      case PlainWord::kFalse:
        return Bool(false);
      case PlainWord::kNull:
        return Null();
      case PlainWord::kNone:
        return Text(text);
    }
  }
  int64_t integer = 0;
  if (text == "0" || IsSimpleInteger(text)) {
    if (!absl::SimpleAtoi(text, &integer)) throw Unsupported();
    return py::int_(integer);
  }
  if (!MayBeNumber(text)) return Text(text);
  py::object value = resolve_(Text(text));
  if (PyFloat_Check(value.ptr()) && !std::isfinite(PyFloat_AS_DOUBLE(value.ptr()))) throw Unsupported();
  return value;
}

py::object PythonValues::Key(absl::string_view text) {
  py::object& known = keys_[absl::Hash<absl::string_view>()(text) % kSlots];
  if (known && IsText(known, text)) return known;
  if (text.empty() || WordOf(text) != PlainWord::kNone || (StartsNumber(text[0]) && MayBeNumber(text)))
    throw Unsupported();
  py::object key = Text(text);
  if (text.size() <= kLongest) known = key;
  return key;
}

}  // namespace kueue::python
