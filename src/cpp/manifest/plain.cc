#include "manifest/plain.h"

#include <algorithm>
#include <cstring>

namespace kueue {
namespace {

constexpr size_t kMostDigits = 18;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsSign(char c) { return c == '+' || c == '-'; }

bool IsOneOf(char c, const char* set, size_t size) { return std::memchr(set, c, size) != nullptr; }

}  // namespace

bool StartsNumber(char c) { return IsDigit(c) || c == '+' || c == '-' || c == '.'; }

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

PlainWord WordOf(absl::string_view text) {
  constexpr size_t kLongestWord = 5;
  if (text.size() > kLongestWord || std::memchr("yYnNtTfFoO~", text[0], 11) == nullptr)
    return PlainWord::kNone;
  for (const char* word : {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"}) {
    if (text == word) return PlainWord::kTrue;
  }
  for (const char* word : {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"}) {
    if (text == word) return PlainWord::kFalse;
  }
  for (const char* word : {"~", "null", "Null", "NULL"}) {
    if (text == word) return PlainWord::kNull;
  }
  return PlainWord::kNone;
}

bool IsAscii(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

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

bool IsSimpleInteger(absl::string_view text) {
  if (!text.empty() && text[0] == '-') text.remove_prefix(1);
  if (text.empty() || text.size() > kMostDigits || !std::all_of(text.begin(), text.end(), IsDigit))
    return false;
  return text[0] != '0';
}

bool BeginsNoText(char c) { return c == '\0' || std::memchr("#&*!|>'\"%@`,[]{}?:\t\r", c, 20) != nullptr; }

void DropBlanks(std::string* text, size_t kept) {
  while (text->size() > kept && text->back() == ' ') text->pop_back();
}

bool MayBeMark(char first) { return first == '-' || first == '.'; }

void AppendBreaks(std::string* text, size_t breaks) {
  if (breaks == 1) {
    *text += ' ';
  } else {
    text->append(breaks - 1, '\n');
  }
}

void AppendUtf8(std::string* text, unsigned code) {
  if (code < 0x80) {
    *text += static_cast<char>(code);
  } else if (code < 0x800) {
    *text += static_cast<char>(0xC0 | (code >> 6));
    *text += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    *text += static_cast<char>(0xE0 | (code >> 12));
    *text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    *text += static_cast<char>(0x80 | (code & 0x3F));
  }
}

}  // namespace kueue
