// Why a workload waits, where it would go, or whose quota it has: the facts behind an answer, without prose.
#ifndef KUEUE_QUESTIONS_EXPLAIN_H_
#define KUEUE_QUESTIONS_EXPLAIN_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fairness/share.h"
#include "preemption/preemption.h"
#include "questions/places.h"
#include "scheduler/cycle.h"
#include "state/state.h"

namespace kueue {

// One node on the way from a queue up to its root, in one flavor resource.
struct NodeFacts {
  NodeId node;
  Amount nominal, subtree, usage;
  Amount guaranteed;  // never lent to the parent
  Amount borrowing_limit, lending_limit;
  Amount available;  // to the node, with all that its ancestors would lend; negative where over-admitted
};

// What a queue of the tree, or a Cohort with a quota or a limit of its own, has and holds of one flavor
// resource.
struct QuotaUserFacts {
  NodeId node;
  NodeId meets;    // the lowest node that is above both it and the queue in question
  Amount nominal;  // of a Cohort: with all below it
  Amount usage;
  Amount borrowed;  // beyond that
  Amount lends;     // of what it may lend, the part that it does not use itself
};

// Which number ends the search for capacity on the way up.
enum class Limit : uint8_t { kQuota, kBorrowingLimit };

// A node whose quota or borrowingLimit is too small for a request, and by how much.
struct Shortage {
  NodeId node;
  Limit limit;
  Amount amount;
};

// One flavor resource of a request, against what there is.
struct FlavorResourceFacts {
  FlavorResourceId fr;
  Amount before;  // taken by earlier pod sets of the same workload
  Amount asked;   // with those
  Amount available, potential;
  NodeId where;  // the node whose number binds
  Limit limit;
  bool may_preempt;             // whether preemption is considered at all in this flavor resource
  Amount missing;               // what would have to become free; more than asked beyond quota
  std::vector<NodeFacts> path;  // from the queue up to the root
  // The nodes, from the queue up, whose quota or borrowingLimit would all have to grow for the request to
  // fit. What is unlimited cannot grow: there may be none though the request is short.
  std::vector<Shortage> shortages;
  std::vector<QuotaUserFacts> quota_users;   // that hold some or lend some
  std::vector<WorkloadId> sufficient_alone;  // each of which alone would make room by leaving; at most a few
  bool IsShort() const { return asked > available; }
};

struct FlavorFacts {
  FlavorId flavor;
  int resource_group;
  bool tried = false;                    // the search looked at it
  bool chosen = false;                   // for some resource
  FlavorAttempt attempt;                 // where it was tried
  std::vector<Refusal> ineligible;       // all that keeps the pods off
  std::vector<FlavorResourceFacts> frs;  // of the resources asked for
  // Where the pods would go, of the first pod set of a group; null where no topology places them.
  std::shared_ptr<const PlaceFacts> place;
};

struct PodSetFacts {
  int pod_set;
  std::string name;
  int64_t count;
  Requests requests;
  std::vector<ResourceId> undeclared;  // covered by no resource group
  std::vector<FlavorFacts> flavors;
};

// Why a workload that holds what is contested leaves or stays.
enum class CandidateVerdict : uint8_t {
  kTaken,
  kNotNeeded,    // it may be taken, and the request fits without
  kNotEnough,    // it may be taken, and even with all others there is no room
  kQueueNever,   // withinClusterQueue is Never
  kCohortNever,  // reclaimWithinCohort is Never
  kPriority,     // the policy asks for a lower priority
  kNotNewer,     // of equal priority, and not newer
  kQueueIsNotBorrowing,
  kCohortIsNotBorrowing,
  kShare,  // no rule of fair sharing lets its queue lose it
  kQueueIsInactive,
  // With it gone the preemptor would have to borrow, and
  kBorrowNever,      // borrowWithinCohort is Never
  kBorrowPriority,   // that asks for a lower priority
  kBorrowThreshold,  // its priority is above maxPriorityThreshold
};
inline constexpr size_t kCandidateVerdicts = CountOf<CandidateVerdict>();

struct CandidateFacts {
  WorkloadId workload;
  NodeId queue;
  CandidateVerdict verdict;
  PreemptionReason reason;                  // with kTaken
  std::vector<FlavorResourceAmount> holds;  // of the contested flavor resources
  std::vector<FairComparison> comparisons;
};

struct ShareFacts {
  NodeId node;
  Share share;
  Amount borrowed, lendable;  // of the dominant resource
};

struct Facts {
  WorkloadId workload = kNoId;
  NodeId queue = kNoId;
  Entry entry;                // a search of all flavors as of now; of a workload that holds quota, nothing
  std::optional<Entry> next;  // what the next cycle would answer, where a search is under way
  std::vector<PodSetFacts> pod_sets;
  std::vector<FlavorResourceId> contested;
  std::vector<CandidateFacts> candidates;  // the taken ones first, in order; at most kMostCandidates others
  std::vector<int> counts;                 // of all candidates, by verdict
  std::vector<ShareFacts> shares;          // from the queue up, below the root
};
inline constexpr size_t kMostCandidates = 100;

// What a cycle would answer about a waiting workload, and why. Changes nothing that shows. One that was never
// queued needs a class as long as the facts are read (TemporaryClass).
Facts ExplainWaiting(State& state, WorkloadId id);
// What a workload with quota holds, and from whom it comes.
Facts ExplainHolding(State& state, WorkloadId id);

// Path, holders and limit of one flavor resource for a queue that asks for so much.
FlavorResourceFacts ExplainFlavorResource(State& state, NodeId queue, FlavorResourceId fr, Amount before,
                                          Amount asked);
// Who holds what is contested, and why each of them leaves or stays; fills `contested`, `candidates` and
// `counts`.
void ExplainPreemption(State& state, Facts& facts);
// The shares of a queue and of the Cohorts above it, but for the root; of all active queues and the Cohorts
// there are.
std::vector<ShareFacts> ExplainShares(const State& state, NodeId queue);
std::vector<ShareFacts> ExplainAllShares(State& state);
// Who preempted the workload last, kNoId where nobody did or it is not known.
WorkloadId PreemptorOf(const State& state, WorkloadId id);

}  // namespace kueue

#endif  // KUEUE_QUESTIONS_EXPLAIN_H_
