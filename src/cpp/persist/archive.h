// Serializes any value of the core, field by field. A record is written as an array of its fields. The field
// names of each kind of record are written once, so that later versions can add fields.
#ifndef KUEUE_PERSIST_ARCHIVE_H_
#define KUEUE_PERSIST_ARCHIVE_H_

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_split.h"
#include "model/enumerators.h"
#include "model/poll.h"
#include "persist/msgpack.h"

namespace kueue {

// Specializations define `Write(writer, value)` and `Read(reader, &value)` for values that are not written
// field by field.
template <typename T>
struct Codec;

template <typename T>
inline constexpr bool kIsPlain =
    std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::string>;

// Whether an enumeration can have values that are not enumerators. The state defines the meaning of a value
// that is not an enumerator.
template <typename T>
inline constexpr bool kIsOpen = false;

// Field names by kind of record, in the order in which they are written.
using Schemas = std::map<std::string, std::string>;

template <typename FieldLists>
class ArchiveWriter {
 public:
  const Schemas& schemas() const { return schemas_; }
  const std::vector<std::string>& pool() const { return pool_; }
  MsgpackWriter& out() { return out_; }

  template <typename T>
  void Write(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      out_.Bool(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      out_.Double(value);
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      out_.Int(static_cast<int64_t>(value));
    } else if constexpr (std::is_same_v<T, std::string>) {
      out_.Text(value);
    } else {
      Codec<T>::Write(*this, value);
    }
  }

  template <typename T>
  void WriteRecord(const T& value) {
    Poll();
    if (Listed<T>()) schemas_.emplace(FieldLists::NameOf(value), FieldLists::FieldsOf(value));
    FieldLists::Visit(value, [this](const auto&... fields) {
      const std::array<Field, sizeof...(fields)> all = {FieldOf(fields)...};
      WriteFields(all.data(), all.size());
    });
  }

  // Writes the target of a pointer into the pool. The index of the pool entry is written in place of the
  // pointer. Targets with equal content share one entry of the pool. The objects to which a pool entry refers
  // precede the entry in the pool.
  template <typename T>
  void WriteShared(const std::shared_ptr<const T>& pointer) {
    if (!pointer) return out_.Nil();
    const auto known = number_of_pointer_.find(pointer.get());
    if (known != number_of_pointer_.end()) return out_.Int(known->second);
    MsgpackWriter outer;
    std::swap(out_, outer);
    Write(*pointer);
    std::swap(out_, outer);
    const auto number = static_cast<int64_t>(pool_.size());
    const auto [equal, is_new] =
        number_of_text_.try_emplace(FieldLists::NameOf(*pointer) + outer.text(), number);
    if (is_new) pool_.push_back(outer.text());
    number_of_pointer_.emplace(pointer.get(), equal->second);
    out_.Int(equal->second);
  }

 private:
  // A type-erased field. Only `write` depends on the type of the field, so the writing code is not repeated
  // for each type of record.
  struct Field {
    const void* at;
    void (*write)(ArchiveWriter&, const void*);
  };
  template <typename T>
  static Field FieldOf(const T& field) {
    return {&field, [](ArchiveWriter& writer, const void* at) { writer.Write(*static_cast<const T*>(at)); }};
  }
  void WriteFields(const Field* fields, size_t count) {
    out_.Array(count);
    for (size_t i = 0; i < count; ++i) fields[i].write(*this, fields[i].at);
  }

  // Returns true only at the first call for each kind of record.
  template <typename T>
  bool Listed() {
    static const char mark = 0;
    if (&mark == last_) return false;
    last_ = &mark;
    return kinds_.insert(&mark).second;
  }

  MsgpackWriter out_;
  Schemas schemas_;
  std::vector<std::string> pool_;
  absl::flat_hash_map<const void*, int64_t> number_of_pointer_;
  absl::flat_hash_map<std::string, int64_t> number_of_text_;
  std::set<const void*> kinds_;
  const void* last_ = nullptr;
};

template <typename FieldLists>
class ArchiveReader {
 public:
  ArchiveReader(absl::string_view text, Schemas schemas, const std::vector<absl::string_view>& pool)
      : in_(text), schemas_(std::move(schemas)), limit_(pool.size()) {
    for (const absl::string_view entry : pool) pool_.push_back({entry, nullptr, nullptr});
  }

  MsgpackReader& in() { return in_; }
  // Returns an unknown field in the schemas as "record.field", or an empty string if there is none.
  const std::string& unknown() const { return unknown_; }

  template <typename T>
  void Read(T* value) {
    if constexpr (std::is_same_v<T, bool>) {
      *value = in_.Bool();
    } else if constexpr (std::is_floating_point_v<T>) {
      *value = static_cast<T>(in_.Double());
    } else if constexpr (std::is_enum_v<T> && !kIsOpen<T>) {
      const int64_t number = in_.Int();
      if (number < 0 || static_cast<size_t>(number) >= CountOf<T>()) return in_.Fail();
      *value = static_cast<T>(number);
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      const int64_t number = in_.Int();
      *value = static_cast<T>(number);
      if (static_cast<int64_t>(*value) != number) in_.Fail();
    } else if constexpr (std::is_same_v<T, std::string>) {
      const absl::string_view text = in_.Text();
      value->assign(text.data(), text.size());
    } else {
      Codec<T>::Read(*this, value);
    }
  }
  template <typename T>
  T Take() {
    T value{};
    Read(&value);
    return value;
  }

  template <typename T>
  void ReadRecord(T* value) {
    Poll();
    const std::string name = FieldLists::NameOf(*value);
    const std::vector<size_t>& order = OrderOf(name, FieldLists::FieldsOf(*value));
    if (in_.Array() != order.size()) return in_.Fail();
    FieldLists::Visit(*value, [&](auto&... fields) {
      const std::array<Field, sizeof...(fields)> all = {FieldOf(fields)...};
      ReadFields(all.data(), all.size(), order);
    });
  }

  template <typename T>
  void ReadShared(std::shared_ptr<const T>* pointer) {
    pointer->reset();
    if (in_.TakeNil()) return;
    const auto number = static_cast<size_t>(in_.Int());
    if (!in_.ok() || number >= limit_) return in_.Fail();
    Shared& shared = pool_[number];
    if (!shared.value) TakeFromPool<T>(number);
    if (shared.kind != &KindOf<T>()) return in_.Fail();
    *pointer = std::static_pointer_cast<const T>(shared.value);
  }

 private:
  static constexpr int kMaxDepth = 200;
  // A type-erased field: only `read` depends on the type of the field.
  struct Field {
    void* at;
    void (*read)(ArchiveReader&, void*);
  };
  template <typename T>
  static Field FieldOf(T& field) {
    return {&field, [](ArchiveReader& reader, void* at) { reader.Read(static_cast<T*>(at)); }};
  }
  // Reads the fields in the given order. Skips indexes out of range, which stand for unknown fields;
  // OrderOf() has already reported the error.
  void ReadFields(const Field* fields, size_t count, const std::vector<size_t>& order) {
    for (const size_t place : order) {
      if (place < count) fields[place].read(*this, fields[place].at);
    }
  }
  struct Shared {
    absl::string_view text;
    std::shared_ptr<const void> value;
    const void* kind;
  };
  template <typename T>
  static const char& KindOf() {
    static const char kind = 0;
    return kind;
  }

  // Reads an entry of the pool. A pool entry may refer only to earlier entries.
  template <typename T>
  void TakeFromPool(size_t number) {
    if (++depth_ > kMaxDepth) return in_.Fail();
    MsgpackReader outer(pool_[number].text);
    std::swap(in_, outer);
    const size_t limit = std::exchange(limit_, number);
    auto value = std::make_shared<T>();
    Read(value.get());
    if (!in_.AtEnd()) in_.Fail();
    std::swap(in_, outer);
    limit_ = limit;
    --depth_;
    if (!outer.ok()) return in_.Fail();
    pool_[number].value = std::move(value);
    pool_[number].kind = &KindOf<T>();
  }

  // Returns, for each field of the written record, the index of the field in the current version of the
  // record.
  const std::vector<size_t>& OrderOf(const std::string& name, const char* fields) {
    const auto known = orders_.find(name);
    if (known != orders_.end()) return known->second;
    std::vector<size_t>& order = orders_[name];
    const std::vector<std::string> today = absl::StrSplit(fields, ", ", absl::SkipEmpty());
    const auto written = schemas_.find(name);
    if (written == schemas_.end()) {
      in_.Fail();
      return order;
    }
    for (const auto& field : absl::StrSplit(written->second, ", ", absl::SkipEmpty())) {
      const auto found = std::find(today.begin(), today.end(), field);
      if (found == today.end()) {
        unknown_ = name + "." + std::string(field);
        in_.Fail();
      }
      order.push_back(static_cast<size_t>(found - today.begin()));
    }
    return order;
  }

  MsgpackReader in_;
  Schemas schemas_;
  std::string unknown_;
  std::map<std::string, std::vector<size_t>> orders_;
  std::vector<Shared> pool_;
  size_t limit_;  // The current value may refer only to pool entries with an index below this limit.
  int depth_ = 0;
};

// Default codec: the value is a record.
template <typename T>
struct Codec {
  template <typename Archive>
  static void Write(Archive& archive, const T& value) {
    archive.WriteRecord(value);
  }
  template <typename Archive>
  static void Read(Archive& archive, T* value) {
    archive.ReadRecord(value);
  }
};

// Base of the codec of a value that is written as another type. `Codec<T>` defines `Out(value)`, which
// returns the value as this type, and `In(stored)`, which returns the value, or nullopt if there is none.
template <typename T, typename Stored>
struct CodecAs {
  template <typename Archive>
  static void Write(Archive& archive, const T& value) {
    archive.Write(Codec<T>::Out(value));
  }
  template <typename Archive>
  static void Read(Archive& archive, T* value) {
    std::optional<T> made = Codec<T>::In(archive.template Take<Stored>());
    if (!archive.in().ok() || !made) return archive.in().Fail();
    *value = *std::move(made);
  }
};

template <typename List>
struct ListCodec {
  template <typename Archive>
  static void Write(Archive& archive, const List& list) {
    archive.out().Array(list.size());
    for (const typename List::value_type& item : list) archive.Write(item);
  }
  // The list grows as items are read, so a wrong size in the data cannot cause a large allocation.
  template <typename Archive>
  static void Read(Archive& archive, List* list) {
    list->clear();
    const size_t size = archive.in().Array();
    for (size_t i = 0; i < size && archive.in().ok(); ++i) {
      list->push_back(archive.template Take<typename List::value_type>());
    }
  }
};
template <typename T>
struct Codec<std::vector<T>> : ListCodec<std::vector<T>> {};
template <typename T, size_t n>
struct Codec<absl::InlinedVector<T, n>> : ListCodec<absl::InlinedVector<T, n>> {};
template <typename T>
struct Codec<std::set<T>> : CodecAs<std::set<T>, std::vector<T>> {
  static std::vector<T> Out(const std::set<T>& set) { return std::vector<T>(set.begin(), set.end()); }
  static std::set<T> In(const std::vector<T>& items) { return std::set<T>(items.begin(), items.end()); }
};

template <typename Tuple>
struct TupleCodec {
  template <typename Archive>
  static void Write(Archive& archive, const Tuple& tuple) {
    archive.out().Array(std::tuple_size_v<Tuple>);
    std::apply([&archive](const auto&... items) { (archive.Write(items), ...); }, tuple);
  }
  template <typename Archive>
  static void Read(Archive& archive, Tuple* tuple) {
    if (archive.in().Array() != std::tuple_size_v<Tuple>) return archive.in().Fail();
    std::apply([&archive](auto&... items) { (archive.Read(&items), ...); }, *tuple);
  }
};
template <typename A, typename B>
struct Codec<std::pair<A, B>> : TupleCodec<std::pair<A, B>> {};
template <typename... Items>
struct Codec<std::tuple<Items...>> : TupleCodec<std::tuple<Items...>> {};

// Entries of a map, to be sorted by key. The values are type-erased, so maps with the same key type share the
// sorting code.
template <typename Key>
using EntriesByKey = std::vector<std::pair<const Key*, const void*>>;
template <typename Key>
void SortByKey(EntriesByKey<Key>& entries) {
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return *a.first < *b.first; });
}

// A map is written as the list of its entries, sorted by key.
template <typename Map>
struct MapCodec {
  using Key = typename Map::key_type;
  using Value = typename Map::mapped_type;
  template <typename Archive>
  static void Write(Archive& archive, const Map& map) {
    EntriesByKey<Key> entries;
    entries.reserve(map.size());
    for (const auto& entry : map) entries.emplace_back(&entry.first, &entry.second);
    SortByKey<Key>(entries);
    archive.out().Array(entries.size());
    for (const auto& [key, value] : entries) {
      archive.Write(std::tie(*key, *static_cast<const Value*>(value)));
    }
  }
  template <typename Archive>
  static void Read(Archive& archive, Map* map) {
    map->clear();
    for (size_t left = archive.in().Array(); left > 0 && archive.in().ok(); --left) {
      map->emplace(archive.template Take<std::pair<Key, Value>>());
    }
  }
};
template <typename K, typename V>
struct Codec<std::map<K, V>> : MapCodec<std::map<K, V>> {};
template <typename K, typename V>
struct Codec<absl::flat_hash_map<K, V>> : MapCodec<absl::flat_hash_map<K, V>> {};
template <typename K, typename V>
struct Codec<absl::btree_map<K, V>> : MapCodec<absl::btree_map<K, V>> {};

template <typename T>
struct Codec<std::optional<T>> {
  template <typename Archive>
  static void Write(Archive& archive, const std::optional<T>& value) {
    if (!value) return archive.out().Nil();
    archive.out().Array(1);
    archive.Write(*value);
  }
  template <typename Archive>
  static void Read(Archive& archive, std::optional<T>* value) {
    value->reset();
    if (archive.in().TakeNil()) return;
    if (archive.in().Array() != 1) return archive.in().Fail();
    *value = archive.template Take<T>();
  }
};

template <typename T>
struct Codec<std::shared_ptr<const T>> {
  template <typename Archive>
  static void Write(Archive& archive, const std::shared_ptr<const T>& value) {
    archive.WriteShared(value);
  }
  template <typename Archive>
  static void Read(Archive& archive, std::shared_ptr<const T>* value) {
    archive.ReadShared(value);
  }
};

}  // namespace kueue

#endif  // KUEUE_PERSIST_ARCHIVE_H_
