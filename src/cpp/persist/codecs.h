// Codecs for values that are not serialized field by field.
#ifndef KUEUE_PERSIST_CODECS_H_
#define KUEUE_PERSIST_CODECS_H_

#include <cstdlib>
#include <map>
#include <string>
#include <variant>

#include "persist/archive.h"
#include "persist/field_lists.h"

namespace kueue {

// Reasons that are read from a live cluster have values greater than all enumerators.
template <>
inline constexpr bool kIsOpen<Reason> = true;

template <>
struct Codec<Amount> {
  template <typename Archive>
  static void Write(Archive& archive, Amount amount) {
    archive.out().Int(amount.value());
  }
  template <typename Archive>
  static void Read(Archive& archive, Amount* amount) {
    *amount = Amount(archive.in().Int());
  }
};

// A 128-bit integer is written as its upper and its lower 64 bits.
template <>
struct Codec<Int128> {
  template <typename Archive>
  static void Write(Archive& archive, Int128 value) {
    archive.out().Array(2);
    archive.out().Int(static_cast<int64_t>(value >> 64));
    archive.out().Int(static_cast<int64_t>(static_cast<uint64_t>(value)));
  }
  template <typename Archive>
  static void Read(Archive& archive, Int128* value) {
    if (archive.in().Array() != 2) return archive.in().Fail();
    const auto upper = static_cast<Int128>(archive.in().Int()) * (static_cast<Int128>(1) << 64);
    *value = upper + static_cast<Int128>(static_cast<uint64_t>(archive.in().Int()));
  }
};

// A quantity is written as [negative, digits, exponent, format].
template <>
struct Codec<Quantity> {
  template <typename Archive>
  static void Write(Archive& archive, const Quantity& quantity) {
    const Decimal::Digits digits = quantity.value().ToDigits();
    archive.out().Array(4);
    archive.Write(quantity.IsNegative());
    archive.Write(digits.digits);
    archive.Write(digits.exponent);
    archive.Write(quantity.format());
  }
  template <typename Archive>
  static void Read(Archive& archive, Quantity* quantity) {
    if (archive.in().Array() != 4) return archive.in().Fail();
    const bool negative = archive.in().Bool();
    const auto digits = archive.template Take<std::string>();
    const auto exponent = archive.template Take<int>();
    const auto format = archive.template Take<QuantityFormat>();
    const bool is_number =
        digits.size() <= kMost && digits.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number || std::abs(exponent) > static_cast<int>(kMost)) return archive.in().Fail();
    const Decimal value = Decimal::FromDigits(digits, "", exponent);
    *quantity = Quantity(negative ? -value : value, format);
  }

 private:
  // Maximum number of digits and maximum absolute value of the exponent. Products of quantities stay far
  // below these limits.
  static constexpr size_t kMost = 1000;
};

// Gates are written under their names in Kueue, so that later versions can add gates.
template <>
struct Codec<FeatureGates> {
  template <typename Archive>
  static void Write(Archive& archive, const FeatureGates& gates) {
    std::map<std::string, bool> named;
    for (const FeatureGate& gate : kFeatureGates) named[gate.name] = gates.*gate.field;
    archive.Write(named);
  }
  template <typename Archive>
  static void Read(Archive& archive, FeatureGates* gates) {
    for (const auto& [name, is_on] : archive.template Take<std::map<std::string, bool>>()) {
      if (!gates->Set(name, is_on)) archive.in().Fail();
    }
  }
};

template <typename Tag>
struct Codec<Id<Tag>> {
  template <typename Archive>
  static void Write(Archive& archive, Id<Tag> id) {
    archive.Write(id.value());
  }
  template <typename Archive>
  static void Read(Archive& archive, Id<Tag>* id) {
    *id = Id<Tag>(archive.template Take<int32_t>());
  }
};

template <typename IdT, typename T>
struct Codec<IdVector<IdT, T>> {
  template <typename Archive>
  static void Write(Archive& archive, const IdVector<IdT, T>& items) {
    archive.Write(items.items());
  }
  template <typename Archive>
  static void Read(Archive& archive, IdVector<IdT, T>* items) {
    archive.Read(&items->items());
  }
};

template <typename IdT>
struct Codec<Interner<IdT>> {
  template <typename Archive>
  static void Write(Archive& archive, const Interner<IdT>& names) {
    archive.out().Array(names.size());
    for (IdT id : names.Ids()) archive.out().Text(names.Name(id));
  }
  template <typename Archive>
  static void Read(Archive& archive, Interner<IdT>* names) {
    *names = Interner<IdT>();
    for (const std::string& name : archive.template Take<std::vector<std::string>>()) names->Intern(name);
  }
};

// An IdsByText is written like a map.
template <typename IdT>
struct Codec<IdsByText<IdT>> {
  template <typename Archive>
  static void Write(Archive& archive, const IdsByText<IdT>& ids) {
    std::map<std::string, IdT> sorted;
    ids.ForEach([&sorted](const std::string& text, IdT id) { sorted.emplace(text, id); });
    archive.Write(sorted);
  }
  template <typename Archive>
  static void Read(Archive& archive, IdsByText<IdT>* ids) {
    ids->Clear();
    for (const auto& [text, id] : archive.template Take<std::map<std::string, IdT>>()) {
      if (ids->Find(text) == kNoId) ids->Set(text, id);
    }
  }
};

template <typename T>
struct Codec<Shared<T>> {
  template <typename Archive>
  static void Write(Archive& archive, const Shared<T>& value) {
    archive.Write(*value);
  }
  template <typename Archive>
  static void Read(Archive& archive, Shared<T>* value) {
    archive.Read(&value->Edit());
  }
};

template <typename T, size_t n, bool direct, typename Index>
struct Codec<Paged<T, n, direct, Index>> {
  template <typename Archive>
  static void Write(Archive& archive, const Paged<T, n, direct, Index>& items) {
    archive.out().Array(items.size());
    for (const T& item : items) archive.Write(item);
  }
  template <typename Archive>
  static void Read(Archive& archive, Paged<T, n, direct, Index>* items) {
    items->clear();
    const size_t size = archive.in().Array();
    for (size_t i = 0; i < size && archive.in().ok(); ++i) items->push_back(archive.template Take<T>());
  }
};

// A table is written as [number of rows, number of columns, values].
template <typename Scalar>
struct Codec<TableOf<Scalar>> {
  using Cells = TableOf<Scalar>;
  template <typename Archive>
  static void Write(Archive& archive, const Cells& cells) {
    archive.out().Array(3);
    archive.out().Int(cells.rows());
    archive.out().Int(cells.cols());
    archive.out().Array(static_cast<size_t>(cells.size()));
    for (Eigen::Index i = 0; i < cells.size(); ++i) archive.Write(cells.data()[i]);
  }
  template <typename Archive>
  static void Read(Archive& archive, Cells* cells) {
    if (archive.in().Array() != 3) return archive.in().Fail();
    const int64_t rows = archive.in().Int(), cols = archive.in().Int();
    const auto size = static_cast<int64_t>(archive.in().Array());
    constexpr int64_t kMost = int64_t{1} << 31;
    if (rows < 0 || cols < 0 || rows >= kMost || cols >= kMost || rows * cols != size)
      return archive.in().Fail();
    cells->resize(rows, cols);
    for (Eigen::Index i = 0; i < cells->size(); ++i) archive.Read(&cells->data()[i]);
  }
};

// A WorkloadRun is written without the unused space before its front.
template <>
struct Codec<WorkloadRun> {
  template <typename Archive>
  static void Write(Archive& archive, const WorkloadRun& run) {
    archive.Write(std::vector<WorkloadRun::Item>(run.begin(), run.end()));
  }
  template <typename Archive>
  static void Read(Archive& archive, WorkloadRun* run) {
    *run = WorkloadRun();
    archive.Read(&FieldLists::ItemsOf(*run));
  }
};

template <>
struct Codec<std::monostate> {
  template <typename Archive>
  static void Write(Archive& archive, std::monostate) {
    archive.out().Nil();
  }
  template <typename Archive>
  static void Read(Archive& archive, std::monostate*) {
    if (!archive.in().TakeNil()) archive.in().Fail();
  }
};

// A variant is written as [index of the alternative, value of the alternative]. `T` is the variant or a class
// derived from it.
template <typename T, typename Variant>
struct VariantCodec {
  template <typename Archive>
  static void Write(Archive& archive, const Variant& value) {
    archive.out().Array(2);
    archive.out().Int(static_cast<int64_t>(value.index()));
    std::visit([&archive](const auto& alternative) { archive.Write(alternative); }, value);
  }
  template <typename Archive>
  static void Read(Archive& archive, T* value) {
    if (archive.in().Array() != 2) return archive.in().Fail();
    const int64_t index = archive.in().Int();
    if (!TakeAs(archive, index, value, static_cast<const Variant*>(nullptr))) archive.in().Fail();
  }

 private:
  template <typename Archive, typename... Kinds>
  static bool TakeAs(Archive& archive, int64_t index, T* value, const std::variant<Kinds...>*) {
    int64_t place = 0;
    return ((place++ == index && (*value = archive.template Take<Kinds>(), true)) || ...);
  }
};
template <typename... Kinds>
struct Codec<std::variant<Kinds...>> : VariantCodec<std::variant<Kinds...>, std::variant<Kinds...>> {};
template <>
struct Codec<MessageBody> : VariantCodec<MessageBody, MessageKinds> {};

}  // namespace kueue

#endif  // KUEUE_PERSIST_CODECS_H_
