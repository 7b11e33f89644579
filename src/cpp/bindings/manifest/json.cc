// JSON as printed by kubectl.
#include <cstring>

#include "absl/strings/string_view.h"
#include "bindings/manifest/fast_reader.h"

namespace kueue::python {

bool FastReader::OpenJson() {
  value_ = py::dict();
  SkipSpace();
  Expect('{');
  SkipSpace();
  if (Peek() == '}') {
    ++at_;
  } else {
    ReadJsonPairs();
    if (in_list_) return true;
  }
  SkipSpace();
  if (!AtEnd()) throw Unsupported();
  return false;
}

// Reads a key and moves to its value.
py::object FastReader::JsonKey() {
  SkipSpace();
  py::object key = JsonText();
  SkipSpace();
  Expect(':');
  SkipSpace();
  return key;
}

// Reads the pairs of the outermost object up to its end or to the first item of the list `items`.
void FastReader::ReadJsonPairs() {
  for (;;) {
    const py::object key = JsonKey();
    if (Peek() == '[' && PyUnicode_CompareWithASCIIString(key.ptr(), "items") == 0) {
      Put(value_, key, py::list());  // Makes a second key `items` a duplicate.
      ++at_;
      in_list_ = true;
      return;
    }
    Put(value_, key, JsonValue());
    SkipSpace();
    if (Peek() != ',') break;
    ++at_;
  }
  Expect('}');
}

bool FastReader::NextJsonItem() {
  SkipSpace();
  if (Peek() != ']') {
    if (!is_first_) Expect(',');
    is_first_ = false;
    SkipSpace();
    return true;
  }
  ++at_;
  in_list_ = false;
  FinishJson();
  return false;
}

// Reads the rest of the text after the list of items.
void FastReader::FinishJson() {
  SkipSpace();
  if (Peek() == ',') {
    ++at_;
    ReadJsonPairs();
    if (in_list_) throw Unsupported();
  } else {
    Expect('}');
  }
  SkipSpace();
  if (!AtEnd()) throw Unsupported();
}

// Skips a value by matching brackets and quotes.
void FastReader::PassOverJson() {
  size_t open = 0;
  for (; !AtEnd(); ++at_) {
    const char c = *at_;
    if (c == ' ') continue;
    if (c == '\n') {
      ++line_;
    } else if (c == '"') {
      PassOverJsonText();
    } else if (c == '{' || c == '[') {
      ++open;
    } else if (c == '}' || c == ']') {
      if (open == 0) return;
      if (--open == 0) {
        ++at_;
        return;
      }
    } else if (c == ',' && open == 0) {
      return;
    }
  }
  throw Unsupported();
}

// Moves from the opening quote of a string to the character after its closing quote.
void FastReader::PassOverJsonText() {
  for (;;) {
    const char* const from = at_ + 1;
    const void* const found = std::memchr(from, '"', static_cast<size_t>(end_ - from));
    if (found == nullptr) throw Unsupported();
    at_ = static_cast<const char*>(found);
    const char* slash = at_;
    while (slash != from && slash[-1] == '\\') --slash;
    if ((at_ - slash) % 2 == 0) return;
  }
}

void FastReader::SkipSpace() {
  for (; !AtEnd(); ++at_) {
    if (*at_ == '\n') {
      ++line_;
    } else if (*at_ != ' ' && *at_ != '\t' && *at_ != '\r') {
      return;
    }
  }
}

void FastReader::Expect(char sign) {
  if (Peek() != sign) throw Unsupported();
  ++at_;
}

void FastReader::ExpectWord(absl::string_view word) {
  if (static_cast<size_t>(end_ - at_) < word.size()) throw Unsupported();
  if (std::memcmp(at_, word.data(), word.size()) != 0) throw Unsupported();
  at_ += word.size();
}

py::object FastReader::JsonValue() {
  switch (Peek()) {
    case '{':
      return JsonObject();
    case '[':
      return JsonArray();
    case '"':
      return JsonText();
    case 't':
      ExpectWord("true");
      return py::bool_(true);
    case 'f':
      ExpectWord("false");
      return py::bool_(false);
    case 'n':
      ExpectWord("null");
      return py::none();
    default:
      return JsonNumber();
  }
}

py::object FastReader::JsonObject() {
  const Deeper deeper(this);
  const py::object object = py::dict();
  ++at_;
  SkipSpace();
  if (Peek() == '}') {
    ++at_;
    return object;
  }
  for (;;) {
    const py::object key = JsonKey();
    Put(object, key, JsonValueOf(key));
    SkipSpace();
    if (Peek() != ',') break;
    ++at_;
  }
  Expect('}');
  return object;
}

py::object FastReader::JsonValueOf(const py::object& key) {
  if (pod_sets_ > 0 && PyUnicode_CompareWithASCIIString(key.ptr(), "template") == 0) return JsonTemplate();
  if (PyUnicode_CompareWithASCIIString(key.ptr(), "podSets") != 0) return JsonValue();
  ++pod_sets_;
  py::object value = JsonValue();
  --pod_sets_;
  return value;
}

// Like Template().
py::object FastReader::JsonTemplate() {
  const char* const start = at_;
  const size_t line = line_;
  PassOverJson();
  const Written written = WrittenAs(start, at_, 0);
  const auto known = templates_.find(written);
  if (known != templates_.end()) return known->second;
  at_ = start;
  line_ = line;
  py::object value = JsonValue();
  if (templates_.size() < kMostTemplates) templates_.emplace(written, value);
  return value;
}

py::object FastReader::JsonArray() {
  const Deeper deeper(this);
  py::list array;
  ++at_;
  SkipSpace();
  if (Peek() == ']') {
    ++at_;
    return std::move(array);
  }
  for (;;) {
    SkipSpace();
    array.append(JsonValue());
    SkipSpace();
    if (Peek() != ',') break;
    ++at_;
  }
  Expect(']');
  return std::move(array);
}

py::object FastReader::JsonText() {
  Expect('"');
  const char* const start = at_;
  while (!AtEnd() && *at_ != '"' && *at_ != '\\' && static_cast<unsigned char>(*at_) >= 0x20) ++at_;
  if (Peek() == '"') {
    const absl::string_view text(start, static_cast<size_t>(at_++ - start));
    if (text.size() > longest_) throw Unsupported();
    return texts_.Text(text, /*is_yaml=*/false);
  }
  std::string text(start, at_);
  while (Peek() == '\\') {
    if (Peek(1) == '\0' || std::strchr("\"\\/bfnrtu", Peek(1)) == nullptr) throw Unsupported();
    Unescape(&text);
    const char* const from = ++at_;
    while (!AtEnd() && *at_ != '"' && *at_ != '\\' && static_cast<unsigned char>(*at_) >= 0x20) ++at_;
    text.append(from, at_);
  }
  if (text.size() > longest_) throw Unsupported();
  Expect('"');
  return texts_.Text(text, /*is_yaml=*/false);
}

absl::string_view FastReader::Digits() {
  const char* const first = at_;
  while (!AtEnd() && *at_ >= '0' && *at_ <= '9') ++at_;
  if (at_ == first) throw Unsupported();
  return {first, static_cast<size_t>(at_ - first)};
}

py::object FastReader::JsonNumber() {
  const char* const start = at_;
  if (Peek() == '-') ++at_;
  const absl::string_view whole = Digits();
  if (whole.size() > 1 && whole[0] == '0') throw Unsupported();
  const bool is_integer = PassFraction();
  const absl::string_view text(start, static_cast<size_t>(at_ - start));
  if (text.size() > longest_) throw Unsupported();
  if (!is_integer) return texts_.Number(text);
  if (text != "0" && !IsSimpleInteger(text)) throw Unsupported();
  return texts_.Scalar(text);
}

// Skips the fraction and the exponent of a number. Returns whether there are none.
bool FastReader::PassFraction() {
  const char* const start = at_;
  if (Peek() == '.') {
    ++at_;
    Digits();
  }
  if (Peek() == 'e' || Peek() == 'E') {
    ++at_;
    if (Peek() == '+' || Peek() == '-') ++at_;
    Digits();
  }
  return at_ == start;
}

}  // namespace kueue::python
