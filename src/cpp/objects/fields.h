// Reads fields of records, and keys of the maps of a parsed text. For a map, throws an InvalidArgument error
// with the path of the value if its type differs from the type in the API.
#ifndef KUEUE_OBJECTS_FIELDS_H_
#define KUEUE_OBJECTS_FIELDS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/ids.h"
#include "model/pod.h"
#include "objects/status_error.h"
#include "objects/value.h"
#include "quantity/quantity.h"

namespace kueue {

// Returns the results of `read` for the items of a list.
template <typename Read>
auto ReadAll(const Value& list, Read read) {
  std::vector<decltype(read(list))> all;
  for (const Value& item : list.Items()) all.push_back(read(item));
  return all;
}
// Same, by the field `name` of each item.
template <typename Read>
auto ReadByName(const Value& list, Read read) {
  std::map<std::string, decltype(read(list))> all;
  for (const Value& item : list.Items()) all[item.Field("name").Text()] = read(item);
  return all;
}
std::string TextOf(const Value& record, const char* field);
std::map<std::string, std::string> Labels(const Value& map);
std::vector<std::string> Texts(const Value& list);
std::optional<int64_t> OptionalInteger(const Value& value);
// `where` is the path for error messages.
int32_t Integer32(const Value& value, const std::string& where);
Time TimeOf(const Value& value);  // `value` is a record with the field `value`.
std::optional<Time> OptionalTime(const Value& value);
Quantity ReadQuantity(const Value& value, const std::string& where);
Quantity ParseQuantity(const std::string& text, const std::string& where);
ResourceList ReadResources(const Value& map, const std::string& where);

// Return the value of a key; null or an empty text if the key is absent. `where` is the path of `map`.
Value GetMap(const Value& map, const char* key, const std::string& where);
Value GetList(const Value& map, const char* key, const std::string& where);
std::string GetText(const Value& map, const char* key, const std::string& where);

// Calls read(item, path of the item) for each item of the list that is the value of the key, if there is one.
// Each item of the list must be an object.
template <typename Read>
void ForEachObject(const Value& map, const char* key, const std::string& where, Read read) {
  const Value list = GetList(map, key, where);
  if (!list) return;
  size_t index = 0;
  for (const Value& item : list.Items()) {
    const std::string at = absl::StrCat(where, ".", key, "[", index++, "]");
    Require(item.kind() == ValueKind::kMap, at, "it must be an object");
    read(item, at);
  }
}

// Returns a canonical string form of the value of a parsed text. Values that Kueue distinguishes have
// different string forms. In the string form, keys are sorted and strings are prefixed with their length.
// Keys with the values null, "" or [] are treated as absent, since Kueue omits them when it writes objects.
// `defaults` has the string forms of keys that the outermost map may not have.
std::string CanonicalForm(const Value& value, std::map<std::string, std::string> defaults = {});

}  // namespace kueue

#endif  // KUEUE_OBJECTS_FIELDS_H_
