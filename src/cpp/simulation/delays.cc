#include "simulation/delays.h"

#include <algorithm>

namespace kueue {
namespace {

// Mirrors pkg/controller/admissionchecks/provisioning/controller.go:podUses.
bool Uses(const std::vector<Container>& containers, const std::string& resource) {
  return std::any_of(containers.begin(), containers.end(), [&](const Container& one) {
    return one.requests.count(resource) > 0 || one.limits.count(resource) > 0;
  });
}

}  // namespace

size_t Draws::Place(int32_t row, int32_t run) const {
  uint64_t mixed = static_cast<uint64_t>(static_cast<uint32_t>(row)) << 32 | static_cast<uint32_t>(run);
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  mixed ^= mixed >> 31;
  return static_cast<size_t>(mixed % values_.size());
}

std::optional<int64_t> ProvisioningConfig::RetryAfter(int64_t attempt) const {
  if (attempt > limit || waits.empty()) return std::nullopt;
  const auto last = static_cast<int64_t>(waits.size());
  return waits[static_cast<size_t>(std::clamp<int64_t>(attempt, 1, last) - 1)];
}

// Mirrors pkg/controller/admissionchecks/provisioning/controller.go:reqIsNeeded.
bool Provisioning::IsNeeded(const Workload& workload) const {
  if (!config || config->managed.empty() || workload.admission == nullptr) return true;
  const std::vector<PodSetSpec>& pod_sets = workload.spec->pod_sets;
  return std::any_of(config->managed.begin(), config->managed.end(), [&](const std::string& resource) {
    return std::any_of(pod_sets.begin(), pod_sets.end(), [&](const PodSetSpec& pod_set) {
      const PodTemplate& pod = *pod_set.pod_template;
      if (!Uses(pod.containers, resource) && !Uses(pod.init_containers, resource)) return false;
      const auto& admitted = workload.admission->pod_sets;
      const auto found = std::find_if(admitted.begin(), admitted.end(),
                                      [&](const PodSetAdmission& one) { return one.name == pod_set.name; });
      return pod_set.count > 0 && (found == admitted.end() || found->count > 0);
    });
  });
}

std::vector<Time> Provisioning::EndsOf(int32_t row, int32_t run) const {
  std::vector<Time> ends;
  if (revoked) ends.push_back(revoked->Of(row, run));
  // Revoked capacity counts before an expired booking.
  const Time expiry = expires ? expires->Of(row, run) : INT64_MAX;
  if (expires && (ends.empty() || expiry < ends.front())) ends.push_back(expiry);
  return ends;
}

}  // namespace kueue
