#include "questions/explain.h"

#include <algorithm>

#include "flavor/eligibility.h"
#include "lifecycle/queueing.h"
#include "preemption/fit.h"

namespace kueue {
namespace {

constexpr size_t kMostAlternatives = 6;

NodeFacts FactsOf(const Quota& quota, NodeId node, CellId cell) {
  return {node,
          quota.Nominal(node, cell),
          quota.Subtree(node, cell),
          quota.Usage(node, cell),
          quota.Local(node, cell),
          quota.BorrowingLimit(node, cell),
          quota.LendingLimit(node, cell),
          quota.RawAvailable(node, cell)};
}

// The node whose quota or borrowing limit decides how much `queue` may still have.
std::pair<NodeId, Limit> Binding(const Quota& quota, NodeId queue, CellId cell) {
  const Forest& forest = quota.forest();
  NodeId node = queue;
  for (; forest.Parent(node) != kNoId; node = forest.Parent(node)) {
    if (quota.BorrowingLimit(node, cell).IsUnlimited()) continue;
    const Amount local = quota.Local(node, cell);
    const Amount drawn = Max(Amount(0), quota.Usage(node, cell) - local);
    const Amount most = quota.Subtree(node, cell) - local - drawn + quota.BorrowingLimit(node, cell);
    if (most < quota.RawAvailable(forest.Parent(node), cell)) return {node, Limit::kBorrowingLimit};
  }
  return {node, Limit::kQuota};
}

class Holders {
 public:
  Holders(const Quota& quota, NodeId queue, CellId cell)
      : quota_(quota), forest_(quota.forest()), queue_(queue), cell_(cell) {}

  std::vector<HolderFacts> Find() {
    if (forest_.HasCycle(queue_) || forest_.Parent(queue_) == kNoId) {
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
      const bool has_own =
          !quota_.LendingLimit(child, cell_).IsUnlimited() || quota_.Nominal(child, cell_) != Amount(0);
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
    const Amount own = is_queue ? quota_.Nominal(node, cell_) : quota_.Subtree(node, cell_);
    const Amount usage = quota_.Usage(node, cell_), local = quota_.Local(node, cell_), zero(0);
    const Amount drawn = Max(zero, usage - local);
    HolderFacts facts{node, meets, own, usage, Max(zero, usage - own), Max(zero, own - local - drawn)};
    if (facts.usage != zero || facts.lends != zero) found_.push_back(facts);
  }

  const Quota& quota_;
  const Forest& forest_;
  const NodeId queue_;
  const CellId cell_;
  std::vector<HolderFacts> found_;
};

std::vector<WorkloadId> OneWouldDo(State& state, NodeId queue, const CellFacts& facts) {
  std::vector<WorkloadId> found;
  for (const HolderFacts& holder : facts.holders) {
    if (!state.forest().IsClusterQueue(holder.node)) continue;
    for (WorkloadId id : state.Queue(holder.node).workloads) {
      if (found.size() == kMostAlternatives) return found;
      if (!UsesAny(state.At(id), {facts.cell})) continue;
      const Trial trial(state);
      Discharge(state, id);
      if (facts.asked <= state.quota.Available(queue, facts.cell)) found.push_back(id);
    }
  }
  return found;
}

// The pod sets that share their flavors with this one, itself included.
std::vector<int> GroupOf(const EquivalenceClass& cls, int pod_set) {
  const std::string& name = cls.pod_sets[static_cast<size_t>(pod_set)].group;
  if (name.empty()) return {pod_set};
  std::vector<int> members;
  for (size_t i = 0; i < cls.pod_sets.size(); ++i) {
    if (cls.pod_sets[i].group == name) members.push_back(static_cast<int>(i));
  }
  return members;
}

class FlavorExplainer {
 public:
  FlavorExplainer(State& state, const Facts& facts)
      : state_(state),
        facts_(facts),
        queue_(state.Queue(facts.queue)),
        cls_(state.Class(state.At(facts.workload).cls)),
        placer_(state) {}

  std::vector<PodSetFacts> Run() {
    std::vector<PodSetFacts> all;
    for (const PodSetAssignment& assignment : facts_.entry.assignment.pod_sets) {
      const PodSetSpec& spec = cls_.pod_sets[static_cast<size_t>(assignment.pod_set)];
      const std::vector<int> group = GroupOf(cls_, assignment.pod_set);
      if (group.front() == assignment.pod_set) before_ = assumed_;
      PodSetFacts pod_set{assignment.pod_set, spec.name, assignment.count, assignment.requests, {}, {}};
      const Requests requests = Together(group);
      for (const auto& [resource, amount] : requests) {
        if (queue_.GroupOf(resource) == kNoId && amount != 0) pod_set.undeclared.push_back(resource);
      }
      for (size_t i = 0; i < queue_.groups.size(); ++i)
        AddGroup(static_cast<int>(i), assignment, group, requests, pod_set);
      Assume(assignment);
      all.push_back(std::move(pod_set));
    }
    return all;
  }

 private:
  Requests Together(const std::vector<int>& group) const {
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
          AddTo(assumed_, state_.Cell(choice.flavor, resource), Amount(amount));
      }
    }
  }

  void AddGroup(int index, const PodSetAssignment& assignment, const std::vector<int>& group,
                const Requests& requests, PodSetFacts& pod_set) {
    const auto in_group = [&](const auto& request) { return queue_.GroupOf(request.first) == index; };
    if (std::none_of(requests.begin(), requests.end(), in_group)) return;
    for (FlavorId id : queue_.groups[static_cast<size_t>(index)].flavors) {
      FlavorFacts flavor;
      flavor.flavor = id;
      flavor.resource_group = index;
      for (const FlavorAttempt& attempt : assignment.attempts) {
        if (attempt.flavor != id || attempt.group != index) continue;
        flavor.tried = true;
        flavor.attempt = attempt;
      }
      for (const FlavorChoice& choice : assignment.flavors)
        flavor.chosen = flavor.chosen || choice.flavor == id;
      for (int member : group) {
        if (!flavor.ineligible.empty()) break;
        flavor.ineligible =
            Ineligibilities(cls_.pod_sets[static_cast<size_t>(member)], id, state_.Flavor(id),
                            placer_.MatchOf(facts_.queue, index, id, state_.At(facts_.workload).cls, member));
      }
      for (const auto& request : requests) {
        if (!in_group(request)) continue;
        const CellId cell = state_.Cell(id, request.first);
        const Amount before = AmountOf(before_, cell);
        flavor.cells.push_back(
            ExplainCell(state_, facts_.queue, cell, before, before + Amount(request.second)));
      }
      pod_set.flavors.push_back(std::move(flavor));
    }
  }

  State& state_;
  const Facts& facts_;
  const ClusterQueue& queue_;
  const EquivalenceClass& cls_;
  Placer placer_;
  Amounts assumed_, before_;
};

ShareFacts FactsOfShare(const State& state, NodeId node) {
  ShareFacts facts{node, DominantResourceShare(state, node), Amount(0), Amount(0)};
  if (facts.share.dominant == kNoId) return facts;
  for (CellId cell : facts.share.borrowed) {
    if (state.cell_names[static_cast<size_t>(cell)].second != facts.share.dominant) continue;
    facts.borrowed += state.quota.Usage(node, cell) - state.quota.Subtree(node, cell);
  }
  facts.lendable = Lendable(state, state.forest().Parent(node), facts.share.dominant);
  return facts;
}

}  // namespace

bool MayPreempt(const State& state, NodeId queue, CellId cell, Amount asked) {
  const Preemption& preemption = state.Queue(queue).spec.preemption;
  if (state.quota.Nominal(queue, cell) >= asked || preemption.borrow_within_cohort) return true;
  if (state.config.fair_sharing && preemption.reclaim_within_cohort != PreemptionPolicy::kNever) return true;
  return state.quota.LowestSubtreeThatFits(queue, cell, asked).smaller_than_tree;
}

CellFacts ExplainCell(State& state, NodeId queue, CellId cell, Amount before, Amount asked) {
  const Quota& quota = state.quota;
  const auto [where, limit] = Binding(quota, queue, cell);
  CellFacts facts{
      cell, before, asked, quota.Available(queue, cell), quota.Potential(queue, cell), where, limit, false,
      {},   {},     {}};
  facts.may_preempt = asked <= facts.potential && MayPreempt(state, queue, cell, asked);
  for (NodeId node = queue; node != kNoId; node = state.forest().Parent(node)) {
    facts.path.push_back(FactsOf(quota, node, cell));
  }
  facts.holders = Holders(quota, queue, cell).Find();
  if (facts.IsShort() && asked <= facts.potential) facts.one_would_do = OneWouldDo(state, queue, facts);
  return facts;
}

std::vector<ShareFacts> ExplainShares(const State& state, NodeId queue) {
  std::vector<ShareFacts> shares;
  const Forest& forest = state.forest();
  if (forest.HasCycle(queue)) return shares;
  for (NodeId node = queue; forest.Parent(node) != kNoId; node = forest.Parent(node)) {
    shares.push_back(FactsOfShare(state, node));
  }
  return shares;
}

std::vector<ShareFacts> ExplainAllShares(State& state) {
  state.EnsureBuilt();
  std::vector<ShareFacts> shares;
  for (NodeId node : state.forest().TopDown()) {
    const bool counts =
        state.forest().IsClusterQueue(node) ? state.IsInSnapshot(node) : state.forest().Exists(node);
    if (counts) shares.push_back(FactsOfShare(state, node));
  }
  return shares;
}

WorkloadId PreemptorOf(const State& state, WorkloadId id) {
  const Condition* preempted = state.At(id).Find(ConditionType::kPreempted);
  if (preempted == nullptr || !preempted->status || !preempted->message) return kNoId;
  const PreemptedBy* by = std::get_if<PreemptedBy>(preempted->message.get());
  if (by == nullptr) return kNoId;
  for (size_t i = 0; i < state.workloads.size(); ++i) {
    if (state.workloads[i].uid == by->preemptor_uid) return static_cast<WorkloadId>(i);
  }
  return kNoId;
}

Facts ExplainWaiting(State& state, WorkloadId id) {
  state.EnsureBuilt();
  Facts facts;
  facts.workload = id;
  facts.queue = state.QueueOf(state.At(id));
  if (facts.queue == kNoId || !state.IsInSnapshot(facts.queue)) return facts;
  if (state.At(id).cls == kNoId) Classify(state, id);
  // The whole search, from the first flavor; how far the real one got is kept.
  const std::shared_ptr<const ScanProgress> progress = state.At(id).progress;
  state.At(id).progress = nullptr;
  facts.entry = Cycle(state).Nominate(id, facts.queue);
  state.At(id).progress = progress;
  if (facts.entry.nominated) {
    facts.pod_sets = FlavorExplainer(state, facts).Run();
    ExplainPreemption(state, facts);
  }
  facts.shares = ExplainShares(state, facts.queue);
  return facts;
}

Facts ExplainHolding(State& state, WorkloadId id) {
  state.EnsureBuilt();
  const Workload& workload = state.At(id);
  Facts facts;
  facts.workload = id;
  facts.queue = workload.charged;
  if (!workload.admission || facts.queue == kNoId) return facts;
  for (size_t i = 0; i < workload.admission->pod_sets.size(); ++i) {
    const PodSetAdmission& given = workload.admission->pod_sets[i];
    PodSetFacts pod_set{static_cast<int>(i), given.name, given.count, {}, {}, {}};
    for (const PodSetAdmission::Resource& entry : given.resources) {
      pod_set.requests.push_back({entry.resource, entry.usage});
      if (entry.flavor == kNoId || state.Cell(entry.flavor, entry.resource) == kNoId) continue;
      FlavorFacts flavor;
      flavor.flavor = entry.flavor;
      flavor.resource_group = state.Queue(facts.queue).GroupOf(entry.resource);
      flavor.chosen = true;
      const CellId cell = state.Cell(entry.flavor, entry.resource);
      flavor.cells.push_back(ExplainCell(state, facts.queue, cell, Amount(0), Amount(entry.usage)));
      pod_set.flavors.push_back(std::move(flavor));
    }
    facts.pod_sets.push_back(std::move(pod_set));
  }
  facts.shares = ExplainShares(state, facts.queue);
  return facts;
}

}  // namespace kueue
