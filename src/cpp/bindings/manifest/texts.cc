#include "bindings/manifest/texts.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/hash/hash.h"
#include "absl/strings/numbers.h"

namespace kueue::python {
namespace {

constexpr size_t kMostDigits = 18;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool StartsNumber(char c) { return IsDigit(c) || c == '+' || c == '-' || c == '.'; }

bool IsSign(char c) { return c == '+' || c == '-'; }

bool IsOneOf(char c, const char* set, size_t size) { return std::memchr(set, c, size) != nullptr; }

// Returns whether a text that starts like a number may be a number in any notation.
bool MayBeNumber(absl::string_view text) {
  if (text.find('_') != absl::string_view::npos) return true;
  if (IsSign(text[0])) text.remove_prefix(1);
  if (text.size() == 4 && text[0] == '.' && IsOneOf(text[1], "iInN", 4)) return true;  // .inf or .nan
  if (text.size() > 1 && text[0] == '0' && IsOneOf(text[1], "xXoObB", 6)) return true;
  for (size_t i = 0; i < text.size(); ++i) {
    if (IsDigit(text[i]) || IsOneOf(text[i], ".eE", 3)) continue;
    if (!IsSign(text[i]) || i == 0 || !IsOneOf(text[i - 1], "eE", 2)) return false;
  }
  return true;
}

// Returns the value of a word in kueuepy/manifest/text/scalars.py:WORDS.
py::object Word(absl::string_view text) {
  constexpr size_t kLongestWord = 5;
  if (text.size() > kLongestWord || std::memchr("yYnNtTfFoO~", text[0], 11) == nullptr) return {};
  for (const char* word : {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"}) {
    if (text == word) return py::bool_(true);
  }
  for (const char* word : {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"}) {
    if (text == word) return py::bool_(false);
  }
  for (const char* word : {"~", "null", "Null", "NULL"}) {
    if (text == word) return py::none();
  }
  return {};
}

bool IsAscii(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// Returns whether the text contains characters that break lines in YAML or are not allowed in it: U+0080 to
// U+009F, U+2028, U+2029, U+FEFF, U+FFFE, U+FFFF.
bool HasUnsupportedCharacters(absl::string_view text) {
  const auto at = [&text](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_control = at(i) == 0xC2 && at(i + 1) < 0xA0;
    const bool is_break = at(i) == 0xE2 && at(i + 1) == 0x80 && (at(i + 2) == 0xA8 || at(i + 2) == 0xA9);
    const bool is_mark = at(i) == 0xEF && at(i + 1) == 0xBB && at(i + 2) == 0xBF;
    const bool is_nothing = at(i) == 0xEF && at(i + 1) == 0xBF && at(i + 2) >= 0xBE;
    if (is_control || is_break || is_mark || is_nothing) return true;
  }
  return false;
}

py::object Steal(PyObject* object) {
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

py::object AsciiText(absl::string_view text) {
  py::object made = Steal(PyUnicode_New(static_cast<Py_ssize_t>(text.size()), 127));
  std::memcpy(PyUnicode_1BYTE_DATA(made.ptr()), text.data(), text.size());
  return made;
}

bool Equals(const py::object& known, absl::string_view text) {
  return static_cast<size_t>(PyUnicode_GET_LENGTH(known.ptr())) == text.size() &&
         std::memcmp(PyUnicode_1BYTE_DATA(known.ptr()), text.data(), text.size()) == 0;
}

}  // namespace

bool IsSimpleInteger(absl::string_view text) {
  if (!text.empty() && text[0] == '-') text.remove_prefix(1);
  if (text.empty() || text.size() > kMostDigits || !std::all_of(text.begin(), text.end(), IsDigit))
    return false;
  return text[0] != '0';
}

py::object Texts::Text(absl::string_view text, bool is_yaml) {
  if (!IsAscii(text)) {
    if (is_yaml && HasUnsupportedCharacters(text)) throw Unsupported();
    return Steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), nullptr));
  }
  if (text.size() > kLongest || text.empty()) return AsciiText(text);
  py::object& known = known_[absl::Hash<absl::string_view>()(text) % kSlots];
  if (!known || !Equals(known, text)) known = AsciiText(text);
  return known;
}

py::object Texts::Scalar(absl::string_view text) {
  if (!StartsNumber(text[0])) {
    py::object word = Word(text);
    return word ? word : Text(text);
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

py::object Texts::Key(absl::string_view text) {
  py::object& known = keys_[absl::Hash<absl::string_view>()(text) % kSlots];
  if (known && Equals(known, text)) return known;
  if (text.empty() || Word(text) || (StartsNumber(text[0]) && MayBeNumber(text))) throw Unsupported();
  py::object key = Text(text);
  if (text.size() <= kLongest) known = key;
  return key;
}

}  // namespace kueue::python
