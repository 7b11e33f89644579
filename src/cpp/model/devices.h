// Devices of Dynamic Resource Allocation (API group resource.k8s.io, version v1): the objects that Kueue
// reads to count the devices of a workload, and what a workload is charged for them.
#ifndef KUEUE_MODEL_DEVICES_H_
#define KUEUE_MODEL_DEVICES_H_

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "model/ids.h"
#include "model/pod.h"

namespace kueue {

// Configuration.resources.deviceClassMappings. A source charges a counter or a capacity instead of devices.
struct DeviceSource {
  bool is_capacity = false;
  std::string name, driver;
  std::string selector;  // a CEL expression
};
struct DeviceClassMapping {
  std::string name;  // the logical resource
  std::vector<std::string> device_class_names;
  std::vector<DeviceSource> sources;  // empty: devices are counted
};

// CEL expressions; one without a value selects by other means than CEL.
using DeviceSelectors = std::vector<std::optional<std::string>>;

struct DeviceClass {
  DeviceSelectors selectors;
  std::string extended_resource_name;  // empty: none
  Time created = 0;
};

struct DeviceRequest {
  bool first_available = false;
  bool exactly = false;  // the fields below have values
  std::string device_class_name;
  DeviceSelectors selectors;
  std::string allocation_mode;
  int64_t count = 0;
  bool admin_access = false;
  ResourceList capacity;  // capacity.requests
};

struct ResourceClaimTemplate {
  std::vector<DeviceRequest> requests;
  bool has_constraints = false, has_config = false;
};

struct CapacityRange {
  std::optional<Quantity> min, max, step;
};
struct CapacityRequestPolicy {
  std::optional<Quantity> default_request;
  std::vector<Quantity> valid_values;
  std::optional<CapacityRange> valid_range;
};
struct DeviceCapacity {
  Quantity value;
  std::optional<CapacityRequestPolicy> request_policy;
};

// What an expression of a selector says of a device.
struct SelectorAnswer {
  bool matches = false;
  std::string error;  // of the evaluation; empty: none
};

// The answers for one device, by expression, as far as they were asked. They depend on the device alone, so
// that copies share them, also between threads.
struct SelectorMemo {
  std::mutex mutex;
  absl::flat_hash_map<std::string, SelectorAnswer> answers;
};
struct SelectorMemoRef {
  std::shared_ptr<SelectorMemo> memo = std::make_shared<SelectorMemo>();
};

struct Device {
  std::string name;
  std::string subject;  // what selectors see of it, as JSON: driver, attributes, capacity
  std::map<std::string, DeviceCapacity> capacity;
  std::map<std::string, Quantity> counters;  // the largest value among its consumesCounters
  SelectorMemoRef known;
};

struct ResourceSlice {
  std::string driver, pool;
  int64_t generation = 0, resource_slice_count = 0;
  std::vector<Device> devices;
};

struct DeviceObjects {
  std::map<std::string, std::shared_ptr<const DeviceClass>> classes;
  std::map<std::string, std::shared_ptr<const ResourceClaimTemplate>> templates;  // by namespace/name
  std::map<std::string, std::shared_ptr<const ResourceSlice>> slices;
};

// What one pod of a pod set is charged beside its requests, and the extended resources that this replaces.
struct DeviceCharge {
  ResourceList amounts;
  std::set<std::string> replaced;
};
bool operator==(const DeviceCharge& a, const DeviceCharge& b);

// Charges by pod set, in their order.
struct DeviceCharges {
  std::vector<DeviceCharge> pod_sets;
  bool IsEmpty() const;
};
// Null counts as charges of nothing.
bool SameCharges(const DeviceCharges* a, const DeviceCharges* b);

// A workload with devices, as the queue manager knows it.
struct DeviceQueueing {
  std::shared_ptr<const DeviceCharges> charges;  // of the last success; null: none
  bool listed = false;   // in the list of its LocalQueue, so that a new ClusterQueue takes it in
  bool changed = false;  // its spec, reclaimable pods or conditions changed since it was put into its queue
  // The queue holds a copy without the condition Requeued=False, which the API still has.
  bool ignores_requeued = false;
  // Its spec changed since the condition Admitted was last written, which says of which spec it is.
  bool respecified = false;
};

}  // namespace kueue

#endif  // KUEUE_MODEL_DEVICES_H_
