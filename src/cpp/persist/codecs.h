// Codecs for values that are not serialized field by field.
#ifndef KUEUE_PERSIST_CODECS_H_
#define KUEUE_PERSIST_CODECS_H_

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "persist/archive.h"
#include "persist/field_lists.h"

namespace kueue {

// Reasons that are read from a live cluster have values greater than all enumerators.
template <>
inline constexpr bool kIsOpen<Reason> = true;

template <>
struct Codec<Amount> : CodecAs<Amount, int64_t> {
  static int64_t Out(Amount amount) { return amount.value(); }
  static Amount In(int64_t value) { return Amount(value); }
};

template <typename Tag>
struct Codec<Id<Tag>> : CodecAs<Id<Tag>, int32_t> {
  static int32_t Out(Id<Tag> id) { return id.value(); }
  static Id<Tag> In(int32_t value) { return Id<Tag>(value); }
};

// A 128-bit integer is written as its upper and its lower 64 bits.
using Halves = std::pair<int64_t, int64_t>;
template <>
struct Codec<Int128> : CodecAs<Int128, Halves> {
  static Halves Out(Int128 value) {
    return {static_cast<int64_t>(value >> 64), static_cast<int64_t>(static_cast<uint64_t>(value))};
  }
  static Int128 In(const Halves& halves) {
    const auto upper = static_cast<Int128>(halves.first) * (static_cast<Int128>(1) << 64);
    return upper + static_cast<Int128>(static_cast<uint64_t>(halves.second));
  }
};

// A quantity is written as [negative, digits, exponent, format].
using QuantityParts = std::tuple<bool, std::string, int, QuantityFormat>;
template <>
struct Codec<Quantity> : CodecAs<Quantity, QuantityParts> {
  static QuantityParts Out(const Quantity& quantity) {
    const Decimal::Digits digits = quantity.value().ToDigits();
    return {quantity.IsNegative(), digits.digits, digits.exponent, quantity.format()};
  }
  static std::optional<Quantity> In(const QuantityParts& parts) {
    const auto& [negative, digits, exponent, format] = parts;
    const bool is_number =
        digits.size() <= kMost && digits.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number || std::abs(exponent) > static_cast<int>(kMost)) return std::nullopt;
    const Decimal value = Decimal::FromDigits(digits, "", exponent);
    return Quantity(negative ? -value : value, format);
  }

 private:
  // Maximum number of digits and maximum absolute value of the exponent. Products of quantities stay far
  // below these limits.
  static constexpr size_t kMost = 1000;
};

// Gates are written under their names in Kueue, so that later versions can add gates.
using NamedGates = std::map<std::string, bool>;
template <>
struct Codec<FeatureGates> : CodecAs<FeatureGates, NamedGates> {
  static NamedGates Out(const FeatureGates& gates) {
    NamedGates named;
    for (const FeatureGate& gate : kFeatureGates) named[gate.name] = gates.*gate.field;
    return named;
  }
  static std::optional<FeatureGates> In(const NamedGates& named) {
    FeatureGates gates;
    for (const auto& [name, is_on] : named) {
      if (!gates.Set(name, is_on)) return std::nullopt;
    }
    return gates;
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
struct Codec<Interner<IdT>> : CodecAs<Interner<IdT>, std::vector<std::string>> {
  static std::vector<std::string> Out(const Interner<IdT>& names) {
    std::vector<std::string> all;
    for (IdT id : names.Ids()) all.push_back(names.Name(id));
    return all;
  }
  static Interner<IdT> In(const std::vector<std::string>& all) {
    Interner<IdT> names;
    for (const std::string& name : all) names.Intern(name);
    return names;
  }
};

// An IdsByText is written like a map.
template <typename IdT>
struct Codec<IdsByText<IdT>> : CodecAs<IdsByText<IdT>, std::map<std::string, IdT>> {
  static std::map<std::string, IdT> Out(const IdsByText<IdT>& ids) {
    std::map<std::string, IdT> sorted;
    ids.ForEach([&sorted](const std::string& text, IdT id) { sorted.emplace(text, id); });
    return sorted;
  }
  static IdsByText<IdT> In(const std::map<std::string, IdT>& sorted) {
    IdsByText<IdT> ids;
    for (const auto& [text, id] : sorted) ids.Set(text, id);
    return ids;
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
struct Codec<Paged<T, n, direct, Index>> : ListCodec<Paged<T, n, direct, Index>> {};

// A table is written as [number of rows, number of columns, values].
template <typename Scalar>
using TableParts = std::tuple<int64_t, int64_t, std::vector<Scalar>>;
template <typename Scalar>
struct Codec<TableOf<Scalar>> : CodecAs<TableOf<Scalar>, TableParts<Scalar>> {
  static TableParts<Scalar> Out(const TableOf<Scalar>& cells) {
    return {cells.rows(), cells.cols(), std::vector<Scalar>(cells.data(), cells.data() + cells.size())};
  }
  static std::optional<TableOf<Scalar>> In(const TableParts<Scalar>& parts) {
    const auto& [rows, cols, values] = parts;
    constexpr int64_t kMost = int64_t{1} << 31;
    if (rows < 0 || cols < 0 || rows >= kMost || cols >= kMost) return std::nullopt;
    if (rows * cols != static_cast<int64_t>(values.size())) return std::nullopt;
    TableOf<Scalar> cells(rows, cols);
    std::copy(values.begin(), values.end(), cells.data());
    return cells;
  }
};

// A WorkloadRun is written without the unused space before its front.
using RunItems = std::vector<WorkloadRun::Item>;
template <>
struct Codec<WorkloadRun> : CodecAs<WorkloadRun, RunItems> {
  static RunItems Out(const WorkloadRun& run) { return RunItems(run.begin(), run.end()); }
  static WorkloadRun In(const RunItems& items) {
    WorkloadRun run;
    FieldLists::ItemsOf(run) = items;
    return run;
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
