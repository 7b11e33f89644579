// JSON as printed by kubectl.
#ifndef KUEUE_MANIFEST_JSON_H_
#define KUEUE_MANIFEST_JSON_H_

#include <cstring>
#include <string>

#include "absl/strings/string_view.h"
#include "manifest/fast_reader.h"
#include "manifest/plain.h"

namespace kueue {

template <typename Values>
bool FastReader<Values>::OpenJson() {
  value_ = values_.Map();
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
template <typename Values>
auto FastReader<Values>::JsonKey() -> Object {
  SkipSpace();
  Object key = JsonText();
  SkipSpace();
  Expect(':');
  SkipSpace();
  return key;
}

// Reads the pairs of the outermost object up to its end or to the first item of the list `items`.
template <typename Values>
void FastReader<Values>::ReadJsonPairs() {
  for (;;) {
    const Object key = JsonKey();
    if (Peek() == '[' && values_.Equals(key, "items")) {
      Put(value_, key, values_.List());  // Makes a second key `items` a duplicate.
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

template <typename Values>
bool FastReader<Values>::NextJsonItem() {
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
template <typename Values>
void FastReader<Values>::FinishJson() {
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
template <typename Values>
void FastReader<Values>::PassOverJson() {
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
template <typename Values>
void FastReader<Values>::PassOverJsonText() {
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

template <typename Values>
void FastReader<Values>::SkipSpace() {
  for (; !AtEnd(); ++at_) {
    if (*at_ == '\n') {
      ++line_;
    } else if (*at_ != ' ' && *at_ != '\t' && *at_ != '\r') {
      return;
    }
  }
}

template <typename Values>
void FastReader<Values>::Expect(char sign) {
  if (Peek() != sign) throw Unsupported();
  ++at_;
}

template <typename Values>
void FastReader<Values>::ExpectWord(absl::string_view word) {
  if (static_cast<size_t>(end_ - at_) < word.size()) throw Unsupported();
  if (std::memcmp(at_, word.data(), word.size()) != 0) throw Unsupported();
  at_ += word.size();
}

template <typename Values>
auto FastReader<Values>::JsonValue() -> Object {
  switch (Peek()) {
    case '{':
      return JsonObject();
    case '[':
      return JsonArray();
    case '"':
      return JsonText();
    case 't':
      ExpectWord("true");
      return values_.Bool(true);
    case 'f':
      ExpectWord("false");
      return values_.Bool(false);
    case 'n':
      ExpectWord("null");
      return values_.Null();
    default:
      return JsonNumber();
  }
}

template <typename Values>
auto FastReader<Values>::JsonObject() -> Object {
  const Deeper deeper(this);
  const Object object = values_.Map();
  ++at_;
  SkipSpace();
  if (Peek() == '}') {
    ++at_;
    return object;
  }
  for (;;) {
    const Object key = JsonKey();
    Put(object, key, JsonValueOf(key));
    SkipSpace();
    if (Peek() != ',') break;
    ++at_;
  }
  Expect('}');
  return object;
}

template <typename Values>
auto FastReader<Values>::JsonValueOf(const Object& key) -> Object {
  if (pod_sets_ > 0 && values_.Equals(key, "template")) return JsonTemplate();
  if (!values_.Equals(key, "podSets")) return JsonValue();
  ++pod_sets_;
  Object value = JsonValue();
  --pod_sets_;
  return value;
}

// Like Template().
template <typename Values>
auto FastReader<Values>::JsonTemplate() -> Object {
  const char* const start = at_;
  const size_t line = line_;
  PassOverJson();
  const Written written = WrittenAs(start, at_, 0);
  const auto known = templates_.find(written);
  if (known != templates_.end()) return known->second;
  at_ = start;
  line_ = line;
  Object value = JsonValue();
  if (templates_.size() < kMostTemplates) templates_.emplace(written, value);
  return value;
}

template <typename Values>
auto FastReader<Values>::JsonArray() -> Object {
  const Deeper deeper(this);
  Object array = values_.List();
  ++at_;
  SkipSpace();
  if (Peek() == ']') {
    ++at_;
    return array;
  }
  for (;;) {
    SkipSpace();
    values_.Append(array, JsonValue());
    SkipSpace();
    if (Peek() != ',') break;
    ++at_;
  }
  Expect(']');
  return array;
}

template <typename Values>
auto FastReader<Values>::JsonText() -> Object {
  Expect('"');
  const char* const start = at_;
  while (!AtEnd() && *at_ != '"' && *at_ != '\\' && static_cast<unsigned char>(*at_) >= 0x20) ++at_;
  if (Peek() == '"') {
    const absl::string_view text(start, static_cast<size_t>(at_++ - start));
    if (text.size() > longest_) throw Unsupported();
    return values_.Text(text, /*is_yaml=*/false);
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
  return values_.Text(text, /*is_yaml=*/false);
}

template <typename Values>
absl::string_view FastReader<Values>::Digits() {
  const char* const first = at_;
  while (!AtEnd() && *at_ >= '0' && *at_ <= '9') ++at_;
  if (at_ == first) throw Unsupported();
  return {first, static_cast<size_t>(at_ - first)};
}

template <typename Values>
auto FastReader<Values>::JsonNumber() -> Object {
  const char* const start = at_;
  if (Peek() == '-') ++at_;
  const absl::string_view whole = Digits();
  if (whole.size() > 1 && whole[0] == '0') throw Unsupported();
  const bool is_integer = PassFraction();
  const absl::string_view text(start, static_cast<size_t>(at_ - start));
  if (text.size() > longest_) throw Unsupported();
  if (!is_integer) return values_.Number(text);
  if (text != "0" && !IsSimpleInteger(text)) throw Unsupported();
  return values_.Scalar(text);
}

// Skips the fraction and the exponent of a number. Returns whether there are none.
template <typename Values>
bool FastReader<Values>::PassFraction() {
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

}  // namespace kueue

#endif  // KUEUE_MANIFEST_JSON_H_
