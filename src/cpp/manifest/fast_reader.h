// Fast parser for YAML and JSON as printed by kubectl. The parser does not support anchors, tags, folded
// blocks, flow collections in YAML, duplicate keys, rare escapes, tabs or non-decimal numbers, and it does
// not report errors. The exact parser (kueuepy/manifest/text/exact.py) supports all features that this parser
// lacks, reports errors, and defines the correct result.
#ifndef KUEUE_MANIFEST_FAST_READER_H_
#define KUEUE_MANIFEST_FAST_READER_H_

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace kueue {

// Exception that is thrown if the exact parser must parse the text. The exception does not imply that the
// text is invalid.
struct Unsupported {};

// An item of a list object: its position in the text, and its value.
template <typename Object>
struct ManifestItem {
  size_t start, stop, line;
  Object value;
};

// Parses one document. The items of a list object are returned in batches, so that the items of a large dump
// are never all in memory at the same time. `Values` creates the values (bindings/manifest/values.h).
template <typename Values>
class FastReader {
 public:
  using Object = typename Values::Object;
  using Item = ManifestItem<Object>;
  // The range of the text to parse, from `start` to `stop`, and the line number of `start`. `Bounds` contains
  // the maximum nesting depth and the maximum text length.
  struct Span {
    absl::string_view text;
    size_t start, stop, line;
  };
  struct Bounds {
    size_t most_deep, longest;
  };
  // The text must exist as long as the reader.
  FastReader(const Span& span, const Bounds& bounds, Values values);

  // Parses the start of the document, up to the first item of a list object. Returns false if the document is
  // not a list object; in that case, the whole document has already been parsed. Throws Unsupported if the
  // exact parser must be used.
  bool Open();
  // Returns the next items of the list object. Stops after parsing about
  // `bytes` bytes, or before an unsupported item. At the end of the list object, parses the rest of the
  // document and returns an empty list. Throws Unsupported if the first item is unsupported.
  std::vector<Item> Items(size_t bytes);
  // Skips the unsupported item and returns its position as a tuple (start, stop, line). Throws Unsupported if
  // the end of the item cannot be determined.
  std::tuple<size_t, size_t, size_t> PassOver();

  // Returns the parsed document. If the document is a list object, the items of the list are omitted.
  const Object& value() const { return value_; }
  bool is_json() const { return is_json_; }
  bool is_in_list() const { return in_list_ || is_stuck_; }

 private:
  // Lines
  bool AtEnd() const { return at_ == end_; }
  bool AtLineEnd() const { return at_ == end_ || *at_ == '\n'; }
  char Peek(size_t ahead = 0) const { return static_cast<size_t>(end_ - at_) > ahead ? at_[ahead] : '\0'; }
  void SkipBlanks();
  void SkipComment();
  void FinishLine();
  void FindContent();
  void NextLine();

  // Collections
  bool IsDash() const;
  bool IsKey() const;
  Object Node(int indent);
  Object Map(int indent);
  Object List(int indent);
  Object ListItem(int indent);
  Object MapValue(int indent);
  Object Key();
  void ReadPair(const Object& map, int indent);
  Object ValueOf(const Object& key, int indent);
  Object Template(int indent);
  const char* EndOfLines(int indent, size_t* lines) const;

  // Scalars
  Object Inline(int parent);
  absl::string_view PlainLine();
  Object PlainScalar(int parent);
  Object Quoted(char quote);
  Object LongQuoted(char quote, const char* from);
  size_t PassBreaks();
  void Unescape(std::string* text);
  void AppendCode(std::string* text, int digits);
  Object Literal(int parent);
  size_t LiteralIndent(int parent) const;
  size_t LiteralLines(size_t indent, std::string* text);

  // JSON
  void SkipSpace();
  void Expect(char sign);
  void ExpectWord(absl::string_view word);
  Object JsonValue();
  Object JsonObject();
  Object JsonValueOf(const Object& key);
  Object JsonTemplate();
  Object JsonArray();
  Object JsonKey();
  Object JsonText();
  Object JsonNumber();
  absl::string_view Digits();
  bool PassFraction();
  bool OpenJson();
  void ReadJsonPairs();
  bool NextJsonItem();
  void FinishJson();
  void PassOverJson();
  void PassOverJsonText();
  bool NextYamlItem();
  bool ReadItem(std::vector<Item>* items);

  void Put(const Object& map, const Object& key, const Object& value);
  // Cache key of a pod template: the length, the indentation and the bytes of its text. The length is the
  // first element of the key, because most templates differ in their length.
  using Written = std::tuple<size_t, int, absl::string_view>;
  static Written WrittenAs(const char* from, const char* to, int indent) {
    const auto size = static_cast<size_t>(to - from);
    return {size, indent, absl::string_view(from, size)};
  }
  static constexpr size_t kMostTemplates = 4096;
  size_t Offset(const char* place) const { return static_cast<size_t>(place - begin_); }

  // Counts one level of nesting while the object exists. The nesting depth is limited to prevent a stack
  // overflow.
  class Deeper {
   public:
    explicit Deeper(FastReader* reader) : reader_(reader) {
      if (reader_->depth_ >= reader_->most_deep_) throw Unsupported();
      ++reader_->depth_;
    }
    ~Deeper() { --reader_->depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    FastReader* reader_;
  };

  const char *begin_, *end_, *at_;
  size_t line_;
  int indent_ = 0;  // Indentation of the line whose content starts at `at_`; -1 at the end of the text.
  size_t depth_ = 0, most_deep_, longest_;
  size_t pod_sets_ = 0;  // Number of enclosing fields named podSets.
  std::map<Written, Object> templates_;
  Values values_;
  Object value_;
  bool is_json_ = false, in_list_ = false, is_first_ = true;
  // True if the cursor is at an unsupported item or directly before the item that follows it.
  bool is_stuck_ = false;
  bool is_in_item_ = false;  // Whether Items() has started to parse an item.
  int list_indent_ = 0;
  size_t item_start_ = 0, item_line_ = 0;
};

}  // namespace kueue

#endif  // KUEUE_MANIFEST_FAST_READER_H_
