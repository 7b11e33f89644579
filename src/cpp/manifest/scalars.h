// YAML scalars: plain, quoted, and literal blocks.
#ifndef KUEUE_MANIFEST_SCALARS_H_
#define KUEUE_MANIFEST_SCALARS_H_

#include <algorithm>
#include <cstring>
#include <string>

#include "absl/strings/string_view.h"
#include "manifest/fast_reader.h"
#include "manifest/plain.h"

namespace kueue {
// Parses a value that is on the same line as its key or dash, and moves to the next content. `parent` is the
// indentation of the enclosing collection.
template <typename Values>
auto FastReader<Values>::Inline(int parent) -> Object {
  const char first = *at_;
  Object value;
  if (first == '"' || first == '\'') {
    value = Quoted(first);
  } else if (first == '|') {
    return Literal(parent);
  } else if ((first == '{' && Peek(1) == '}') || (first == '[' && Peek(1) == ']')) {
    at_ += 2;
    value = first == '{' ? values_.Map() : values_.List();
  } else {
    return PlainScalar(parent);
  }
  NextLine();
  return value;
}

// Reads the rest of a line of a plain scalar, up to a comment, and moves to the position after its last
// character.
template <typename Values>
absl::string_view FastReader<Values>::PlainLine() {
  const char* const start = at_;
  for (; !AtLineEnd(); ++at_) {
    const char c = *at_;
    if (c > '#' && c != ':') continue;
    if (c == ':' && (at_ + 1 == end_ || at_[1] == ' ' || at_[1] == '\n')) throw Unsupported();
    if (c == '\t' || c == '\r') throw Unsupported();
    if (c == '#' && at_[-1] == ' ') break;
  }
  while (at_ != start && at_[-1] == ' ') --at_;
  const absl::string_view line(start, static_cast<size_t>(at_ - start));
  if (line.size() > longest_) throw Unsupported();
  return line;
}

template <typename Values>
auto FastReader<Values>::PlainScalar(int parent) -> Object {
  if (BeginsNoText(*at_) || IsDash()) throw Unsupported();
  const absl::string_view line = PlainLine();
  const char* last = at_;
  NextLine();
  if (indent_ <= parent) return values_.Scalar(line);
  std::string text(line);
  while (indent_ > parent) {
    if (std::find(last, at_, '#') != at_) throw Unsupported();  // A comment ends the scalar.
    AppendBreaks(&text, static_cast<size_t>(std::count(last, at_, '\n')));
    const absl::string_view next = PlainLine();
    text.append(next.data(), next.size());
    if (text.size() > longest_) throw Unsupported();
    last = at_;
    NextLine();
  }
  return values_.Text(text);
}

template <typename Values>
auto FastReader<Values>::Quoted(char quote) -> Object {
  const char* const start = ++at_;
  while (!AtEnd()) {
    const char c = *at_;
    if (c == quote && (quote == '"' || Peek(1) != '\'')) break;
    if (c == quote || c == '\n' || c == '\t' || c == '\r' || (c == '\\' && quote == '"')) {
      return LongQuoted(quote, start);
    }
    ++at_;
  }
  if (AtEnd()) throw Unsupported();
  const absl::string_view text(start, static_cast<size_t>(at_ - start));
  if (text.size() > longest_) throw Unsupported();
  ++at_;
  return values_.Text(text);
}

// Skips blanks and line breaks. Returns the number of line breaks.
template <typename Values>
size_t FastReader<Values>::PassBreaks() {
  size_t breaks = 0;
  for (; !AtEnd() && (*at_ == '\n' || *at_ == ' '); ++at_) {
    if (*at_ != '\n') continue;
    ++breaks;
    ++line_;
  }
  return breaks;
}

// Parses a quoted scalar with escapes or line breaks.
template <typename Values>
auto FastReader<Values>::LongQuoted(char quote, const char* from) -> Object {
  std::string text(from, static_cast<size_t>(at_ - from));
  size_t kept = 0;  // Blanks produced by escapes are not removed before a line break.
  for (;; ++at_) {
    if (AtEnd() || text.size() > longest_) throw Unsupported();
    const char c = *at_;
    if (c == '\t' || c == '\r') throw Unsupported();
    if (c == quote) {
      if (quote == '"' || Peek(1) != '\'') break;
      ++at_;
      text += '\'';
    } else if (c == '\\' && quote == '"') {
      if (Peek(1) == '/') throw Unsupported();  // Valid only in JSON.
      Unescape(&text);
      kept = text.size();
    } else if (c == '\n') {
      DropBlanks(&text, kept);
      const size_t breaks = PassBreaks();
      if (at_[-1] == '\n' && MayBeMark(Peek())) throw Unsupported();
      AppendBreaks(&text, breaks);
      kept = text.size();
      --at_;
    } else {
      text += c;
    }
  }
  ++at_;
  return values_.Text(text);
}

// Decodes the escape at the cursor and moves to its last character.
template <typename Values>
void FastReader<Values>::Unescape(std::string* text) {
  ++at_;
  static constexpr absl::string_view kCodes = "\"\\/ntrbf ", kMeanings = "\"\\/\n\t\r\b\f ";
  const size_t known = kCodes.find(Peek());
  if (Peek() != '\0' && known != absl::string_view::npos) {
    *text += kMeanings[known];
  } else if (Peek() == '\n') {
    ++line_;
    while (Peek(1) == ' ') ++at_;
    if (Peek(1) == '\t' || Peek(1) == '\n' || (*at_ == '\n' && MayBeMark(Peek(1)))) throw Unsupported();
  } else if (Peek() == 'u') {
    AppendCode(text, 4);
  } else if (Peek() == 'x') {
    AppendCode(text, 2);
  } else {
    throw Unsupported();
  }
}

template <typename Values>
void FastReader<Values>::AppendCode(std::string* text, int digits) {
  unsigned code = 0;
  for (int i = 0; i < digits; ++i) {
    ++at_;
    const char c = Peek();
    const char* const hex = "0123456789abcdef";
    const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
    const void* const found = c == '\0' ? nullptr : std::memchr(hex, lower, 16);
    if (found == nullptr) throw Unsupported();
    code = 16 * code + static_cast<unsigned>(static_cast<const char*>(found) - hex);
  }
  if ((code >= 0xD800 && code <= 0xDFFF) || code == 0x85 || code == 0x2028 || code == 0x2029)
    throw Unsupported();
  AppendUtf8(text, code);
}

// Returns the indentation of a block, which is the indentation of its first nonblank line. No earlier blank
// line may be longer.
template <typename Values>
size_t FastReader<Values>::LiteralIndent(int parent) const {
  const char* place = at_;
  const char* start = at_;
  std::ptrdiff_t widest = 0;  // Length of the longest blank line.
  for (; place != end_ && (*place == ' ' || *place == '\n'); ++place) {
    if (*place == ' ') continue;
    widest = std::max(widest, place - start);
    start = place + 1;
  }
  const std::ptrdiff_t indent = std::max<std::ptrdiff_t>(place - start, parent + 1);
  if (widest > indent || (place != end_ && *place == '\t')) throw Unsupported();
  return static_cast<size_t>(indent);
}

// Parses a literal block.
template <typename Values>
auto FastReader<Values>::Literal(int parent) -> Object {
  ++at_;
  const char chomp = Peek() == '-' || Peek() == '+' ? *at_++ : ' ';
  while (Peek() == ' ') ++at_;
  if (AtEnd() || *at_ != '\n') throw Unsupported();
  ++at_;
  ++line_;
  std::string text;
  const size_t breaks = LiteralLines(LiteralIndent(parent), &text);
  if (text.find('\r') != std::string::npos || text.size() > longest_) throw Unsupported();
  if (text.find_first_not_of(" \n") == std::string::npos) throw Unsupported();  // The indentation is unknown.
  if (chomp == '+') text.append(breaks, '\n');
  if (chomp == ' ') text += '\n';
  FindContent();
  return values_.Text(text);
}

// Reads the lines of a block with this indentation. Returns the number of line breaks after the last nonempty
// line.
template <typename Values>
size_t FastReader<Values>::LiteralLines(size_t indent, std::string* text) {
  size_t breaks = 0;
  while (!AtEnd()) {
    const void* const found = std::memchr(at_, '\n', static_cast<size_t>(end_ - at_));
    if (found == nullptr) throw Unsupported();
    const char* const stop = static_cast<const char*>(found);
    const char* first = at_;
    while (first != stop && *first == ' ') ++first;
    if (static_cast<size_t>(first - at_) < indent && first != stop) break;
    if (static_cast<size_t>(stop - at_) > indent) {
      text->append(breaks, '\n');
      text->append(at_ + indent, stop);
      breaks = 0;
    }
    ++breaks;
    at_ = stop + 1;
    ++line_;
  }
  return breaks;
}

}  // namespace kueue

#endif  // KUEUE_MANIFEST_SCALARS_H_
