// The requests of claims, and the devices of the cluster that they select.
// Mirrors pkg/dra/claims.go and pkg/dra/counters.go (kueue ff69552e79).
#ifndef KUEUE_DEVICES_MATCHING_H_
#define KUEUE_DEVICES_MATCHING_H_

#include <string>
#include <vector>

#include "devices/resolve.h"

namespace kueue {

// The path of a claim of a pod set, and of a request within a claim's path.
std::string ClaimPath(size_t pod_set, size_t claim);
std::string RequestPath(const std::string& claim_path, size_t request);

// The text of a missing object, as Kubernetes' client has it.
std::string NotFoundText(absl::string_view resource, const std::string& name);

// The template of a claim; null where there is none of that name.
const ResourceClaimTemplate* FindTemplate(const DeviceContext& context, const std::string& ns,
                                          const std::string& name);

// The expressions of the selectors that have one, or an error for each that does not compile.
FieldErrors CompileSelectors(const DeviceSelectors& selectors, const std::string& path,
                             const std::string& what, std::vector<std::string>* expressions);
// The same of a device class, which must exist; the name may be empty. One error at most.
FieldErrors CompileClass(const DeviceContext& context, const std::string& device_class,
                         const std::string& request_path, std::vector<std::string>* expressions);

// Whether enough devices match the CEL selectors of a claim's requests. Each takes the first devices that
// match (pkg/dra/claims.go:validateCELSelectorsAgainstDevices).
FieldErrors CheckSelectors(const DeviceContext& context, const ResourceClaimTemplate& spec,
                           const std::string& claim_path);

// The devices of a source that a request selects, of complete pools
// (pkg/dra/counters.go:matchDevicesForSource).
FieldErrors MatchSource(const DeviceContext& context, const DeviceSource& source,
                        const std::vector<std::string>& of_class, const std::vector<std::string>& of_request,
                        const std::string& request_path, std::vector<const Device*>* matched);

}  // namespace kueue

#endif  // KUEUE_DEVICES_MATCHING_H_
