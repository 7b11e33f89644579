#include "objects/devices.h"

#include "absl/strings/str_cat.h"
#include "objects/fields.h"

namespace kueue {
namespace {

DeviceSelectors ReadSelectors(const Value& object) {
  return ReadAll(object.Field("selectors"),
                 [](const Value& item) { return std::optional<std::string>(item.Text()); });
}

std::optional<Quantity> OptionalQuantity(const Value& value, const std::string& where) {
  if (!value) return std::nullopt;
  return ReadQuantity(value, where);
}

DeviceRequest ReadRequest(const Value& object) {
  DeviceRequest request;
  request.first_available = static_cast<bool>(object.Field("first_available"));
  request.exactly = !request.first_available;
  request.device_class_name = TextOf(object, "device_class_name");
  request.selectors = ReadSelectors(object);
  request.allocation_mode = TextOf(object, "allocation_mode");
  request.count = object.Field("count").Integer();
  request.admin_access = object.Field("admin_access").Bool();
  request.capacity = ReadResources(object.Field("capacity"), "capacity.requests");
  return request;
}

DeviceCapacity ReadCapacity(const Value& object, const std::string& where) {
  DeviceCapacity capacity;
  capacity.value = ReadQuantity(object.Field("value"), where + ".value");
  const Value policy = object.Field("request_policy");
  if (!policy) return capacity;
  CapacityRequestPolicy& read = capacity.request_policy.emplace();
  read.default_request = OptionalQuantity(policy.Field("default"), where + ".requestPolicy.default");
  read.valid_values = ReadAll(policy.Field("valid_values"), [&where](const Value& value) {
    return ReadQuantity(value, where + ".requestPolicy.validValues");
  });
  if (const Value range = policy.Field("valid_range"); range) {
    const std::string at = where + ".requestPolicy.validRange";
    read.valid_range = {OptionalQuantity(range.Field("min"), at + ".min"),
                        OptionalQuantity(range.Field("max"), at + ".max"),
                        OptionalQuantity(range.Field("step"), at + ".step")};
  }
  return capacity;
}

void ReadCounters(const Value& object, const std::string& where, Device* device) {
  for (const Value& consumption : object.Field("consumes_counters").Items()) {
    for (auto& [name, value] : ReadResources(consumption.Field("counters"), where + ".consumesCounters")) {
      const auto [known, is_new] = device->counters.emplace(name, value);
      if (!is_new && value > known->second) known->second = value;
    }
  }
}

Device ReadDevice(const Value& object, const std::string& subject, size_t index) {
  Device device;
  const std::string where = absl::StrCat("spec.devices[", index, "]");
  device.name = TextOf(object, "name");
  device.subject = subject;
  for (const auto& [name, value] : object.Field("capacity").Entries()) {
    const std::string key = name.Text();
    device.capacity.emplace(key, ReadCapacity(value, absl::StrCat(where, ".capacity[", key, "]")));
  }
  ReadCounters(object, where, &device);
  return device;
}

}  // namespace

std::vector<DeviceClassMapping> ReadDeviceClassMappings(const Value& resources) {
  std::vector<DeviceClassMapping> mappings;
  for (const Value& item : resources.Field("device_class_mappings").Items()) {
    DeviceClassMapping mapping{TextOf(item, "name"), Texts(item.Field("device_class_names")), {}};
    for (const Value& source : item.Field("sources").Items()) {
      for (const char* kind : {"counter", "capacity"}) {
        const Value one = source.Field(kind);
        if (!one) continue;
        mapping.sources.push_back({std::string(kind) == "capacity", TextOf(one, "name"),
                                   TextOf(one, "driver"), TextOf(one, "device_selector")});
      }
    }
    mappings.push_back(std::move(mapping));
  }
  return mappings;
}

DeviceClass ReadDeviceClass(const Value& object) {
  return {ReadSelectors(object), TextOf(object, "extended_resource_name"), 0};
}

ResourceClaimTemplate ReadResourceClaimTemplate(const Value& object) {
  return {ReadAll(object.Field("requests"), &ReadRequest), !object.Field("constraints").Items().empty(),
          !object.Field("config").Items().empty()};
}

ResourceSlice ReadResourceSlice(const Value& object) {
  ResourceSlice slice;
  slice.driver = TextOf(object, "driver");
  const Value pool = object.Field("pool");
  slice.pool = TextOf(pool, "name");
  slice.generation = pool.Field("generation").Integer();
  slice.resource_slice_count = pool.Field("resource_slice_count").Integer();
  const std::vector<Value> devices = object.Field("devices").Items();
  const std::vector<std::string> subjects = Texts(object.Field("subjects"));
  Require(subjects.size() == devices.size(), "spec.devices", "each device must have a subject");
  for (size_t i = 0; i < devices.size(); ++i) {
    slice.devices.push_back(ReadDevice(devices[i], subjects[i], i));
  }
  return slice;
}

}  // namespace kueue
