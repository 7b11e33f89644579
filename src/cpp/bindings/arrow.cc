// Tables as Arrow streams (the Arrow C stream interface, in a PyCapsule), without copying their columns.
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bindings/pybind.h"

// NOLINTBEGIN(readability-identifier-naming): the names of the interface
extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}
// NOLINTEND(readability-identifier-naming)

namespace kueue::python {
namespace {

constexpr int64_t kNullable = 2;

struct TextCells {
  std::vector<int32_t> offsets{0};
  std::string bytes;

  void Add(const py::handle& text) {
    if (!text.is_none()) bytes += text.cast<std::string>();
    if (bytes.size() > INT32_MAX)
      ThrowIfError(absl::UnimplementedError(
          "a column contains more than 2 GiB of text; the export to Arrow supports at most 2 GiB"));
    offsets.push_back(static_cast<int32_t>(bytes.size()));
  }
};

struct Column {
  std::string name, format;
  int64_t length = 0, nulls = 0;
  const void* data = nullptr;
  std::vector<uint8_t> valid, bits;
  std::unique_ptr<TextCells> texts, names;
};

// Data shared by a stream and everything created from it. Any thread may be the last user.
struct Export {
  std::vector<Column> columns;
  std::vector<PyObject*> arrays;
  int64_t rows = 0;

  Export() = default;
  Export(const Export&) = delete;
  Export& operator=(const Export&) = delete;
  ~Export() {
    if (Py_IsInitialized() == 0) return;
    const py::gil_scoped_acquire acquire;
    for (PyObject* array : arrays) Py_DECREF(array);
  }
};
using Shared = std::shared_ptr<const Export>;

const char* FormatOf(const py::dtype& type) {
  const char kind = type.kind();
  const py::ssize_t size = type.itemsize();
  if (kind == 'f') return size == 8 ? "g" : size == 4 ? "f" : nullptr;
  if (kind == 'b') return "b";
  if (kind == 'M') return "tsn:";
  if (kind == 'm') return "tDn";
  const int place = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
  if (kind == 'i') return std::vector<const char*>{"c", "s", "i", "l"}[static_cast<size_t>(place)];
  if (kind == 'u') return std::vector<const char*>{"C", "S", "I", "L"}[static_cast<size_t>(place)];
  return nullptr;
}

std::vector<uint8_t> Packed(const uint8_t* values, int64_t length) {
  std::vector<uint8_t> bits(static_cast<size_t>((length + 7) / 8));
  for (int64_t i = 0; i < length; ++i) {
    bits[static_cast<size_t>(i / 8)] |= static_cast<uint8_t>((values[i] != 0 ? 1 : 0) << (i % 8));
  }
  return bits;
}

// Marks codes below 0 as missing.
void MarkMissing(const int32_t* codes, Column& column) {
  for (int64_t i = 0; i < column.length; ++i) column.nulls += codes[i] < 0 ? 1 : 0;
  if (column.nulls == 0) return;
  column.valid.resize(static_cast<size_t>((column.length + 7) / 8));
  if (column.nulls == column.length) return;
  const auto is_known = [codes](int64_t i) { return ~static_cast<uint32_t>(codes[i]) >> 31; };
  const int64_t whole = column.length / 8;
  for (int64_t byte = 0; byte < whole; ++byte) {
    uint32_t bits = 0;
    for (int64_t i = 0; i < 8; ++i) bits |= is_known(byte * 8 + i) << i;
    column.valid[static_cast<size_t>(byte)] = static_cast<uint8_t>(bits);
  }
  for (int64_t i = whole * 8; i < column.length; ++i)
    column.valid[static_cast<size_t>(whole)] |= static_cast<uint8_t>(is_known(i) << (i % 8));
}

void TakeTexts(const py::list& texts, Column& column) {
  column.format = "u";
  column.texts = std::make_unique<TextCells>();
  for (const py::handle& text : texts) {
    column.texts->Add(text);
    ++column.length;
  }
}

// Uses the memory of the array without copying it.
void TakeArray(const py::array& array, Column& column, Export& shared) {
  const char* format = FormatOf(array.dtype());
  if (format == nullptr || array.ndim() != 1) {
    ThrowIfError(absl::UnimplementedError(
        absl::StrCat("column \"", column.name, "\": its type has no equivalent in Arrow")));
  }
  column.format = format;
  column.length = array.size();
  column.data = array.data();
  shared.arrays.push_back(py::object(array).release().ptr());
  if (column.format != "b") return;
  column.bits = Packed(static_cast<const uint8_t*>(column.data), column.length);
  column.data = column.bits.data();
}

void TakeCodes(const py::tuple& codes_and_names, Column& column, Export& shared) {
  TakeArray(py::array_t<int32_t, py::array::c_style>(codes_and_names[0]), column, shared);
  column.names = std::make_unique<TextCells>();
  for (const py::handle& text : codes_and_names[1]) column.names->Add(text);
  MarkMissing(static_cast<const int32_t*>(column.data), column);
}

Column MakeColumn(const std::string& name, const py::handle& value, Export& shared) {
  Column column;
  column.name = name;
  if (py::isinstance<py::list>(value)) {
    TakeTexts(value.cast<py::list>(), column);
  } else if (py::isinstance<py::tuple>(value)) {
    TakeCodes(value.cast<py::tuple>(), column, shared);
  } else {
    TakeArray(py::array::ensure(value, py::array::c_style), column, shared);
  }
  return column;
}

// Data that one schema or array of the interface owns.
template <typename Node>
struct Held {
  Shared shared;
  std::vector<Node> children;
  std::vector<Node*> places;
  Node dictionary;
  const void* buffers[3];
};

template <typename Node>
void ReleaseHeld(Node* node) {
  for (int64_t i = 0; i < node->n_children; ++i) {
    if (node->children[i]->release != nullptr) node->children[i]->release(node->children[i]);
  }
  if (node->dictionary != nullptr && node->dictionary->release != nullptr)
    node->dictionary->release(node->dictionary);
  delete static_cast<Held<Node>*>(node->private_data);
  node->release = nullptr;
}

template <typename Node>
Held<Node>* Hold(const Shared& shared, Node& node) {
  node = {};
  auto* held = new Held<Node>{shared, {}, {}, {}, {}};
  node.private_data = held;
  node.release = &ReleaseHeld<Node>;
  return held;
}

template <typename Node, typename Fill>
void HoldChildren(const Shared& shared, Node& node, Fill fill) {
  Held<Node>* held = Hold(shared, node);
  held->children.resize(shared->columns.size());
  for (size_t i = 0; i < held->children.size(); ++i) {
    fill(shared->columns[i], held->children[i]);
    held->places.push_back(&held->children[i]);
  }
  node.n_children = static_cast<int64_t>(held->children.size());
  node.children = held->places.data();
}

void FillSchema(const Shared& shared, const Column& column, ArrowSchema& schema) {
  Held<ArrowSchema>* held = Hold(shared, schema);
  schema.format = column.format.c_str();
  schema.name = column.name.c_str();
  schema.flags = kNullable;
  if (column.names == nullptr) return;
  Hold(shared, held->dictionary);
  held->dictionary.format = "u";
  held->dictionary.name = "";
  schema.dictionary = &held->dictionary;
}

void FillTexts(const Shared& shared, const TextCells& texts, ArrowArray& array) {
  Held<ArrowArray>* held = Hold(shared, array);
  array.length = static_cast<int64_t>(texts.offsets.size()) - 1;
  held->buffers[1] = texts.offsets.data();
  held->buffers[2] = texts.bytes.data();
  array.n_buffers = 3;
  array.buffers = held->buffers;
}

void FillArray(const Shared& shared, const Column& column, ArrowArray& array) {
  if (column.texts != nullptr) return FillTexts(shared, *column.texts, array);
  Held<ArrowArray>* held = Hold(shared, array);
  array.length = column.length;
  array.null_count = column.nulls;
  held->buffers[0] = column.valid.empty() ? nullptr : column.valid.data();
  held->buffers[1] = column.data;
  array.n_buffers = 2;
  array.buffers = held->buffers;
  if (column.names == nullptr) return;
  FillTexts(shared, *column.names, held->dictionary);
  array.dictionary = &held->dictionary;
}

struct Streaming {
  Shared shared;
  bool done = false;
};

Streaming& StateOf(ArrowArrayStream* stream) { return *static_cast<Streaming*>(stream->private_data); }

int GetSchema(ArrowArrayStream* stream, ArrowSchema* schema) {
  const Shared& shared = StateOf(stream).shared;
  HoldChildren(shared, *schema,
               [&](const Column& column, ArrowSchema& child) { FillSchema(shared, column, child); });
  schema->format = "+s";
  schema->name = "";
  return 0;
}

int GetNext(ArrowArrayStream* stream, ArrowArray* array) {
  Streaming& state = StateOf(stream);
  *array = {};  // A released array marks the end of the stream.
  if (state.done) return 0;
  state.done = true;
  const Shared& shared = state.shared;
  HoldChildren(shared, *array,
               [&](const Column& column, ArrowArray& child) { FillArray(shared, column, child); });
  auto* held = static_cast<Held<ArrowArray>*>(array->private_data);
  array->length = shared->rows;
  array->n_buffers = 1;
  array->buffers = held->buffers;
  return 0;
}

void ReleaseStream(ArrowArrayStream* stream) {
  delete static_cast<Streaming*>(stream->private_data);
  stream->release = nullptr;
}

constexpr const char* kCapsule = "arrow_array_stream";

void ReleaseCapsule(PyObject* capsule) {
  auto* stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, kCapsule));
  if (stream == nullptr) return PyErr_Clear();
  if (stream->release != nullptr) stream->release(stream);
  delete stream;
}

// Each column is an array, a list of strings, or a pair of codes and names.
py::object StreamOf(const py::dict& columns) {
  auto shared = std::make_shared<Export>();
  for (const auto& [name, value] : columns) {
    shared->columns.push_back(MakeColumn(name.cast<std::string>(), value, *shared));
    shared->rows = shared->columns.back().length;
  }
  auto* stream =
      new ArrowArrayStream{&GetSchema, &GetNext, [](ArrowArrayStream*) -> const char* { return nullptr; },
                           &ReleaseStream, new Streaming{shared, false}};
  return py::reinterpret_steal<py::object>(PyCapsule_New(stream, kCapsule, &ReleaseCapsule));
}

}  // namespace

void BindArrow(py::module_& module) { module.def("arrow_stream", &StreamOf, py::arg("columns")); }

}  // namespace kueue::python
