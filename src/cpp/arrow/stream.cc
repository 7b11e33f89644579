#include "arrow/stream.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace kueue {
namespace {

using Shared = std::shared_ptr<const ArrowTable>;
constexpr int64_t kNullable = 2;

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

void FillSchema(const Shared& shared, const ArrowColumn& column, ArrowSchema& schema) {
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

void FillTexts(const Shared& shared, const ArrowTexts& texts, ArrowArray& array) {
  Held<ArrowArray>* held = Hold(shared, array);
  array.length = static_cast<int64_t>(texts.offsets.size()) - 1;
  held->buffers[1] = texts.offsets.data();
  held->buffers[2] = texts.bytes.data();
  array.n_buffers = 3;
  array.buffers = held->buffers;
}

void FillArray(const Shared& shared, const ArrowColumn& column, ArrowArray& array) {
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
               [&](const ArrowColumn& column, ArrowSchema& child) { FillSchema(shared, column, child); });
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
               [&](const ArrowColumn& column, ArrowArray& child) { FillArray(shared, column, child); });
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

}  // namespace

absl::Status ArrowTexts::Add(absl::string_view text) {
  absl::StrAppend(&bytes, text);
  if (bytes.size() > INT32_MAX) {
    return absl::UnimplementedError(
        "a column contains more than 2 GiB of text; the export to Arrow supports at most 2 GiB");
  }
  offsets.push_back(static_cast<int32_t>(bytes.size()));
  return absl::OkStatus();
}

void ArrowColumn::PackBits() {
  const auto* const values = static_cast<const uint8_t*>(data);
  bits.resize(static_cast<size_t>((length + 7) / 8));
  for (int64_t i = 0; i < length; ++i) {
    bits[static_cast<size_t>(i / 8)] |= static_cast<uint8_t>((values[i] != 0 ? 1 : 0) << (i % 8));
  }
  data = bits.data();
}

void ArrowColumn::MarkMissing() {
  const auto* const codes = static_cast<const int32_t*>(data);
  for (int64_t i = 0; i < length; ++i) nulls += codes[i] < 0 ? 1 : 0;
  if (nulls == 0) return;
  valid.resize(static_cast<size_t>((length + 7) / 8));
  if (nulls == length) return;
  const auto is_known = [codes](int64_t i) { return ~static_cast<uint32_t>(codes[i]) >> 31; };
  const int64_t whole = length / 8;
  for (int64_t byte = 0; byte < whole; ++byte) {
    uint32_t packed = 0;
    for (int64_t i = 0; i < 8; ++i) packed |= is_known(byte * 8 + i) << i;
    valid[static_cast<size_t>(byte)] = static_cast<uint8_t>(packed);
  }
  for (int64_t i = whole * 8; i < length; ++i)
    valid[static_cast<size_t>(whole)] |= static_cast<uint8_t>(is_known(i) << (i % 8));
}

ArrowArrayStream* NewArrowStream(std::shared_ptr<const ArrowTable> table) {
  return new ArrowArrayStream{&GetSchema, &GetNext, [](ArrowArrayStream*) -> const char* { return nullptr; },
                              &ReleaseStream, new Streaming{std::move(table), false}};
}

}  // namespace kueue
