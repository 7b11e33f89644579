// Facts that explain why a workload is pending, where it would be placed, or whose quota it uses.
#ifndef KUEUE_QUESTIONS_EXPLAIN_H_
#define KUEUE_QUESTIONS_EXPLAIN_H_

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fairness/share.h"
#include "preemption/preemption.h"
#include "questions/decision.h"
#include "questions/places.h"
#include "scheduler/cycle.h"
#include "state/state.h"

namespace kueue {

// A node on the path from a queue to its root, for one flavor resource.
struct NodeFacts {
  NodeId node;
  const char* kind;
  Amount nominal, subtree, usage;
  Amount guaranteed;  // Quota that is never lent to the parent.
  Amount borrowing_limit, lending_limit;
  // Quota available to the node, including everything that its ancestors would lend. The available quota is
  // negative if the usage exceeds the quota.
  Amount available;
};

// Quota and usage of one flavor resource in a queue of the tree, or in a Cohort with a quota or limit of its
// own.
struct QuotaUserFacts {
  NodeId node;
  const char* kind;
  NodeId meets;    // Lowest common ancestor of this node and the explained queue.
  Amount nominal;  // Nominal quota; for a Cohort, the total including all descendants.
  Amount usage;
  Amount borrowed;  // Usage above `nominal`.
  Amount lends;     // Unused amount of the quota that the node may lend.
};

// The setting that limits the capacity on the path to the root.
enum class Limit : uint8_t { kQuota, kBorrowingLimit };

// A node whose quota or borrowingLimit is too small for a request, and the missing amount.
struct Shortage {
  NodeId node;
  Limit limit;
  Amount amount;
};

// A request for one flavor resource, compared with the available amount.
struct FlavorResourceFacts {
  FlavorId flavor;
  ResourceId resource;
  Amount before;  // Amount used by earlier pod sets of the same workload.
  Amount asked;   // Including `before`.
  Amount available, potential;
  bool is_short;  // Whether `asked` exceeds `available`.
  NodeId where;   // Node whose quota or limit is binding.
  Limit limit;
  // Amount that would have to be released. The amount to release exceeds `asked` if the usage already exceeds
  // the quota.
  Amount missing;
  // Nodes, from the queue up, whose quotas or borrowingLimits must all be raised for the request to fit. The
  // list may be empty for a request that does not fit, because unlimited values cannot be raised.
  std::vector<Shortage> shortages;
  bool may_preempt;                         // Whether preemption is considered for this flavor resource.
  std::vector<NodeFacts> path;              // Facts about each node, from the queue up to the root.
  std::vector<QuotaUserFacts> quota_users;  // Nodes that use or lend quota of the flavor resource.
  // Some of the workloads whose individual removal would make the request fit.
  std::vector<WorkloadId> sufficient_alone;
};

struct FlavorFacts {
  FlavorId flavor;
  int resource_group;
  bool chosen = false;                 // Whether the flavor was chosen for at least one resource.
  std::optional<PreemptionMode> mode;  // The result of the evaluation; empty if the flavor was not evaluated.
  int borrowing_level = 0;
  Reason reason = Reason::kEmpty;
  std::vector<Refusal> ineligible;       // All reasons why the pods may not use the flavor.
  std::vector<FlavorResourceFacts> frs;  // Facts about the requested resources.
  // Topology placement of the first pod set of a group, if the pods get a topology assignment.
  std::optional<PlaceFacts> place;
};

struct PodSetFacts {
  std::string name;
  int64_t count;
  Requests requests;
  std::vector<ResourceId> undeclared;  // Resources that no resource group covers.
  std::vector<FlavorFacts> flavors;
};

// The reason why a workload that uses a contested flavor resource is, or is not, preempted.
enum class CandidateVerdict : uint8_t {
  kTaken,
  kNotNeeded,    // May be preempted, but the request fits without it.
  kNotEnough,    // May be preempted, but even preempting all such candidates is not sufficient.
  kQueueNever,   // withinClusterQueue is Never.
  kCohortNever,  // reclaimWithinCohort is Never.
  kPriority,     // The policy requires a lower priority.
  kNotNewer,     // The candidate has the same priority and is not newer.
  kQueueIsNotBorrowing,
  kCohortIsNotBorrowing,
  kShare,  // No fair sharing strategy permits the preemption.
  kQueueIsInactive,
  // The preemption of this candidate would require the preemptor to borrow, which borrowWithinCohort forbids:
  kBorrowNever,      // The policy is Never.
  kBorrowPriority,   // The candidate's priority is not lower than the preemptor's.
  kBorrowThreshold,  // The candidate's priority is above maxPriorityThreshold.
};

// A comparison of two weighted shares (FairComparison).
struct ComparisonFacts {
  FairSharingStrategy strategy;
  NodeId ours, theirs;
  double our_share, their_share, final_share;
  bool holds;
};

struct CandidateFacts {
  WorkloadId workload;
  NodeId queue;
  CandidateVerdict verdict;
  std::optional<PreemptionReason> reason;  // Set with kTaken.
  bool is_leaving;                         // Whether the workload is already evicted.
  int64_t priority;
  std::vector<FlavorResourceAmount> holds;  // Usage of contested flavor resources.
  std::vector<ComparisonFacts> comparisons;
};

struct ShareFacts {
  NodeId node;
  const char* kind;
  double weight, share;  // The weighted share.
  int64_t rounded;
  ResourceId dominant;
  Amount borrowed, lendable;  // Amounts of the dominant resource.
  bool is_borrowing;
};

struct Facts {
  WorkloadId workload = kNoId;
  NodeId queue = kNoId;
  Entry entry;  // Result of a complete flavor scan; unused for a workload with a quota reservation.
  std::optional<Entry> next;  // Result of the next cycle, if a flavor scan is in progress.
  std::vector<PodSetFacts> pod_sets;
  std::vector<FlavorResourceId> contested;
  // The preemption targets in order, followed by at most kMostCandidates other candidates.
  std::vector<CandidateFacts> candidates;
  // Number of candidates by verdict, including candidates that are not listed.
  std::map<CandidateVerdict, int> counts;
  std::vector<ShareFacts> shares;  // Shares of the queue and of its ancestor Cohorts, except the root.
};
inline constexpr size_t kMostCandidates = 100;
inline constexpr int kMostAhead = 10;

// The same facts for callers. kueuepy.engine.facts documents the fields.
struct RefusalView {
  RefusalKind kind;
  std::string message;
  std::optional<std::tuple<std::string, std::string, std::string>> taint;
};
RefusalView ViewRefusal(const State& state, const Refusal& refusal);
struct ObstacleView {
  Obstacle::Kind kind;
  std::string queue;
  Reason reason;
  std::string message;
};
struct InactivityView {
  std::string reason, message;
  std::vector<std::pair<InactivityKind, std::vector<std::string>>> causes;
};
struct FactsView {
  WorkloadId workload;
  NodeId cluster_queue;
  int64_t priority = 0;
  bool nominated = false;
  std::vector<PodSetFacts> pod_sets;
  std::vector<FlavorResourceId> contested;
  std::vector<CandidateFacts> candidates;
  std::map<CandidateVerdict, int> counts;
  std::vector<ShareFacts> shares;
  bool strict_fifo = false;
  std::optional<int64_t> position;  // Empty, as `ahead` is, if the workload is in no queue.
  std::vector<std::pair<WorkloadId, Precedence>> ahead;
  bool holds = false;
  std::optional<ObstacleView> obstacle;
  Inadmissibility::Kind inadmissibility{};
  std::optional<InactivityView> inactivity;
  WorkloadId preemptor;  // Workload that most recently preempted this workload; kNoId if it is unknown.
  bool goes_on = false;  // Whether a scan from the first flavor would lead to a different decision.
  Verdict verdict{};
  Reason reason = Reason::kEmpty;
  std::string message;
};
// Explains the decision that a cycle would make about a pending workload, or the usage of a workload with a
// quota reservation. The call leaves no visible changes in the state. If the workload was never queued, the
// caller must keep a TemporaryClass alive while the returned facts are read.
FactsView Explain(State& state, WorkloadId id);

// Explains, for each workload that uses a contested flavor resource, why it is or is not preempted. Fills in
// `contested`, `candidates` and `counts`.
void ExplainPreemption(State& state, Facts& facts);
// Returns the shares of all active queues and all Cohorts.
std::vector<ShareFacts> ExplainAllShares(State& state);

}  // namespace kueue

#endif  // KUEUE_QUESTIONS_EXPLAIN_H_
