// Documents, lists of items, and YAML collections.
#ifndef KUEUE_MANIFEST_BLOCKS_H_
#define KUEUE_MANIFEST_BLOCKS_H_

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "manifest/fast_reader.h"

namespace kueue {

template <typename Values>
FastReader<Values>::FastReader(const Span& span, const Bounds& bounds, Values values)
    : begin_(span.text.data()),
      end_(begin_ + span.stop),
      at_(begin_ + span.start),
      line_(span.line),
      most_deep_(bounds.most_deep),
      longest_(bounds.longest),
      values_(std::move(values)),
      value_(values_.Null()) {
  const char* first = at_;
  while (first != end_ && (*first == ' ' || *first == '\n')) ++first;
  is_json_ = first != end_ && *first == '{';
}

template <typename Values>
bool FastReader<Values>::Open() {
  if (is_json_) return OpenJson();
  FindContent();
  if (indent_ < 0) return false;
  if (indent_ > 0 || IsDash() || !IsKey()) {
    value_ = Node(indent_);
    if (indent_ >= 0) throw Unsupported();
    return false;
  }
  value_ = values_.Map();
  while (indent_ == 0) {
    if (IsDash() || !IsKey()) throw Unsupported();
    const Object key = Key();
    SkipBlanks();
    if (AtLineEnd() && values_.Equals(key, "items")) {
      NextLine();
      if (indent_ < 0 || !IsDash()) throw Unsupported();
      Put(value_, key, values_.List());  // Makes a second key `items` a duplicate.
      list_indent_ = indent_;
      in_list_ = true;
      return true;
    }
    Put(value_, key, ValueOf(key, 0));
  }
  if (indent_ >= 0) throw Unsupported();
  return false;
}

template <typename Values>
bool FastReader<Values>::NextYamlItem() {
  if (indent_ == list_indent_ && IsDash()) return true;
  in_list_ = false;
  if (indent_ > list_indent_) throw Unsupported();
  while (indent_ == 0) {
    if (IsDash() || !IsKey()) throw Unsupported();
    ReadPair(value_, 0);
  }
  if (indent_ >= 0) throw Unsupported();
  return false;
}

template <typename Values>
auto FastReader<Values>::Items(size_t bytes) -> std::vector<Item> {
  std::vector<Item> items;
  const char* const enough = static_cast<size_t>(end_ - at_) > bytes ? at_ + bytes : end_;
  if (is_stuck_) throw Unsupported();
  try {
    // At the end of the text the list may still be incomplete, because JSON requires a closing bracket.
    while (in_list_ && (at_ < enough || (AtEnd() && items.empty())) && ReadItem(&items)) {
    }
  } catch (const Unsupported&) {
    is_stuck_ = true;
    if (items.empty()) throw;
  }
  return items;
}

template <typename Values>
bool FastReader<Values>::ReadItem(std::vector<Item>* items) {
  is_in_item_ = false;
  if (!(is_json_ ? NextJsonItem() : NextYamlItem())) return false;
  is_in_item_ = true;
  item_start_ = Offset(is_json_ ? at_ : at_ - indent_);
  item_line_ = line_;
  const Object value = is_json_ ? JsonValue() : ListItem(list_indent_);
  // Lines up to the next item belong to this item.
  const char* const to = is_json_ || indent_ < 0 ? at_ : at_ - indent_;
  items->push_back({item_start_, Offset(to), item_line_, value});
  return true;
}

template <typename Values>
std::tuple<size_t, size_t, size_t> FastReader<Values>::PassOver() {
  if (!in_list_ || !is_in_item_) throw Unsupported();
  is_stuck_ = false;
  depth_ = pod_sets_ = 0;
  at_ = begin_ + item_start_;
  line_ = item_line_;
  if (is_json_) {
    PassOverJson();
  } else {
    const std::string next = "\n" + std::string(static_cast<size_t>(list_indent_), ' ') + "- ";
    const absl::string_view rest(at_, static_cast<size_t>(end_ - at_));
    const size_t found = rest.find(next);
    if (found == absl::string_view::npos) throw Unsupported();
    const char* const to = at_ + found + 1;
    line_ += static_cast<size_t>(std::count(at_, to, '\n'));
    at_ = to;
    FindContent();
  }
  const size_t stop = Offset(is_json_ ? at_ : at_ - indent_);
  return {item_start_, stop, item_line_};
}

// Lines

template <typename Values>
void FastReader<Values>::SkipBlanks() {
  while (!AtEnd() && *at_ == ' ') ++at_;
  if (Peek() == '\t') throw Unsupported();
}

template <typename Values>
void FastReader<Values>::SkipComment() {
  for (; !AtLineEnd(); ++at_) {
    if (static_cast<unsigned char>(*at_) >= 0x80 || *at_ == '\r') throw Unsupported();
  }
}

// Only blanks and a comment may follow a value on the same line.
template <typename Values>
void FastReader<Values>::FinishLine() {
  const char* const from = at_;
  SkipBlanks();
  if (Peek() == '#' && at_ != from) SkipComment();
  if (!AtLineEnd()) throw Unsupported();
}

// Moves from the start of a line to the next content.
template <typename Values>
void FastReader<Values>::FindContent() {
  for (;;) {
    const char* const start = at_;
    while (!AtEnd() && *at_ == ' ') ++at_;
    indent_ = static_cast<int>(at_ - start);
    if (AtEnd()) {
      indent_ = -1;
      return;
    }
    if (*at_ == '\t' || *at_ == '\r') throw Unsupported();
    if (*at_ == '#') SkipComment();
    if (AtEnd()) continue;
    if (*at_ != '\n') return;
    ++at_;
    ++line_;
  }
}

template <typename Values>
void FastReader<Values>::NextLine() {
  FinishLine();
  if (AtEnd()) {
    indent_ = -1;
    return;
  }
  ++at_;
  ++line_;
  FindContent();
}

// Collections

template <typename Values>
bool FastReader<Values>::IsDash() const {
  if (Peek() != '-') return false;
  const char next = Peek(1);
  return next == ' ' || next == '\n' || at_ + 1 == end_;
}

template <typename Values>
bool FastReader<Values>::IsKey() const {
  const char* place = at_;
  if (*place == '"' || *place == '\'') {
    const char quote = *place++;
    while (place != end_ && *place != quote && *place != '\n' && *place != '\\') ++place;
    if (place == end_ || *place != quote) return false;
    ++place;
    if (place != end_ && *place == quote) return false;  // An escaped quote.
  } else {
    const auto is_of_key = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
             c == '.' || c == '/' || c == '-';
    };
    while (place != end_ && is_of_key(*place)) ++place;
    if (place == at_) return false;
  }
  if (place == end_ || *place != ':') return false;
  return place + 1 == end_ || place[1] == ' ' || place[1] == '\n';
}

template <typename Values>
auto FastReader<Values>::Key() -> Object {
  const char* const start = at_;
  if (*at_ == '"' || *at_ == '\'') {
    const char quote = *at_++;
    while (*at_ != quote) ++at_;
    const absl::string_view text(start + 1, static_cast<size_t>(at_ - start) - 1);
    if (text.size() > longest_) throw Unsupported();
    const Object key = values_.Text(text);
    at_ += 2;
    return key;
  }
  while (*at_ != ':') ++at_;
  const absl::string_view text(start, static_cast<size_t>(at_ - start));
  if (text.size() > longest_) throw Unsupported();
  const Object key = values_.Key(text);
  ++at_;
  return key;
}

template <typename Values>
auto FastReader<Values>::Node(int indent) -> Object {
  if (IsDash()) return List(indent);
  if (!IsKey()) throw Unsupported();
  return Map(indent);
}

template <typename Values>
auto FastReader<Values>::Map(int indent) -> Object {
  const Deeper deeper(this);
  const Object map = values_.Map();
  do {
    ReadPair(map, indent);
    if (indent_ > indent) throw Unsupported();
  } while (indent_ == indent && !IsDash() && IsKey());
  if (indent_ == indent) throw Unsupported();
  return map;
}

template <typename Values>
void FastReader<Values>::ReadPair(const Object& map, int indent) {
  const Object key = Key();
  SkipBlanks();
  Put(map, key, ValueOf(key, indent));
}

template <typename Values>
auto FastReader<Values>::ValueOf(const Object& key, int indent) -> Object {
  if (pod_sets_ > 0 && values_.Equals(key, "template")) return Template(indent);
  if (!values_.Equals(key, "podSets")) return MapValue(indent);
  ++pod_sets_;
  Object value = MapValue(indent);
  --pod_sets_;
  return value;
}

// Parses the template of a pod set. Templates with equal text share one object, because clusters run the same
// pods many times and templates of Workloads are never changed.
template <typename Values>
auto FastReader<Values>::Template(int indent) -> Object {
  size_t lines = 0;
  const char* const stop = EndOfLines(indent, &lines);
  const Written written = WrittenAs(at_, stop, indent);
  const auto known = templates_.find(written);
  if (known != templates_.end()) {
    at_ = stop;
    line_ += lines;
    FindContent();
    return known->second;
  }
  Object value = MapValue(indent);
  const char* const end = indent_ < 0 ? at_ : at_ - indent_;
  if (end == stop && templates_.size() < kMostTemplates) templates_.emplace(written, value);
  return value;
}

// Returns the end of the lines indented by more than `indent`.
template <typename Values>
const char* FastReader<Values>::EndOfLines(int indent, size_t* lines) const {
  const char* place = at_;
  for (;;) {
    const void* const next = std::memchr(place, '\n', static_cast<size_t>(end_ - place));
    if (next == nullptr) return end_;
    const char* const line = static_cast<const char*>(next) + 1;
    const char* first = line;
    while (first != end_ && *first == ' ') ++first;
    if (first != end_ && *first != '\n' && first - line <= indent) {
      ++*lines;
      return line;
    }
    if (line == end_) return end_;
    ++*lines;
    place = line;
  }
}

// Parses the value after a colon and moves to the next content.
template <typename Values>
auto FastReader<Values>::MapValue(int indent) -> Object {
  if (Peek() == '#') SkipComment();
  if (!AtLineEnd()) return Inline(indent);
  NextLine();
  if (indent_ > indent) return Node(indent_);
  if (indent_ == indent && IsDash()) return List(indent);
  return values_.Null();
}

template <typename Values>
auto FastReader<Values>::List(int indent) -> Object {
  const Deeper deeper(this);
  Object list = values_.List();
  while (indent_ == indent && IsDash()) values_.Append(list, ListItem(indent));
  if (indent_ > indent) throw Unsupported();
  return list;
}

template <typename Values>
auto FastReader<Values>::ListItem(int indent) -> Object {
  const char* const dash = at_++;
  SkipBlanks();
  if (Peek() == '#') SkipComment();
  if (AtLineEnd()) {
    NextLine();
    return indent_ > indent ? Node(indent_) : values_.Null();
  }
  const int column = indent + static_cast<int>(at_ - dash);
  if (!IsDash() && !IsKey()) return Inline(indent);
  indent_ = column;
  return Node(column);
}

template <typename Values>
void FastReader<Values>::Put(const Object& map, const Object& key, const Object& value) {
  if (!values_.Add(map, key, value)) throw Unsupported();  // Duplicate key.
}

}  // namespace kueue

#endif  // KUEUE_MANIFEST_BLOCKS_H_
