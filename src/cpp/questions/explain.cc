#include "questions/explain.h"

#include <algorithm>
#include <tuple>

#include "flavor/demands.h"
#include "flavor/eligibility.h"
#include "lifecycle/queueing.h"
#include "preemption/fit.h"
#include "questions/ask.h"
#include "questions/status.h"
#include "state/rebuild.h"
#include "text/text.h"

namespace kueue {
namespace {

NodeFacts FactsOf(const Quota& quota, NodeId node, FlavorResourceId fr) {
  return {node,
          KindOf(quota.forest(), node),
          quota.limits().nominal(node, fr),
          quota.limits().subtree(node, fr),
          quota.Usage(node, fr),
          quota.limits().local(node, fr),
          quota.limits().borrowing(node, fr),
          quota.limits().lending(node, fr),
          quota.RawAvailable(node, fr)};
}

// Returns the node whose quota or borrowing limit determines how much `queue` may still use.
std::pair<NodeId, Limit> Binding(const Quota& quota, NodeId queue, FlavorResourceId fr) {
  const Forest& forest = quota.forest();
  NodeId node = queue;
  for (; forest.Parent(node) != kNoId; node = forest.Parent(node)) {
    if (quota.limits().borrowing(node, fr).IsUnlimited()) continue;
    const Amount local = quota.limits().local(node, fr);
    const Amount drawn = Max(Amount(0), quota.Usage(node, fr) - local);
    const Amount most = quota.limits().subtree(node, fr) - local - drawn + quota.limits().borrowing(node, fr);
    if (most < quota.RawAvailable(forest.Parent(node), fr)) return {node, Limit::kBorrowingLimit};
  }
  return {node, Limit::kQuota};
}

// Inverse of pkg/cache/scheduler/resource_node.go:available (kueue ff69552e79).
std::vector<Shortage> Shortages(const FlavorResourceFacts& facts) {
  std::vector<Shortage> found;
  const Amount zero(0);
  Amount needed = facts.asked;
  for (const NodeFacts& node : facts.path) {
    if (node.subtree.IsUnlimited()) break;
    Shortage shortage{node.node, Limit::kQuota, zero};
    if (&node == &facts.path.back()) {
      shortage.amount = needed - (node.subtree - node.usage);
    } else {
      needed -= Max(zero, node.guaranteed - node.usage);
      if (node.borrowing_limit.IsUnlimited()) continue;
      const Amount lent = node.subtree - node.guaranteed - Max(zero, node.usage - node.guaranteed);
      shortage.limit = Limit::kBorrowingLimit;
      shortage.amount = needed - lent - node.borrowing_limit;
    }
    if (shortage.amount > zero) found.push_back(shortage);
  }
  return found;
}

class QuotaUsers {
 public:
  QuotaUsers(const Quota& quota, NodeId queue, FlavorResourceId fr)
      : quota_(quota), forest_(quota.forest()), queue_(queue), fr_(fr) {}

  std::vector<QuotaUserFacts> Find() {
    if (HasCycle(forest_, queue_) || forest_.Parent(queue_) == kNoId) {
      Add(queue_, queue_);
    } else {
      AddBelow(forest_.Root(queue_), forest_.Root(queue_));
    }
    return std::move(found_);
  }

 private:
  void AddBelow(NodeId cohort, NodeId meets) {
    for (NodeId child : forest_.ChildQueues(cohort)) Add(child, meets);
    for (NodeId child : forest_.ChildCohorts(cohort)) {
      const bool above = IsAbove(child);
      const bool has_own = !quota_.limits().lending(child, fr_).IsUnlimited() ||
                           quota_.limits().nominal(child, fr_) != Amount(0);
      if (!above && has_own) Add(child, meets);
      AddBelow(child, above ? child : meets);
    }
  }
  bool IsAbove(NodeId cohort) const {
    NodeId node = queue_;
    while (node != kNoId && node != cohort) node = forest_.Parent(node);
    return node == cohort;
  }
  void Add(NodeId node, NodeId meets) {
    const bool is_queue = forest_.IsClusterQueue(node);
    const Amount own = is_queue ? quota_.limits().nominal(node, fr_) : quota_.limits().subtree(node, fr_);
    const Amount usage = quota_.Usage(node, fr_), local = quota_.limits().local(node, fr_), zero(0);
    const Amount drawn = Max(zero, usage - local);
    QuotaUserFacts facts{node,
                         KindOf(forest_, node),
                         meets,
                         own,
                         usage,
                         Max(zero, usage - own),
                         Max(zero, own - local - drawn)};
    if (facts.usage != zero || facts.lends != zero) found_.push_back(facts);
  }

  const Quota& quota_;
  const Forest& forest_;
  const NodeId queue_;
  const FlavorResourceId fr_;
  std::vector<QuotaUserFacts> found_;
};

// Computes the amount available to the queue, and the node that limits it.
void SetLimits(const Quota& quota, NodeId queue, FlavorResourceId fr, FlavorResourceFacts& facts) {
  facts.available = quota.Available(queue, fr);
  facts.potential = quota.limits().potential(queue, fr);
  facts.is_short = facts.asked > facts.available;
  std::tie(facts.where, facts.limit) = Binding(quota, queue, fr);
  for (NodeId node = queue; node != kNoId; node = quota.forest().Parent(node)) {
    facts.path.push_back(FactsOf(quota, node, fr));
  }
  facts.missing = Max(Amount(0), facts.asked - facts.path.front().available);
}

std::vector<WorkloadId> SufficientAlone(State& state, NodeId queue, FlavorResourceId fr,
                                        const FlavorResourceFacts& facts) {
  std::vector<WorkloadId> found;
  for (const QuotaUserFacts& quota_user : facts.quota_users) {
    if (!state.forest().IsClusterQueue(quota_user.node)) continue;
    for (WorkloadId id : state.Queue(quota_user.node).workloads) {
      if (found.size() == kMostAlternatives) return found;
      if (!UsesAny(state.At(id), {fr})) continue;
      const Trial trial(state, kNoId);
      Discharge(state, id);
      if (facts.asked <= state.quota.Available(queue, fr)) found.push_back(id);
    }
  }
  return found;
}

// Returns the path, users and limits of one flavor resource for a request of `asked` in the queue.
FlavorResourceFacts ExplainFlavorResource(State& state, NodeId queue, FlavorResourceId fr, Amount before,
                                          Amount asked) {
  const Quota& quota = state.quota;
  FlavorResourceFacts facts;
  std::tie(facts.flavor, facts.resource) = state.flavor_resources[fr];
  facts.before = before;
  facts.asked = asked;
  SetLimits(quota, queue, fr, facts);
  facts.may_preempt =
      asked <= facts.potential &&
      ConsidersPreemption(state, queue, fr, asked, LowestSubtreeThatFits(quota, queue, fr, asked));
  if (facts.is_short) facts.shortages = Shortages(facts);
  facts.quota_users = QuotaUsers(quota, queue, fr).Find();
  if (facts.is_short && asked <= facts.potential)
    facts.sufficient_alone = SufficientAlone(state, queue, fr, facts);
  return facts;
}

class FlavorExplainer {
 public:
  FlavorExplainer(State& state, const Facts& facts)
      : state_(state),
        facts_(facts),
        queue_(state.Queue(facts.queue)),
        cls_(state.Class(state.At(facts.workload).cls)),
        groups_(GroupsOf(cls_)),
        placer_(state),
        places_(state, placer_, facts.workload) {}

  std::vector<PodSetFacts> Run() {
    std::vector<PodSetFacts> all;
    for (const PodSetAssignment& assignment : facts_.entry.assignment.pod_sets) {
      PodSetFacts pod_set = ExplainPodSet(assignment);
      Assume(assignment);
      for (const FlavorFacts& flavor : pod_set.flavors) {
        if (flavor.chosen && flavor.place && !flavor.place->failure) places_.Assume(*flavor.place);
      }
      all.push_back(std::move(pod_set));
    }
    return all;
  }

 private:
  PodSetFacts ExplainPodSet(const PodSetAssignment& assignment) {
    const PodSetSpec& spec = cls_.pod_sets[static_cast<size_t>(assignment.pod_set)];
    const PodSetGroup& group = GroupWith(assignment.pod_set);
    if (group.front() == assignment.pod_set) before_ = assumed_;
    PodSetFacts pod_set{spec.name, assignment.count, assignment.requests, {}, {}};
    const Requests requests = Together(group);
    for (const auto& [resource, amount] : requests) {
      if (queue_.GroupOf(resource) == kNoId && amount != 0) pod_set.undeclared.push_back(resource);
    }
    for (size_t i = 0; i < queue_.groups.size(); ++i)
      AddGroup(static_cast<int>(i), assignment, group, requests, pod_set);
    return pod_set;
  }

  const PodSetGroup& GroupWith(int pod_set) const {
    return *std::find_if(groups_.begin(), groups_.end(), [pod_set](const PodSetGroup& group) {
      return std::find(group.begin(), group.end(), pod_set) != group.end();
    });
  }

  Requests Together(const PodSetGroup& group) const {
    Requests sum;
    for (const PodSetAssignment& member : facts_.entry.assignment.pod_sets) {
      if (std::find(group.begin(), group.end(), member.pod_set) == group.end()) continue;
      for (const auto& [resource, amount] : member.requests) {
        const auto is_this = [r = resource](const auto& entry) { return entry.first == r; };
        const auto entry = std::find_if(sum.begin(), sum.end(), is_this);
        if (entry == sum.end()) {
          sum.push_back({resource, amount});
        } else {
          entry->second = SaturatingAdd(entry->second, amount);
        }
      }
    }
    return sum;
  }

  void Assume(const PodSetAssignment& assignment) {
    for (const FlavorChoice& choice : assignment.flavors) {
      for (const auto& [resource, amount] : assignment.requests) {
        if (resource == choice.resource)
          AddTo(assumed_, state_.FlavorResource(choice.flavor, resource), Amount(amount));
      }
    }
  }

  // Sets the result, and whether the flavor was chosen.
  static void SetAttempt(const PodSetAssignment& assignment, FlavorFacts& flavor) {
    for (const FlavorAttempt& attempt : assignment.attempts) {
      if (attempt.flavor != flavor.flavor || attempt.group != flavor.resource_group) continue;
      flavor.mode = attempt.mode;
      flavor.borrowing_level = attempt.borrow;
      flavor.reason = attempt.no_fit_reason;
    }
    for (const FlavorChoice& choice : assignment.flavors)
      flavor.chosen = flavor.chosen || choice.flavor == flavor.flavor;
  }

  void AddGroup(int index, const PodSetAssignment& assignment, const PodSetGroup& group,
                const Requests& requests, PodSetFacts& pod_set) {
    Requests in_group;
    for (const auto& request : requests) {
      if (queue_.GroupOf(request.first) == index) in_group.push_back(request);
    }
    if (in_group.empty()) return;
    const std::vector<FlavorId>& flavors = queue_.groups[static_cast<size_t>(index)].flavors;
    const bool whole_group = state_.config.rules.label_keys_of_whole_group;
    const LabelKeys keys = whole_group ? GroupLabelKeys(state_, flavors) : LabelKeys();
    for (FlavorId id : flavors) {
      FlavorFacts flavor;
      flavor.flavor = id;
      flavor.resource_group = index;
      SetAttempt(assignment, flavor);
      SetIneligible(group, whole_group ? &keys : nullptr, flavor);
      AddResources(in_group, flavor);
      if (flavor.ineligible.empty() && group.front() == assignment.pod_set) AddPlace(group, flavor);
      pod_set.flavors.push_back(std::move(flavor));
    }
  }

  // Sets the reasons for the first pod set of the group that may not use the flavor.
  void SetIneligible(const PodSetGroup& group, const LabelKeys* keys, FlavorFacts& flavor) {
    const FlavorId id = flavor.flavor;
    for (int member : group) {
      if (!flavor.ineligible.empty()) break;
      flavor.ineligible = Ineligibilities(
          cls_.pod_sets[static_cast<size_t>(member)], id, state_.Flavor(id),
          placer_.MatchOf(facts_.queue, flavor.resource_group, id, state_.At(facts_.workload).cls, member),
          keys);
    }
  }

  void AddResources(const Requests& requests, FlavorFacts& flavor) {
    for (const auto& [resource, amount] : requests) {
      const FlavorResourceId fr = state_.FlavorResource(flavor.flavor, resource);
      const Amount before = AmountOf(before_, fr);
      flavor.frs.push_back(ExplainFlavorResource(state_, facts_.queue, fr, before, before + Amount(amount)));
    }
  }

  // As in the placement, the pod set with fewer pods is the leader. If both have the same number, the second
  // is the leader.
  void AddPlace(const PodSetGroup& group, FlavorFacts& flavor) {
    std::vector<TopologyDemand> demands;
    for (int member : group) {
      const bool asked = RequestsTopology(cls_.pod_sets[static_cast<size_t>(member)]);
      if (!HasTree(state_, flavor.flavor) || (!asked && !queue_.only_topology)) return;
      for (const PodSetAssignment& one : facts_.entry.assignment.pod_sets) {
        if (one.pod_set != member || one.count == 0) continue;
        demands.push_back({member, flavor.flavor, static_cast<int32_t>(one.count), !asked});
      }
    }
    if (demands.empty()) return;
    if (demands.size() > 1 && demands[1].count > demands[0].count) std::swap(demands[0], demands[1]);
    const TopologyDemand* leader = demands.size() > 1 ? &demands[1] : nullptr;
    flavor.place = places_.Explain(demands[0], leader);
  }

  State& state_;
  const Facts& facts_;
  const ClusterQueue& queue_;
  const EquivalenceClass& cls_;
  const std::vector<PodSetGroup> groups_;
  Placer placer_;
  PlaceExplainer places_;
  Amounts assumed_, before_;
};

ShareFacts FactsOfShare(const State& state, NodeId node) {
  const Share share = DominantResourceShare(state, node);
  ShareFacts facts{node,
                   KindOf(state.forest(), node),
                   share.weight,
                   share.Weighted(),
                   share.Rounded(),
                   share.dominant,
                   Amount(0),
                   Amount(0),
                   share.borrowing};
  if (share.dominant == kNoId) return facts;
  for (FlavorResourceId fr : share.borrowed) {
    if (state.flavor_resources[fr].second != share.dominant) continue;
    facts.borrowed += state.quota.Usage(node, fr) - state.quota.limits().subtree(node, fr);
  }
  facts.lendable = Lendable(state, state.forest().Parent(node), share.dominant);
  return facts;
}

// Returns the shares of a queue and of its ancestor Cohorts except the root.
std::vector<ShareFacts> ExplainShares(const State& state, NodeId queue) {
  std::vector<ShareFacts> shares;
  const Forest& forest = state.forest();
  if (HasCycle(forest, queue)) return shares;
  for (NodeId node = queue; forest.Parent(node) != kNoId; node = forest.Parent(node)) {
    shares.push_back(FactsOfShare(state, node));
  }
  return shares;
}

// Returns the workload that most recently preempted this workload, or kNoId if it is unknown.
WorkloadId PreemptorOf(const State& state, WorkloadId id) {
  const Condition* preempted = state.At(id).Find(ConditionType::kPreempted);
  if (preempted == nullptr || !preempted->status || !preempted->message) return kNoId;
  const PreemptedBy* by = std::get_if<PreemptedBy>(preempted->message.get());
  if (by == nullptr) return kNoId;
  const WorkloadId preemptor = state.workloads.Find(by->preemptor);
  return preemptor == kNoId || state.At(preemptor).deleted ? kNoId : preemptor;
}

// Explains a pending workload: the decision that a cycle would make, and its reasons.
Facts ExplainWaiting(State& state, WorkloadId id) {
  EnsureBuilt(state);
  Facts facts;
  facts.workload = id;
  facts.queue = state.QueueOf(state.At(id));
  if (facts.queue == kNoId || !state.forest().IsActive(facts.queue)) return facts;
  facts.entry = Nominated(state, id, Search::kAnew);
  if (IsSearchUnderWay(state, id)) facts.next = Nominated(state, id, Search::kGoesOn);
  if (facts.entry.nominated) {
    facts.pod_sets = FlavorExplainer(state, facts).Run();
    ExplainPreemption(state, facts);
  }
  facts.shares = ExplainShares(state, facts.queue);
  return facts;
}

// Returns the facts for one resource used by an admitted workload, in its assigned flavor.
FlavorFacts FactsOfHeld(State& state, NodeId queue, const PodSetAdmission::Resource& held) {
  FlavorFacts flavor;
  flavor.flavor = held.flavor;
  flavor.resource_group = state.Queue(queue).GroupOf(held.resource);
  flavor.chosen = true;
  const FlavorResourceId fr = state.FlavorResource(held.flavor, held.resource);
  flavor.frs.push_back(ExplainFlavorResource(state, queue, fr, Amount(0), Amount(held.usage)));
  return flavor;
}

// Explains a workload with a quota reservation: its usage, and the nodes from which it borrows.
Facts ExplainHolding(State& state, WorkloadId id) {
  EnsureBuilt(state);
  const Workload& workload = state.At(id);
  Facts facts;
  facts.workload = id;
  facts.queue = workload.charged;
  if (!workload.admission || facts.queue == kNoId) return facts;
  for (const PodSetAdmission& given : workload.admission->pod_sets) {
    PodSetFacts pod_set{given.name, given.count, {}, {}, {}};
    for (const PodSetAdmission::Resource& entry : given.resources) {
      pod_set.requests.push_back({entry.resource, entry.usage});
      if (entry.flavor == kNoId || state.FlavorResource(entry.flavor, entry.resource) == kNoId) continue;
      pod_set.flavors.push_back(FactsOfHeld(state, facts.queue, entry));
    }
    facts.pod_sets.push_back(std::move(pod_set));
  }
  facts.shares = ExplainShares(state, facts.queue);
  return facts;
}

bool IsStrictFifo(const State& state, NodeId queue) {
  return queue != kNoId && state.Queue(queue).spec.queueing_strategy == QueueingStrategy::kStrictFIFO;
}

std::optional<InactivityView> ViewInactivity(const State& state, NodeId queue) {
  if (queue == kNoId || state.Queue(queue).inactivity.IsActive()) return std::nullopt;
  const Inactivity& inactivity = state.Queue(queue).inactivity;
  InactivityView view{ReasonName(inactivity), Render(inactivity), {}};
  for (const InactivityCause& cause : inactivity.causes) view.causes.emplace_back(cause.kind, cause.names);
  return view;
}

std::optional<ObstacleView> ViewObstacle(const State& state, const Obstacle& obstacle) {
  if (obstacle.IsNone()) return std::nullopt;
  return ObstacleView{obstacle.kind, obstacle.queue, obstacle.reason, Render(state, obstacle.message)};
}

// Sets the position of the workload in its queue and the first workloads of that queue.
void SetPosition(State& state, WorkloadId id, FactsView& view) {
  const Workload& workload = state.At(id);
  if (workload.place == QueuePlace::kNowhere) return;
  const PendingQueue& pending = state.Queue(workload.queued).pending;
  view.position = pending.PositionOf(state.workloads, *state.ledger_usage, id);
  view.ahead = pending.Ahead(state.workloads, *state.ledger_usage, id, kMostAhead);
}

// Sets the next decision, and whether a scan from the first flavor would lead to a different decision.
void SetAnswer(const State& state, const Facts& facts, FactsView& view) {
  DecisionRecord record;
  if (facts.entry.workload != kNoId) record = Asked(state, facts.next ? *facts.next : facts.entry);
  view.goes_on = facts.next && record.verdict != Asked(state, facts.entry).verdict;
  view.verdict = record.verdict;
  view.reason = record.reason;
  view.message = Render(state, record.message);
}

}  // namespace

RefusalView ViewRefusal(const State& state, const Refusal& refusal) {
  RefusalView view{refusal.kind, Render(state, refusal), std::nullopt};
  if (refusal.kind == RefusalKind::kUntoleratedTaint) {
    view.taint = {refusal.taint().key, refusal.taint().value, refusal.taint().effect};
  }
  return view;
}

FactsView Explain(State& state, WorkloadId id) {
  FactsView view;
  view.holds = state.At(id).charged != kNoId;
  Facts facts = view.holds ? ExplainHolding(state, id) : ExplainWaiting(state, id);
  SetAnswer(state, facts, view);
  view.obstacle = ViewObstacle(state, ObstacleOf(state, state.At(id)));
  view.preemptor = PreemptorOf(state, id);
  view.workload = id;
  view.cluster_queue = facts.queue;
  view.priority = state.At(id).priority;
  view.nominated = facts.entry.nominated;
  view.pod_sets = std::move(facts.pod_sets);
  view.contested = std::move(facts.contested);
  view.candidates = std::move(facts.candidates);
  view.counts = std::move(facts.counts);
  view.shares = std::move(facts.shares);
  view.strict_fifo = IsStrictFifo(state, facts.queue);
  SetPosition(state, id, view);
  view.inadmissibility = facts.entry.inadmissibility;
  view.inactivity = ViewInactivity(state, facts.queue);
  return view;
}

std::vector<ShareFacts> ExplainAllShares(State& state) {
  EnsureBuilt(state);
  std::vector<ShareFacts> shares;
  for (NodeId node : state.forest().TopDown()) {
    const bool counts =
        state.forest().IsClusterQueue(node) ? state.forest().IsActive(node) : state.forest().Exists(node);
    if (counts) shares.push_back(FactsOfShare(state, node));
  }
  return shares;
}

}  // namespace kueue
