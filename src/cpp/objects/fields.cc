#include "objects/fields.h"

#include <utility>

namespace kueue {
namespace {

// Returns whether Go omits the value when it writes an object.
bool IsOmitted(const Value& value) {
  const ValueKind kind = value.kind();
  return kind == ValueKind::kNull || (kind == ValueKind::kList && value.Items().empty()) ||
         (kind == ValueKind::kText && value.Text().empty());
}

}  // namespace

std::string TextOf(const Value& record, const char* field) { return record.Field(field).Text(); }

std::map<std::string, std::string> Labels(const Value& map) {
  std::map<std::string, std::string> labels;
  for (const auto& [key, value] : map.Entries()) labels[key.Text()] = value.Text();
  return labels;
}

std::vector<std::string> Texts(const Value& list) {
  return ReadAll(list, [](const Value& item) { return item.Text(); });
}

std::optional<int64_t> OptionalInteger(const Value& value) {
  return value ? std::optional<int64_t>(value.Integer()) : std::nullopt;
}

int32_t Integer32(const Value& value, const std::string& where) {
  const int64_t number = value.Integer();
  Require(number >= INT32_MIN && number <= INT32_MAX, where, "it must be an integer of 32 bits");
  return static_cast<int32_t>(number);
}

Time TimeOf(const Value& value) { return value.Field("value").Integer(); }

std::optional<Time> OptionalTime(const Value& value) {
  return value ? std::optional<Time>(TimeOf(value)) : std::nullopt;
}

Quantity ReadQuantity(const Value& value, const std::string& where) {
  if (const Quantity* const known = value.AsQuantity()) return *known;
  absl::StatusOr<Quantity> quantity = Quantity::Parse(value.Printed());
  Require(quantity.ok(), where, quantity.status().message());
  return *std::move(quantity);
}

ResourceList ReadResources(const Value& map, const std::string& where) {
  ResourceList resources;
  if (!map) return resources;
  for (const auto& [name, value] : map.Entries()) {
    const std::string resource = name.Text();
    resources[resource] = ReadQuantity(value, absl::StrCat(where, "[", resource, "]"));
  }
  return resources;
}

Value GetMap(const Value& map, const char* key, const std::string& where) {
  Value value = map.Get(key);
  if (value && value.kind() != ValueKind::kMap)
    Require(false, absl::StrCat(where, ".", key), "it must be an object");
  return value;
}

Value GetList(const Value& map, const char* key, const std::string& where) {
  Value value = map.Get(key);
  if (value && value.kind() != ValueKind::kList)
    Require(false, absl::StrCat(where, ".", key), "it must be a list");
  return value;
}

std::string GetText(const Value& map, const char* key, const std::string& where) {
  const Value value = map.Get(key);
  if (value && value.kind() != ValueKind::kText)
    Require(false, absl::StrCat(where, ".", key), "it must be a string");
  return value.Text();
}

std::string CanonicalForm(const Value& value, std::map<std::string, std::string> defaults) {
  std::string form;
  switch (value.kind()) {
    case ValueKind::kNull:
      return "~";
    case ValueKind::kMap: {
      std::map<std::string, std::string>& sorted = defaults;
      for (const auto& [name, item] : value.Entries()) {
        const std::string key = name.Printed();
        sorted.erase(key);
        if (!IsOmitted(item)) sorted[key] = CanonicalForm(item);
      }
      for (const auto& [key, item] : sorted) absl::StrAppend(&form, key.size(), ":", key, item);
      return absl::StrCat("{", form, "}");
    }
    case ValueKind::kList:
      for (const Value& item : value.Items()) form += CanonicalForm(item);
      return absl::StrCat("[", form, "]");
    default: {
      // The quotes distinguish "1" from 1 and "True" from true.
      const std::string text = value.Printed();
      return absl::StrCat(value.kind() == ValueKind::kText ? "\"" : "", text.size(), ":", text);
    }
  }
}

}  // namespace kueue
