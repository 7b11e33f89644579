// Fast parser for YAML and JSON as printed by kubectl. The parser does not support anchors, tags, folded
// blocks, flow collections in YAML, duplicate keys, rare escapes, tabs or non-decimal numbers, and it does
// not report errors. The exact parser (kueuepy/manifest/text/exact.py) supports all features that this parser
// lacks, reports errors, and defines the correct result.
#ifndef KUEUE_BINDINGS_MANIFEST_FAST_READER_H_
#define KUEUE_BINDINGS_MANIFEST_FAST_READER_H_

#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "bindings/manifest/texts.h"
#include "bindings/pybind.h"
#include "bindings/records.h"

namespace kueue::python {

// Parses one document. The items of a list object are returned in batches, so that the items of a large dump
// are never all in memory at the same time.
class FastReader {
 public:
  // The range of the text to parse, from `start` to `stop`, and the line number of `start`. `Bounds` contains
  // the maximum nesting depth and the maximum text length.
  struct Span {
    size_t start, stop, line;
  };
  struct Bounds {
    size_t most_deep, longest;
  };
  FastReader(py::bytes data, const Span& span, py::function resolve, const Bounds& bounds);

  // Parses the start of the document, up to the first item of a list object. Returns false if the document is
  // not a list object; in that case, the whole document has already been parsed. Throws Unsupported if the
  // exact parser must be used.
  bool Open();
  // Returns the next items of the list object as tuples (start, stop, line, value). Stops after parsing about
  // `bytes` bytes, or before an unsupported item. At the end of the list object, parses the rest of the
  // document and returns an empty list. Throws Unsupported if the first item is unsupported.
  py::list Items(size_t bytes);
  // Skips the unsupported item and returns its position as a tuple (start, stop, line). Throws Unsupported if
  // the end of the item cannot be determined.
  py::tuple PassOver();

  // Returns the parsed document. If the document is a list object, the items of the list are omitted.
  const py::object& value() const { return value_; }
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
  py::object Node(int indent);
  py::object Map(int indent);
  py::object List(int indent);
  py::object ListItem(int indent);
  py::object MapValue(int indent);
  py::object Key();
  void ReadPair(const py::object& map, int indent);
  py::object ValueOf(const py::object& key, int indent);
  py::object Template(int indent);
  const char* EndOfLines(int indent, size_t* lines) const;

  // Scalars
  py::object Inline(int parent);
  absl::string_view PlainLine();
  py::object PlainScalar(int parent);
  py::object Quoted(char quote);
  py::object LongQuoted(char quote, const char* from);
  size_t PassBreaks();
  void Unescape(std::string* text);
  void AppendCode(std::string* text, int digits);
  py::object Literal(int parent);
  size_t LiteralIndent(int parent) const;
  size_t LiteralLines(size_t indent, std::string* text);

  // JSON
  void SkipSpace();
  void Expect(char sign);
  void ExpectWord(absl::string_view word);
  py::object JsonValue();
  py::object JsonObject();
  py::object JsonValueOf(const py::object& key);
  py::object JsonTemplate();
  py::object JsonArray();
  py::object JsonKey();
  py::object JsonText();
  py::object JsonNumber();
  absl::string_view Digits();
  bool PassFraction();
  bool OpenJson();
  void ReadJsonPairs();
  bool NextJsonItem();
  void FinishJson();
  void PassOverJson();
  void PassOverJsonText();
  bool NextYamlItem();
  bool ReadItem(py::list* items);

  void Put(const py::object& map, const py::object& key, const py::object& value);
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

  py::bytes data_;
  const char *begin_, *end_, *at_;
  size_t line_;
  int indent_ = 0;  // Indentation of the line whose content starts at `at_`; -1 at the end of the text.
  size_t depth_ = 0, most_deep_, longest_;
  size_t pod_sets_ = 0;  // Number of enclosing fields named podSets.
  std::map<Written, py::object> templates_;
  Texts texts_;
  py::object value_ = py::none();
  bool is_json_ = false, in_list_ = false, is_first_ = true;
  // True if the cursor is at an unsupported item or directly before the item that follows it.
  bool is_stuck_ = false;
  bool is_in_item_ = false;  // Whether Items() has started to parse an item.
  int list_indent_ = 0;
  size_t item_start_ = 0, item_line_ = 0;
};

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_MANIFEST_FAST_READER_H_
