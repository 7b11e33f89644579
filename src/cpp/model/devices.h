// Dynamic Resource Allocation (API group resource.k8s.io, version v1): the objects that Kueue reads to count
// the devices of a workload, and the resulting quota charges.
#ifndef KUEUE_MODEL_DEVICES_H_
#define KUEUE_MODEL_DEVICES_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "model/ids.h"
#include "model/pod.h"

namespace kueue {

// A source of a mapping in Configuration.resources.deviceClassMappings. The source charges quota for the
// consumed amount of a counter or a capacity instead of for the number of devices.
struct DeviceSource {
  bool is_capacity = false;
  std::string name, driver;
  std::string selector;  // A CEL expression.
};
struct DeviceClassMapping {
  std::string name;  // Logical resource charged for devices of these classes.
  std::vector<std::string> device_class_names;
  std::vector<DeviceSource> sources;  // If the list is empty, the number of devices is charged.
};

// CEL expressions. An entry without a value is a selector that is not a CEL expression.
using DeviceSelectors = std::vector<std::optional<std::string>>;

struct DeviceClass {
  DeviceSelectors selectors;
  std::string extended_resource_name;  // Empty: none.
  Time created = 0;
};

struct DeviceRequest {
  bool first_available = false;
  bool exactly = false;  // Whether the request sets `exactly`; the fields below are valid only if it does.
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

// Result of evaluating a selector expression on a device.
struct SelectorAnswer {
  bool matches = false;
  std::string error;  // Error of the evaluation; empty if the evaluation succeeded.
};

// Cached answers for one device, keyed by expression. Copies of a device share the cache, even across
// threads, because an answer depends only on the expression and the device. Only devices/selectors.cc reads
// and writes it.
struct SelectorMemo {
  absl::flat_hash_map<std::string, SelectorAnswer> answers;
};
struct SelectorMemoRef {
  std::shared_ptr<SelectorMemo> memo = std::make_shared<SelectorMemo>();
};

struct Device {
  std::string name;
  std::string subject;  // JSON of the fields visible to selectors: driver, attributes, capacity.
  std::map<std::string, DeviceCapacity> capacity;
  // For each counter, the largest value among the device's consumesCounters.
  std::map<std::string, Quantity> counters;
  SelectorMemoRef known;
};

struct ResourceSlice {
  std::string driver, pool;
  int64_t generation = 0, resource_slice_count = 0;
  std::vector<Device> devices;
};

struct DeviceObjects {
  std::map<std::string, std::shared_ptr<const DeviceClass>> classes;
  std::map<std::string, std::shared_ptr<const ResourceClaimTemplate>> templates;  // By `namespace/name`.
  std::map<std::string, std::shared_ptr<const ResourceSlice>> slices;
};

// Additional charge of one pod of a pod set, and the extended resources whose requests this charge replaces.
struct DeviceCharge {
  ResourceList amounts;
  std::set<std::string> replaced;
};
bool operator==(const DeviceCharge& a, const DeviceCharge& b);

// Charges of a workload's pod sets, in the order of the pod sets.
struct DeviceCharges {
  std::vector<DeviceCharge> pod_sets;
  bool IsEmpty() const;
};
// Returns whether two sets of charges are equal. A null pointer is treated as charges without amounts.
bool SameCharges(const DeviceCharges* a, const DeviceCharges* b);

// State of a workload with devices as seen by the queue manager.
struct DeviceQueueing {
  // Charges from the last successful computation; null if there was none.
  std::shared_ptr<const DeviceCharges> charges;
  // Whether the spec, reclaimable pods or conditions have changed since the workload was enqueued.
  bool changed = false;
  // Whether the queue's copy of the workload lacks the condition Requeued=False that the API object still
  // has.
  bool ignores_requeued = false;
  // Whether an admission check of the queue's copy is Retry or Rejected.
  bool failed_checks = false;
};

}  // namespace kueue

#endif  // KUEUE_MODEL_DEVICES_H_
