#include <memory>

#include "absl/strings/str_cat.h"
#include "bindings/read.h"
#include "devices/selectors.h"

namespace kueue::python {
namespace {

DeviceSelectors ReadSelectors(const py::handle& object) {
  return ReadAll(Field(object, "selectors"),
                 [](const py::handle& item) { return std::optional<std::string>(Text(item)); });
}

std::optional<Quantity> OptionalQuantity(const py::handle& value, const std::string& where) {
  if (value.is_none()) return std::nullopt;
  return ReadQuantity(value, where);
}

DeviceRequest ReadRequest(const py::handle& object) {
  DeviceRequest request;
  request.first_available = !Field(object, "first_available").is_none();
  request.exactly = !request.first_available;
  request.device_class_name = TextOf(object, "device_class_name");
  request.selectors = ReadSelectors(object);
  request.allocation_mode = TextOf(object, "allocation_mode");
  request.count = Field(object, "count").cast<int64_t>();
  request.admin_access = Field(object, "admin_access").cast<bool>();
  request.capacity = ReadResources(Field(object, "capacity"), "capacity.requests");
  return request;
}

DeviceCapacity ReadCapacity(const py::handle& object, const std::string& where) {
  DeviceCapacity capacity;
  capacity.value = ReadQuantity(Field(object, "value"), where + ".value");
  const py::object policy = Field(object, "request_policy");
  if (policy.is_none()) return capacity;
  CapacityRequestPolicy& read = capacity.request_policy.emplace();
  read.default_request = OptionalQuantity(Field(policy, "default"), where + ".requestPolicy.default");
  read.valid_values = ReadAll(Field(policy, "valid_values"), [&where](const py::handle& value) {
    return ReadQuantity(value, where + ".requestPolicy.validValues");
  });
  if (const py::object range = Field(policy, "valid_range"); !range.is_none()) {
    const std::string at = where + ".requestPolicy.validRange";
    read.valid_range = {OptionalQuantity(Field(range, "min"), at + ".min"),
                        OptionalQuantity(Field(range, "max"), at + ".max"),
                        OptionalQuantity(Field(range, "step"), at + ".step")};
  }
  return capacity;
}

void ReadCounters(const py::handle& object, const std::string& where, Device* device) {
  for (const py::handle& consumption : Field(object, "consumes_counters")) {
    for (auto& [name, value] : ReadResources(Field(consumption, "counters"), where + ".consumesCounters")) {
      const auto [known, is_new] = device->counters.emplace(name, value);
      if (!is_new && value > known->second) known->second = value;
    }
  }
}

Device ReadDevice(const py::handle& object, const py::handle& subject, size_t index) {
  Device device;
  const std::string where = absl::StrCat("spec.devices[", index, "]");
  device.name = TextOf(object, "name");
  device.subject = Text(subject);
  for (const auto& [name, value] : py::reinterpret_borrow<py::dict>(Field(object, "capacity"))) {
    const std::string key = Text(name);
    device.capacity.emplace(key, ReadCapacity(value, absl::StrCat(where, ".capacity[", key, "]")));
  }
  ReadCounters(object, where, &device);
  return device;
}

}  // namespace

std::vector<DeviceClassMapping> ReadDeviceClassMappings(const py::handle& resources) {
  std::vector<DeviceClassMapping> mappings;
  for (const py::handle& item : Field(resources, "device_class_mappings")) {
    DeviceClassMapping mapping{TextOf(item, "name"), Texts(Field(item, "device_class_names")), {}};
    for (const py::handle& source : Field(item, "sources")) {
      for (const char* kind : {"counter", "capacity"}) {
        const py::object one = Field(source, kind);
        if (one.is_none()) continue;
        mapping.sources.push_back({std::string(kind) == "capacity", TextOf(one, "name"),
                                   TextOf(one, "driver"), TextOf(one, "device_selector")});
      }
    }
    mappings.push_back(std::move(mapping));
  }
  return mappings;
}

DeviceClass ReadDeviceClass(const py::handle& object) {
  return {ReadSelectors(object), TextOf(object, "extended_resource_name"), 0};
}

ResourceClaimTemplate ReadResourceClaimTemplate(const py::handle& object) {
  return {ReadAll(Field(object, "requests"), &ReadRequest), py::len(Field(object, "constraints")) > 0,
          py::len(Field(object, "config")) > 0};
}

ResourceSlice ReadResourceSlice(const py::handle& object) {
  ResourceSlice slice;
  slice.driver = TextOf(object, "driver");
  const py::object pool = Field(object, "pool");
  slice.pool = TextOf(pool, "name");
  slice.generation = Field(pool, "generation").cast<int64_t>();
  slice.resource_slice_count = Field(pool, "resource_slice_count").cast<int64_t>();
  const py::object subjects = Field(object, "subjects");
  size_t index = 0;
  for (const py::handle& device : Field(object, "devices")) {
    slice.devices.push_back(ReadDevice(device, subjects[py::int_(index)], index));
    ++index;
  }
  return slice;
}

namespace {

// CEL evaluated by Python. May be called from any thread, with or without the GIL.
class PythonLanguage : public SelectorLanguage {
 public:
  std::string Compile(const std::string& expression) override {
    const py::gil_scoped_acquire acquire;
    return Text(Function("compile_error")(expression));
  }
  SelectorAnswer Evaluate(const std::string& expression, const std::string& subject) override {
    const py::gil_scoped_acquire acquire;
    const auto answer = Function("evaluate")(expression, subject).cast<std::pair<bool, std::string>>();
    return {answer.first, answer.second};
  }

 private:
  static py::object Function(const char* name) { return py::module_::import("kueuepy.selectors").attr(name); }
};

}  // namespace

// Never freed, because engines in any thread may be using it.
void BindDevices(py::module_&) { SetSelectorLanguage(new PythonLanguage); }

}  // namespace kueue::python
