#include "text/text.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "devices/resolve.h"
#include "quantity/quantity.h"
#include "text/sentences.h"

namespace kueue {
namespace {

struct Renderer {
  const State& state;
  const std::vector<PodSetSpec>* const asked = nullptr;  // Replaces the pod sets of the class.

  std::string operator()(const Literal& literal) const { return literal.text; }

  std::string operator()(const Said& said) const { return Render(said); }

  std::string operator()(const DeactivatedDueTo& deactivated) const {
    return "The workload is deactivated due to " + Render(state, deactivated.why);
  }

  std::string operator()(const Refused& refused) const {
    const std::vector<PodSetSpec>& pod_sets = asked != nullptr ? *asked : state.Class(refused.cls).pod_sets;
    std::string text;
    for (const PodSetRefusals& pod_set : refused.pod_sets) {
      const std::string& name = pod_sets[static_cast<size_t>(pod_set.pod_set)].name;
      for (const Refusal& refusal : pod_set.refusals) {
        if (!refusal.IsError()) continue;
        text = absl::StrCat("failed to assign flavors to pod set ", name, ": ", Render(state, refusal));
        AppendPending(refused, text);
        return text;
      }
      absl::StrAppend(&text, text.empty() ? "" : "; ", "couldn't assign flavors to pod set ", name, ": ",
                      Reasons(pod_set.refusals));
    }
    AppendPending(refused, text);
    return text;
  }

  std::string Reasons(const Refusals& refusals) const {
    if (refusals.size() == 1) return Render(state, refusals.front());
    std::vector<std::string> reasons;
    for (const Refusal& refusal : refusals) reasons.push_back(Render(state, refusal));
    std::sort(reasons.begin(), reasons.end());
    return absl::StrJoin(reasons, ", ");
  }

  static void AppendPending(const Refused& refused, std::string& text) {
    const int pending = refused.pending_preemptions;
    if (pending > 0) absl::StrAppend(&text, ". Pending the preemption of ", pending, " workload(s)");
    if (pending < 0) absl::StrAppend(&text, ". Preempting ", -pending, " workload(s) failed, will retry.");
  }

  std::string operator()(const ReservedIn& reserved) const {
    return "Quota reserved in ClusterQueue " + state.forest().Name(reserved.cluster_queue);
  }

  std::string operator()(const Previously& previously) const {
    return "Previously: " + Render(state, previously.before);
  }

  std::string operator()(const PreemptedBy& by) const {
    static constexpr const char* kPhrases[] = {
        "prioritization in the ClusterQueue", "reclamation within the cohort",
        "Fair Sharing within the cohort", "reclamation within the cohort while borrowing"};
    static_assert(std::size(kPhrases) == CountOf<PreemptionReason>());
    const auto known = [](const std::string& text) { return text.empty() ? std::string("UNKNOWN") : text; };
    return absl::StrCat("Preempted to accommodate a workload (UID: ", known(by.preemptor_uid),
                        ", JobUID: ", known(by.preemptor_job_uid), ") due to ",
                        kPhrases[static_cast<int>(by.reason)], "; preemptor path: ", Path(by.preemptor_path),
                        "; preemptee path: ", Path(by.preemptee_path));
  }

  std::string Path(const NodePath& nodes) const {
    std::string path;
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
      absl::StrAppend(&path, "/", state.forest().Name(*node));
    }
    return path;
  }
};

std::string Phrase(const InactivityCause& cause) {
  const std::string names = absl::StrJoin(cause.names, ",");
  switch (cause.kind) {
    case InactivityKind::kStopped:
      return "is stopped";
    case InactivityKind::kFlavorNotFound:
      return "references missing ResourceFlavor(s): " + names;
    case InactivityKind::kCheckNotFound:
      return "references missing AdmissionCheck(s): " + names;
    case InactivityKind::kCheckInactive:
      return "references inactive AdmissionCheck(s): " + names;
    case InactivityKind::kMultipleMultiKueueChecks:
      return "Cannot use multiple MultiKueue AdmissionChecks on the same ClusterQueue, found: " + names;
    case InactivityKind::kMultiKueueCheckPerFlavor:
      return "Cannot specify MultiKueue AdmissionCheck per flavor, found: " + names;
    case InactivityKind::kMultiKueueWithProvisioning:
      return "Cannot use both MultiKueue and ProvisioningRequest AdmissionChecks together, found: " +
             absl::StrJoin(cause.names, ", ");
    case InactivityKind::kTopologyNotFound:
      return absl::StrCat("there is no Topology \"", cause.names[0], "\" for TAS flavor \"", cause.names[1],
                          "\"");
    case InactivityKind::kTerminating:
    case InactivityKind::kCohortCycle:
      break;  // The caller renders these as separate sentences.
  }
  return "";
}

}  // namespace

std::string ReasonName(const Inactivity& inactivity) {
  static constexpr const char* kNames[] = {"Terminating",
                                           "Stopped",
                                           "FlavorNotFound",
                                           "AdmissionCheckNotFound",
                                           "AdmissionCheckInactive",
                                           "MultipleMultiKueueAdmissionChecks",
                                           "MultiKueueAdmissionCheckAppliedPerFlavor",
                                           "MultiKueueWithProvisioningRequest",
                                           "TopologyNotFound",
                                           "CohortCycle"};
  static_assert(std::size(kNames) == kInactivityKinds);
  return inactivity.IsActive() ? "" : kNames[static_cast<size_t>(inactivity.causes.front().kind)];
}

std::string Render(const Inactivity& inactivity) {
  if (inactivity.IsActive()) return "";
  const char* const kPrefix = "Can't admit new workloads";
  switch (inactivity.causes.front().kind) {
    case InactivityKind::kTerminating:
      return absl::StrCat(kPrefix, "; clusterQueue is terminating");
    case InactivityKind::kCohortCycle:
      return absl::StrCat(kPrefix, ": its Cohort is part of a cycle.");
    default:
      return absl::StrCat(
          kPrefix, ": ",
          absl::StrJoin(inactivity.causes, ", ",
                        [](std::string* out, const InactivityCause& cause) { *out += Phrase(cause); }),
          ".");
  }
}

std::string Render(const State& state, const Message& message) {
  if (!message) return "";
  return std::visit(Renderer{state}, static_cast<const MessageKinds&>(*message));
}

std::string Render(const State& state, const Message& message, const std::vector<PodSetSpec>& pod_sets) {
  if (!message) return "";
  return std::visit(Renderer{state, &pod_sets}, static_cast<const MessageKinds&>(*message));
}

namespace {

std::string RenderInteger(const State& state, absl::string_view resource, int64_t value) {
  return ResourceQuantityString(resource, value, IsChargedBySource(state.config, resource));
}

}  // namespace

std::string RenderAmount(const State& state, ResourceId resource, Amount amount) {
  if (amount.IsUnlimited()) return "<unlimited>";
  return RenderInteger(state, state.resource_names.Name(resource), amount.value());
}

std::string FlavorResourceName(const State& state, FlavorResourceId fr) {
  const auto& [flavor, resource] = state.flavor_resources[fr];
  return absl::StrCat(state.flavor_names.Name(flavor), "/", state.resource_names.Name(resource));
}

std::string Render(const State& state, const Refusal& refusal) {
  absl::string_view flavor, resource;
  if (refusal.flavor != kNoId) flavor = state.flavor_names.Name(refusal.flavor);
  if (refusal.resource != kNoId) resource = state.resource_names.Name(refusal.resource);
  const auto amount = [&](Amount value) { return RenderAmount(state, refusal.resource, value); };
  switch (refusal.kind) {
    case RefusalKind::kExceedsCapacity:
      return absl::StrCat("insufficient quota for ", resource, " in flavor ", flavor,
                          ", previously considered podsets requests (", amount(refusal.excess().earlier),
                          ") + current podset request (",
                          RenderInteger(state, resource, refusal.excess().requested.value()),
                          ") > maximum capacity (", amount(refusal.excess().capacity), ")");
    case RefusalKind::kShortOfQuota:
      return absl::StrCat("insufficient unused quota for ", resource, " in flavor ", flavor, ", ",
                          amount(refusal.shortage().missing), " more needed");
    case RefusalKind::kUndeclaredResource:
      return absl::StrCat("resource ", resource, " unavailable in ClusterQueue");
    case RefusalKind::kFlavorNotFound:
      return absl::StrCat("flavor ", flavor, " not found");
    case RefusalKind::kUntoleratedTaint:
      return absl::StrCat("untolerated taint {", refusal.taint().key, " ", refusal.taint().value, " ",
                          refusal.taint().effect, " <nil>} in flavor ", flavor);
    case RefusalKind::kNodeAffinity:
      return absl::StrCat("flavor ", flavor, " doesn't match node affinity");
    case RefusalKind::kNotNominated:
      return absl::StrCat("skipping flavor ", flavor,
                          " as it is not found in the nomination mapping for resource ", resource);
    case RefusalKind::kNotAllowed:
      return absl::StrCat("skipping flavor ", flavor,
                          " due to WorkloadAllowedResourceFlavorAnnotation annotation");
    case RefusalKind::kReplacedSliceFlavor:
      return absl::StrCat("could not assign ", flavor,
                          " flavor since the original workload is assigned: ", refusal.names());
    case RefusalKind::kTopologyRequired:
      return absl::StrCat("Flavor \"", flavor, "\" supports only TopologyAwareScheduling");
    case RefusalKind::kTopologyUnsupported:
      return absl::StrCat("Flavor \"", flavor, "\" does not support TopologyAwareScheduling");
    case RefusalKind::kTopologyUnknown:
      return absl::StrCat("Flavor \"", flavor, "\" information missing in TAS cache");
    case RefusalKind::kTopologyLevelMissing:
      return absl::StrCat("Flavor \"", flavor, "\" does not contain the requested level");
    case RefusalKind::kPlacement:
      return Render(refusal.placement());
    case RefusalKind::kNoTopologyFlavor:
      return "no TAS flavor assigned";
    case RefusalKind::kManyTopologyFlavors:
      return "more than one TAS flavor assigned: " + refusal.names();
    case RefusalKind::kNoTopologyInformation:
      return "workload requires Topology, but there is no TAS cache information";
    case RefusalKind::kElasticRequiredTopology:
      return "required topology is not supported with ElasticJobsViaWorkloadSlices";
    case RefusalKind::kElasticPreferredTopology:
      return "preferred topology is not supported with ElasticJobsViaWorkloadSlices";
  }
  return "";
}

}  // namespace kueue
