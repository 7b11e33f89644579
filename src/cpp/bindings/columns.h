// Conversion of tables to dicts of columns. A table is a struct of vectors, or a number of rows of a plain
// struct; each has one list of its columns (KUEUE_COLUMNS). A column is an array, a list of texts, or a pair
// (codes, names by code). Arrays are read-only and share memory with the table.
#ifndef KUEUE_BINDINGS_COLUMNS_H_
#define KUEUE_BINDINGS_COLUMNS_H_

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings/pybind.h"
#include "bindings/wire.h"
#include "model/ids.h"

namespace kueue::python {

// A trait that KUEUE_COLUMNS specializes for each table and each row.
template <typename T>
struct ColumnList;

// Lists the names of all columns in the order of their declaration.
#define KUEUE_COLUMNS(Type, ...)        \
  template <>                           \
  struct ColumnList<Type> {             \
    KUEUE_FIELD_LIST(Type, __VA_ARGS__) \
  }

// The names of the columns that contain codes, by column.
using CodeNames = std::map<std::string, py::list>;

// Returns an array of values that `owner` keeps alive.
template <typename T>
py::array SharedArray(const std::vector<T>& values, std::shared_ptr<const void> owner) {
  auto* const held = new std::shared_ptr<const void>(std::move(owner));
  const py::capsule base(held,
                         [](void* pointer) { delete static_cast<std::shared_ptr<const void>*>(pointer); });
  py::array array(py::dtype::of<T>(), {values.size()}, {sizeof(T)}, values.data(), base);
  array.attr("setflags")(py::arg("write") = false);
  return array;
}

// Returns an array that owns its values.
template <typename T>
py::array OwnedArray(std::vector<T> values) {
  const auto held = std::make_shared<const std::vector<T>>(std::move(values));
  return SharedArray(*held, held);
}

template <typename Names>
py::list NameList(const Names& interner) {
  py::list names;
  for (auto id : interner.Ids()) names.append(interner.Name(id));
  return names;
}

// Returns the columns of a struct of vectors that `owner` keeps alive.
template <typename Table>
py::dict ColumnsOf(const Table& table, const std::shared_ptr<const void>& owner,
                   const CodeNames& names = {}) {
  py::dict columns;
  const std::vector<std::string> fields = FieldNames(ColumnList<Table>::kFields);
  auto field = fields.begin();
  const auto put = [&](const auto& values) {
    const py::array array = SharedArray(values, owner);
    const auto coded = names.find(*field);
    columns[py::str(*field++)] =
        coded == names.end() ? py::object(array) : py::object(py::make_tuple(array, coded->second));
  };
  ColumnList<Table>::Visit(table, [&put](const auto&... values) { (put(values), ...); });
  return columns;
}

// A name that a column stores as a code; the code of a missing name is -1.
struct Word {
  absl::string_view text;
  bool is_missing = false;
};

// The values of one column.
template <typename T>
class Column {
 public:
  explicit Column(size_t size) : values_(size) {}
  void Set(size_t row, T value) { values_[row] = value; }
  void Add(T value) { values_.push_back(value); }
  py::object Take() {
    if constexpr (std::is_same_v<T, bool>) return OwnedArray(std::move(values_)).view("bool");
    return OwnedArray(std::move(values_));
  }

 private:
  std::vector<std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>> values_;
};

template <>
class Column<std::string> {
 public:
  explicit Column(size_t) {}
  void Add(const std::string& text) { texts_.append(text); }
  py::object Take() { return texts_; }

 private:
  py::list texts_;
};

template <>
class Column<Word> {
 public:
  explicit Column(size_t) {}
  void Add(const Word& word) {
    codes_.push_back(word.is_missing ? -1 : names_.Intern(std::string(word.text)));
  }
  py::object Take() { return py::make_tuple(OwnedArray(std::move(codes_)), NameList(names_)); }

 private:
  Interner<int32_t> names_;
  std::vector<int32_t> codes_;
};

// Returns one empty column for each field of a row.
template <typename Row>
auto MakeColumns(size_t size) {
  return ColumnList<Row>::Visit(Row{}, [size](const auto&... fields) {
    return std::tuple<Column<std::decay_t<decltype(fields)>>...>(
        Column<std::decay_t<decltype(fields)>>(size)...);
  });
}

// Collects rows. A row is a plain struct of numbers, texts and Words.
template <typename Row>
class Rows {
 public:
  // Columns of texts and Words require a size of 0.
  explicit Rows(size_t size = 0) : columns_(MakeColumns<Row>(size)) {}

  void Set(size_t row, const Row& values) {
    Each(values, [row](auto& column, const auto& value) { column.Set(row, value); });
  }
  void Add(const Row& values) {
    Each(values, [](auto& column, const auto& value) { column.Add(value); });
  }
  // Returns the columns and clears them.
  py::dict Take(const CodeNames& names = {}) {
    py::dict taken;
    const std::vector<std::string> fields = FieldNames(ColumnList<Row>::kFields);
    auto field = fields.begin();
    const auto put = [&](auto& column) {
      const auto coded = names.find(*field);
      const py::object values = column.Take();
      taken[py::str(*field++)] =
          coded == names.end() ? values : py::object(py::make_tuple(values, coded->second));
    };
    std::apply([&put](auto&... columns) { (put(columns), ...); }, columns_);
    return taken;
  }

 private:
  template <typename Use>
  void Each(const Row& values, Use use) {
    ColumnList<Row>::Visit(values, [&](const auto&... fields) {
      std::apply([&](auto&... columns) { (use(columns, fields), ...); }, columns_);
    });
  }

  decltype(MakeColumns<Row>(0)) columns_;
};

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_COLUMNS_H_
