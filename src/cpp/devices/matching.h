// Requests of resource claims, and the devices of the cluster that they select. Mirrors pkg/dra/claims.go and
// pkg/dra/counters.go (kueue ff69552e79).
#ifndef KUEUE_DEVICES_MATCHING_H_
#define KUEUE_DEVICES_MATCHING_H_

#include <string>
#include <vector>

#include "devices/resolve.h"

namespace kueue {

// ClaimPath() returns the field path of a claim of a pod set. RequestPath() returns the field path of a
// request in a claim.
std::string ClaimPath(size_t pod_set, size_t claim);
std::string RequestPath(const std::string& claim_path, size_t request);

// Returns the message of a "not found" error of the Kubernetes client.
std::string NotFoundText(absl::string_view resource, const std::string& name);

// Returns the claim template with this name, or null if it does not exist. `context.objects` owns the
// template.
const ResourceClaimTemplate* FindTemplate(const DeviceContext& context, const std::string& ns,
                                          const std::string& name);

// Appends the CEL expressions of the selectors to `expressions`. Returns an error for each expression that
// does not compile.
FieldErrors CompileSelectors(const DeviceSelectors& selectors, const std::string& path,
                             const std::string& what, std::vector<std::string>* expressions);
// Same as CompileSelectors(), but for the selectors of a device class. Returns an error if the class does not
// exist; otherwise, returns only the error of the first invalid selector. Does nothing if the name of the
// device class is empty.
FieldErrors CompileClass(const DeviceContext& context, const std::string& device_class,
                         const std::string& request_path, std::vector<std::string>* expressions);

// Checks whether enough devices match the CEL selectors of each request of a claim. Each request takes the
// first devices that match its selectors (pkg/dra/claims.go:validateCELSelectorsAgainstDevices).
FieldErrors CheckSelectors(const DeviceContext& context, const ResourceClaimTemplate& spec,
                           const std::string& claim_path);

// Appends to `matched` the devices of a source that match a request. Devices of incomplete pools are ignored
// (pkg/dra/counters.go:matchDevicesForSource). `context.objects` owns the devices.
FieldErrors MatchSource(const DeviceContext& context, const DeviceSource& source,
                        const std::vector<std::string>& of_class, const std::vector<std::string>& of_request,
                        const std::string& request_path, std::vector<const Device*>* matched);

}  // namespace kueue

#endif  // KUEUE_DEVICES_MATCHING_H_
