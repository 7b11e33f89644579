#include "text/sentences.h"

#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"

namespace kueue {
namespace {

// In the order of Sentence. $0 and $1 are replaced by the names. For some sentences, $0 is replaced by all
// names joined.
constexpr const char* kWords[] = {
    "The workload is deactivated",
    "Admission is gated by: $0",
    "AdmissionGatedBy cleared, waiting for quota reservation",
    "LocalQueue $0 doesn't exist",
    "LocalQueue $0 is inactive",
    "ClusterQueue $0 doesn't exist",
    "ClusterQueue $0 is inactive",
    "Workload is pending evaluation in the scheduling queue",
    "Bypassed scheduling evaluation because an equivalent workload recently failed",
    "The workload has failed admission checks",
    "workload namespace \"$0\" does not exist: namespaces \"$0\" not found",
    "Could not obtain workload namespace: namespaces \"$0\" not found",
    "workload namespace doesn't match ClusterQueue selector",
    "Workload namespace doesn't match ClusterQueue selector",
    "resources validation failed: $0",
    "resources didn't satisfy LimitRange constraints: $0",
    "waiting for all admitted workloads to be in PodsReady condition",
    ("Workload has overlapping preemption targets with another workload, but will fit after these "
     "preemptions "
     "complete"),
    "Workload has overlapping preemption targets with another workload",
    "Workload no longer fits after processing another workload",
    "LocalQueue $0 is terminating or missing",
    "LocalQueue $0 is stopped",
    "ClusterQueue $0 is terminating or missing",
    "ClusterQueue $0 is stopped",
    "The workload is admitted",
    "The workload has no reservation",
    "The workload has no reservation and not all checks ready",
    "The workload has not all checks ready",
    "There are pending delayed topology requests",
    "The LocalQueue is stopped",
    "The ClusterQueue is stopped",
    "Evicted due to $0",
    "At least one admission check is false",
    "Exceeded the PodsReady timeout $0",
    "Workload eviction triggered due to multiple TAS assigned node failures, including: $0",
    "Workload was evicted as there was no replacement for unhealthy node(s): $0",
    "$0",
    "Admission check(s): $0, were rejected",
    "exceeding the maximum number of re-queuing retries",
    "exceeding the maximum execution time",
    "The LocalQueue was restarted after being stopped",
    "The ClusterQueue was restarted after being stopped",
    "The workload was reactivated",
    "The workload backoff was finished",
    "All pods reached readiness and the workload is running",
    "Not all pods are ready or succeeded",
    "At least one pod has failed, waiting for recovery",
    "Job finished successfully",
    "Job failed",
    "Replaced to accommodate a workload (UID: $0, JobUID: $1) due to workload slice aggregation",
    "$0",
    "DRA resource claims not supported",
    "Workload uses DRA resources but the KueueDRAIntegration feature gate is not enabled",
    "Workload requires preemption, but it's gated",
};
static_assert(std::size(kWords) == kSentences);

// Joins checks and their messages; `names` alternates between name and message.
std::string ChecksIn(const char* state, const std::vector<std::string>& names) {
  std::string parts;
  for (size_t i = 0; i + 1 < names.size(); i += 2) {
    absl::StrAppend(&parts, i == 0 ? "" : "; ", "\"", names[i], "\"");
    if (!names[i + 1].empty()) absl::StrAppend(&parts, " (", names[i + 1], ")");
  }
  return absl::StrCat(names.size() > 2 ? "AdmissionChecks" : "AdmissionCheck", " in ", state,
                      " state: ", parts);
}

}  // namespace

std::string Render(const Said& said) {
  const char* const words = kWords[static_cast<size_t>(said.sentence)];
  switch (said.sentence) {
    case Sentence::kChecksRetried:
      return absl::Substitute(words, ChecksIn("Retry", said.names));
    case Sentence::kChecksRejected:
      return absl::Substitute(words, ChecksIn("Rejected", said.names));
    case Sentence::kManyNodesFailed:
      return absl::Substitute(words, absl::StrJoin(said.names, ", "));
    case Sentence::kNoNodeReplacement:
    case Sentence::kChecksRejectedByName:
      return absl::Substitute(words, absl::StrJoin(said.names, ","));
    default: {
      const auto name = [&](size_t i) { return i < said.names.size() ? said.names[i] : std::string(); };
      return absl::Substitute(words, name(0), name(1));
    }
  }
}

std::string ResetCheckText(CheckState before) {
  static constexpr const char* kNames[] = {"Pending", "Ready", "Retry", "Rejected"};
  static_assert(std::size(kNames) == CountOf<CheckState>());
  return absl::StrCat("Reset to Pending after eviction. Previously: ", kNames[static_cast<int>(before)]);
}

}  // namespace kueue
