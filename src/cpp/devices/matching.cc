// Mirrors pkg/dra/claims.go and pkg/dra/counters.go (kueue ff69552e79).
#include "devices/matching.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "devices/selectors.h"

namespace kueue {

std::string ClaimPath(size_t pod_set, size_t claim) {
  return absl::StrCat("spec.podSets[", pod_set, "].template.spec.resourceClaims[", claim, "]");
}

std::string RequestPath(const std::string& claim_path, size_t request) {
  return absl::StrCat(claim_path, claim_path.empty() ? "" : ".", "devices.requests[", request, "]");
}

std::string NotFoundText(absl::string_view resource, const std::string& name) {
  return absl::StrCat(resource, ".resource.k8s.io ", GoQuote(name), " not found");
}

const ResourceClaimTemplate* FindTemplate(const DeviceContext& context, const std::string& ns,
                                          const std::string& name) {
  const auto found = context.objects.templates.find(absl::StrCat(ns, "/", name));
  return found == context.objects.templates.end() ? nullptr : found->second.get();
}

FieldErrors CompileSelectors(const DeviceSelectors& selectors, const std::string& path,
                             const std::string& what, std::vector<std::string>* expressions) {
  FieldErrors errors;
  for (size_t i = 0; i < selectors.size(); ++i) {
    if (!selectors[i]) continue;
    const std::string error = CompileError(*selectors[i]);
    if (error.empty()) {
      if (expressions != nullptr) expressions->push_back(*selectors[i]);
      continue;
    }
    errors.push_back(Invalid(absl::StrCat(path, "[", i, "].cel.expression"), absl::StrCat(what, ": ", error),
                             GoQuote(*selectors[i])));
  }
  return errors;
}

FieldErrors CompileClass(const DeviceContext& context, const std::string& device_class,
                         const std::string& request_path, std::vector<std::string>* expressions) {
  if (device_class.empty()) return {};
  const auto found = context.objects.classes.find(device_class);
  if (found == context.objects.classes.end()) {
    return {Internal(request_path, absl::StrCat("failed to get DeviceClass ", device_class, ": ",
                                                NotFoundText("deviceclasses", device_class)))};
  }
  FieldErrors errors =
      CompileSelectors(found->second->selectors, request_path,
                       absl::StrCat("DeviceClass ", device_class, " has invalid CEL selector"), expressions);
  if (errors.size() > 1) errors.resize(1);
  return errors;
}

namespace {

bool HasExpression(const DeviceRequest& request) {
  return request.exactly && std::any_of(request.selectors.begin(), request.selectors.end(),
                                        [](const auto& selector) { return selector.has_value(); });
}

using Devices = std::vector<const Device*>;

void AddSlices(const DeviceContext& context, const std::string* driver, Devices* devices) {
  for (const auto& [name, slice] : context.objects.slices) {
    if (driver != nullptr && slice->driver != *driver) continue;
    for (const Device& device : slice->devices) devices->push_back(&device);
  }
}

// Returns all devices of the cluster or, if every class has sources, the devices of the drivers in these
// sources.
Devices CandidatesOf(const DeviceContext& context, const std::vector<const DeviceRequest*>& requests) {
  Devices devices;
  std::set<std::string> drivers;
  std::vector<std::string> in_order;
  for (const DeviceRequest* request : requests) {
    std::vector<ClassSource> sources = CountersOf(context.config, request->device_class_name);
    for (const ClassSource& source : CapacitiesOf(context.config, request->device_class_name))
      sources.push_back(source);
    if (sources.empty()) {
      AddSlices(context, nullptr, &devices);
      return devices;
    }
    for (const ClassSource& source : sources) {
      if (drivers.insert(source.source->driver).second) in_order.push_back(source.source->driver);
    }
  }
  for (const std::string& driver : in_order) AddSlices(context, &driver, &devices);
  return devices;
}

// Takes the first `count` devices that match all expressions.
FieldErrors Take(const DeviceRequest& request, const std::vector<std::string>& expressions,
                 const std::string& path, Devices* devices) {
  int64_t found = 0;
  const std::string selectors_path = path + ".exactly.selectors";
  for (const Device*& device : *devices) {
    if (device == nullptr) continue;
    const SelectorAnswer answer = Match(expressions, *device);
    if (!answer.error.empty()) {
      return {Invalid(selectors_path, absl::StrCat("CEL evaluation failed for DeviceClass ",
                                                   request.device_class_name, ": ", answer.error))};
    }
    if (!answer.matches) continue;
    device = nullptr;
    if (++found >= request.count) break;
  }
  if (found >= request.count) return {};
  return {Internal(selectors_path,
                   absl::StrCat("insufficient matching devices for CEL selector in DeviceClass ",
                                request.device_class_name, ": ", found,
                                " device(s) match in the cluster but ", request.count, " requested"))};
}

}  // namespace

FieldErrors CheckSelectors(const DeviceContext& context, const ResourceClaimTemplate& spec,
                           const std::string& claim_path) {
  std::vector<const DeviceRequest*> requests;
  for (const DeviceRequest& request : spec.requests) {
    if (HasExpression(request)) requests.push_back(&request);
  }
  if (requests.empty()) return {};
  Devices devices = CandidatesOf(context, requests);
  FieldErrors errors;
  for (const DeviceRequest* request : requests) {
    const std::string path = RequestPath(claim_path, static_cast<size_t>(request - spec.requests.data()));
    std::vector<std::string> expressions;
    FieldErrors found = CompileClass(context, request->device_class_name, path, &expressions);
    if (found.empty()) {
      found = CompileSelectors(request->selectors, path + ".exactly.selectors", "CEL compilation failed",
                               &expressions);
    }
    if (found.empty()) found = Take(*request, expressions, path, &devices);
    errors.insert(errors.end(), found.begin(), found.end());
  }
  return errors;
}

namespace {

// Only the highest generation of a pool is valid, and only if all its slices are present.
Devices DevicesOfPools(const DeviceContext& context, const std::string& driver) {
  struct Pool {
    int64_t generation = 0, slices = 0, expected = 0;
    Devices devices;
  };
  std::map<std::string, Pool> pools;
  for (const auto& [name, slice] : context.objects.slices) {
    if (slice->driver != driver) continue;
    const auto [entry, inserted] = pools.try_emplace(slice->pool);
    Pool& pool = entry->second;
    if (inserted || slice->generation > pool.generation)
      pool = {slice->generation, 0, slice->resource_slice_count, {}};
    if (slice->generation < pool.generation) continue;
    ++pool.slices;
    for (const Device& device : slice->devices) pool.devices.push_back(&device);
  }
  Devices devices;
  for (const auto& [name, pool] : pools) {
    if (pool.slices == pool.expected) devices.insert(devices.end(), pool.devices.begin(), pool.devices.end());
  }
  return devices;
}

}  // namespace

FieldErrors MatchSource(const DeviceContext& context, const DeviceSource& source,
                        const std::vector<std::string>& of_class, const std::vector<std::string>& of_request,
                        const std::string& request_path, Devices* matched) {
  std::vector<std::string> of_source;
  FieldErrors errors =
      CompileSelectors({source.selector}, request_path, "deviceSelector CEL compilation failed", &of_source);
  if (!errors.empty()) return errors;
  const std::pair<const std::vector<std::string>*, const char*> steps[] = {
      {&of_source, "deviceSelector"}, {&of_class, "DeviceClass selector"}, {&of_request, "request selector"}};
  for (const Device* device : DevicesOfPools(context, source.driver)) {
    bool matches = true;
    for (const auto& [expressions, what] : steps) {
      const SelectorAnswer answer = Match(*expressions, *device);
      if (!answer.error.empty()) {
        return {Internal(request_path, absl::StrCat("CEL evaluation error in ", what, " for device ",
                                                    device->name, ": ", answer.error))};
      }
      matches = answer.matches;
      if (!matches) break;
    }
    if (matches) matched->push_back(device);
  }
  return {};
}

}  // namespace kueue
