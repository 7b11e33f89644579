#include "objects/fields.h"

#include <utility>

namespace kueue {
namespace {

// Returns whether Go omits a value with this canonical form when it writes an object: null, [] or "".
bool IsOmitted(const std::string& form) { return form == "~" || form == "[]" || form == "\"0:"; }

// Returns the value of a key, which must be of this kind if it is not null. `name` describes the kind.
Value GetOf(const Value& map, const char* key, const std::string& where, ValueKind kind, const char* name) {
  Value value = map.Get(key);
  if (value && value.kind() != kind)
    Require(false, absl::StrCat(where, ".", key), absl::StrCat("it must be ", name));
  return value;
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
  return ParseQuantity(value.Printed(), where);
}

Quantity ParseQuantity(const std::string& text, const std::string& where) {
  absl::StatusOr<Quantity> quantity = Quantity::Parse(text);
  if (!quantity.ok()) Require(false, where, quantity.status().message());
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
  return GetOf(map, key, where, ValueKind::kMap, "an object");
}

Value GetList(const Value& map, const char* key, const std::string& where) {
  return GetOf(map, key, where, ValueKind::kList, "a list");
}

std::string GetText(const Value& map, const char* key, const std::string& where) {
  return GetOf(map, key, where, ValueKind::kText, "a string").Text();
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
        std::string of_item = CanonicalForm(item);
        if (IsOmitted(of_item)) {
          sorted.erase(key);
        } else {
          sorted[key] = std::move(of_item);
        }
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
