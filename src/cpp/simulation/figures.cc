#include "simulation/figures.h"

#include <algorithm>

#include "fairness/share.h"
#include "text/text.h"

namespace kueue {
namespace {

// A ClusterQueue without a cohort, or below a cycle of Cohorts, is its own tree.
NodeId RootOf(const State& state, NodeId queue) {
  const NodeId root = state.forest().Root(queue);
  return root == kNoId ? queue : root;
}

}  // namespace

CellFigures& Figures::CellOf(QueueFigures& figures, FlavorResourceId fr) {
  for (auto& [known, found] : figures.cells) {
    if (known == fr) return found;
  }
  return figures.cells.emplace_back(fr, CellFigures()).second;
}

int32_t Figures::TreeOf(NodeId root, FlavorResourceId fr) {
  const auto [found, is_new] = tree_of_.try_emplace({root, fr}, static_cast<int32_t>(trees_.size()));
  if (is_new) {
    trees_.emplace_back();
    trees_.back().root = root;
    trees_.back().fr = fr;
  }
  return found->second;
}

void Figures::AddWaiting(const State& state, NodeId queue,
                         const std::vector<std::pair<ResourceId, int64_t>>& asks, int by) {
  waiting_ += by;
  waits_.Set(static_cast<double>(waiting_), state.now, from_);
  QueueFigures& figures = Of(queue);
  figures.waiting += by;
  figures.waits.Set(figures.waiting, state.now, from_);
  for (auto& [fr, use] : figures.cells) {
    const ResourceId resource = state.flavor_resources[fr].second;
    for (const auto& [asked, amount] : asks) {
      if (asked != resource) continue;
      use.asked += static_cast<double>(amount) * by;
      trees_[static_cast<size_t>(use.tree)].asked += static_cast<double>(amount) * by;
    }
  }
}

void Figures::Evict(NodeId victim, NodeId preemptor, Reason rule, const Workload& workload,
                    const Broken& broken) {
  if (!is_on_) return;
  EvictionFigures& figures = evictions_[{victim, preemptor, rule}];
  ++figures.count;
  for (const auto& [fr, amount] : workload.usage)
    figures.lost[fr] += static_cast<double>(amount.value()) * static_cast<double>(broken.lost);
  Spend(workload, broken);
}

void Figures::Spend(const Workload& workload, const Broken& broken) {
  if (!is_on_) return;
  for (const auto& [fr, amount] : workload.usage) {
    const auto held = static_cast<double>(amount.value());
    if (broken.lost != 0) lost_[fr] += held * static_cast<double>(broken.lost);
    if (broken.overhead != 0) overhead_[fr] += held * static_cast<double>(broken.overhead);
  }
}

void Figures::Use(Time now, CellFigures& figures, CellUse use) {
  const CellUse before = figures.use;
  const auto over = [](const CellUse& value) { return std::max<int64_t>(0, value.used - value.nominal); };
  const auto under = [](const CellUse& value) { return std::max<int64_t>(0, value.nominal - value.used); };
  borrowers_ += (over(use) > 0 ? 1 : 0) - (over(before) > 0 ? 1 : 0);
  borrowing_.Set(borrowers_ > 0 ? 1 : 0, now, from_);
  TreeFigures& tree = trees_[static_cast<size_t>(figures.tree)];
  tree.used += static_cast<double>(use.used - before.used);
  tree.borrowed += static_cast<double>(over(use) - over(before));
  tree.unused += static_cast<double>(under(use) - under(before));
  figures.used.Set(static_cast<double>(use.used), now, from_);
  figures.nominal.Set(static_cast<double>(use.nominal), now, from_);
  figures.borrowed.Set(static_cast<double>(over(use)), now, from_);
  figures.use = use;
}

void Figures::LookAtTree(Time now, int32_t number) {
  TreeFigures& tree = trees_[static_cast<size_t>(number)];
  if (!tree.touched) touched_.push_back(number);
  tree.touched = true;
  tree.idle.Set(std::max(0.0, std::min(tree.all - tree.used, tree.asked)), now, from_);
  tree.lent.Set(std::min(tree.borrowed, tree.unused), now, from_);
}

void Figures::Look(const State& state, NodeId queue, Recorder& recorder) {
  if (queue == kNoId || !state.forest().IsDeclared(queue)) return;
  QueueFigures& figures = Of(queue);
  const bool waiting_changed = figures.waiting != figures.recorded_waiting;
  bool any = false;
  double share = -1, blocked = 0;
  for (auto& [fr, known] : figures.cells) {
    const CellUse use{state.quota.Usage(queue, fr).value(), state.quota.limits().nominal(queue, fr).value()};
    const bool changed = !known.recorded || !(use == known.use);
    known.recorded = true;
    if (changed) Use(state.now, known, use);
    LookAtTree(state.now, known.tree);
    any = any || changed;
    const double entitled = static_cast<double>(use.nominal) + known.extra;
    if (entitled > 0) blocked = std::max(blocked, static_cast<double>(use.used) / entitled);
    if ((!changed && !waiting_changed) || !recorder.what().usage) continue;
    if (share < 0) share = DominantResourceShare(state, queue).Weighted();
    recorder.Use(state.now, queue, fr, use, figures.waiting, share);
  }
  if (!any && !waiting_changed) return;
  figures.recorded_waiting = figures.waiting;
  figures.somebody_waits.Set(figures.waiting > 0 ? 1 : 0, state.now, from_);
  figures.blocked.Set(figures.waiting > 0 ? blocked : 0, state.now, from_);
  const double told = figures.waiting > 0 ? blocked : -1;
  if (told != figures.recorded_blocked) recorder.Block(state.now, queue, told);
  figures.recorded_blocked = told;
}

void Figures::EndMoment(Time now, Recorder& recorder) {
  for (int32_t number : touched_) {
    TreeFigures& tree = trees_[static_cast<size_t>(number)];
    tree.touched = false;
    if (tree.idle.value() == tree.recorded_idle) continue;
    tree.recorded_idle = tree.idle.value();
    recorder.Idle(now, tree.root, tree.fr, tree.recorded_idle);
  }
  touched_.clear();
}

// Computes quota, usage and requests of the trees by flavor resource. Quota that is not lent is included.
void Figures::CountTrees(const State& state, const std::vector<NodeId>& nodes) {
  const auto for_each_cell = [&](auto use) {
    for (NodeId queue : nodes) {
      if (!state.forest().IsClusterQueue(queue)) continue;
      for (FlavorResourceId fr : state.quota.FlavorResources()) {
        if (state.quota.limits().defined(queue, fr)) use(queue, fr, CellOf(Of(queue), fr));
      }
    }
  };
  for_each_cell([&](NodeId queue, FlavorResourceId fr, CellFigures& figures) {
    figures.tree = TreeOf(RootOf(state, queue), fr);
    TreeFigures& of = trees_[static_cast<size_t>(figures.tree)];
    of.all = of.used = of.unused = of.borrowed = of.asked = 0;
  });
  for_each_cell([&](NodeId, FlavorResourceId, const CellFigures& figures) {
    TreeFigures& of = trees_[static_cast<size_t>(figures.tree)];
    of.used += static_cast<double>(figures.use.used);
    of.unused += static_cast<double>(std::max<int64_t>(0, figures.use.nominal - figures.use.used));
    of.borrowed += static_cast<double>(std::max<int64_t>(0, figures.use.used - figures.use.nominal));
    of.asked += figures.asked;
  });
  for (NodeId node : nodes) {
    for (FlavorResourceId fr : state.quota.FlavorResources()) {
      const int64_t nominal = state.quota.limits().nominal(node, fr).value();
      if (nominal == 0) continue;  // Most Cohorts have no quota of their own.
      const auto tree = tree_of_.find({RootOf(state, node), fr});
      if (tree != tree_of_.end())
        trees_[static_cast<size_t>(tree->second)].all += static_cast<double>(nominal);
    }
  }
}

// Computes the share of each queue in the quota that no queue of its tree has. The sums are made once by
// tree, because a tree may have all queues.
void Figures::Rebuild(const State& state, const std::vector<NodeId>& nodes) {
  CountTrees(state, nodes);
  IdVector<NodeId, double> weights(state.forest().size());
  std::vector<double> rest;
  for (const TreeFigures& tree : trees_) rest.push_back(tree.all);
  for (NodeId queue : nodes) {
    if (!state.forest().IsClusterQueue(queue)) continue;
    weights[RootOf(state, queue)] += state.Queue(queue).spec.fair_weight;
    for (const auto& [fr, figures] : Of(queue).cells) {
      rest[static_cast<size_t>(figures.tree)] -=
          static_cast<double>(state.quota.limits().nominal(queue, fr).value());
    }
  }
  for (NodeId queue : nodes) {
    if (!state.forest().IsClusterQueue(queue)) continue;
    const double all = weights[RootOf(state, queue)];
    for (auto& [fr, figures] : Of(queue).cells) {
      const double unassigned = std::max(0.0, rest[static_cast<size_t>(figures.tree)]);
      figures.extra = all > 0 ? unassigned * state.Queue(queue).spec.fair_weight / all : 0;
    }
  }
  for (FlavorResourceId fr : state.quota.FlavorResources()) {
    double all = 0;
    for (NodeId node : state.quota.forest().Nodes()) {
      if (state.forest().Exists(node))
        all += static_cast<double>(state.quota.limits().nominal(node, fr).value());
    }
    nominal_[fr].Set(all, state.now, from_);
  }
}

void Figures::EndSubmissions(Time now) {
  submissions_ = SubmissionFigures{now, {}, {}};
  for (const QueueFigures& figures : queues_) {
    for (const auto& [fr, use] : figures.cells) submissions_.used[fr] += use.used.TotalAt(now, from_);
  }
  for (const auto& [fr, nominal] : nominal_) submissions_.nominal[fr] = nominal.TotalAt(now, from_);
}

void Figures::Close(Time now) {
  for (QueueFigures& figures : queues_) {
    for (Integral* integral : {&figures.waits, &figures.blocked, &figures.somebody_waits}) {
      integral->Advance(now, from_);
    }
    for (auto& [fr, use] : figures.cells) {
      for (Integral* integral : {&use.used, &use.nominal, &use.borrowed}) integral->Advance(now, from_);
    }
  }
  for (TreeFigures& tree : trees_) {
    tree.idle.Advance(now, from_);
    tree.lent.Advance(now, from_);
  }
  for (auto& [fr, nominal] : nominal_) nominal.Advance(now, from_);
  waits_.Advance(now, from_);
  borrowing_.Advance(now, from_);
}

namespace {

double TotalOf(double total) { return total; }
double TotalOf(const Integral& integral) { return integral.total(); }

template <typename Values>
ByName<double> ByCell(const State& state, const Values& values) {
  ByName<double> view;
  for (const auto& [fr, value] : values) view.Add(FlavorResourceName(state, fr), TotalOf(value));
  return view;
}

QueueTotals TotalsOfQueue(const State& state, const QueueFigures& queue) {
  QueueTotals totals{queue.waits.total(),
                     static_cast<int64_t>(queue.waits.most()),
                     queue.blocked.total(),
                     queue.somebody_waits.total(),
                     {}};
  for (const auto& [fr, use] : queue.cells) {
    totals.cells.Add(FlavorResourceName(state, fr),
                     {use.used.total(), use.nominal.total(), use.borrowed.total(), use.use.used});
  }
  return totals;
}

std::vector<EvictionTotals> TotalsOfEvictions(const State& state, const Figures& figures) {
  std::vector<EvictionTotals> totals;
  const auto name = [&](NodeId node) { return node == kNoId ? std::string() : state.forest().Name(node); };
  for (const auto& [who, found] : figures.evictions()) {
    const auto& [victim, preemptor, rule] = who;
    totals.push_back({name(victim), name(preemptor),
                      rule == Reason::kEmpty ? std::string() : state.reasons.Name(rule), found.count,
                      ByCell(state, found.lost)});
  }
  return totals;
}

}  // namespace

Totals TotalsOf(const State& state, const Figures& figures, Time start) {
  const SubmissionFigures& submissions = figures.submissions();
  Totals totals{{submissions.until < 0 ? -1 : submissions.until - start, ByCell(state, submissions.used),
                 ByCell(state, submissions.nominal)},
                {},
                {},
                TotalsOfEvictions(state, figures),
                ByCell(state, figures.nominal()),
                ByCell(state, figures.lost()),
                ByCell(state, figures.overhead()),
                figures.waits().total(),
                static_cast<int64_t>(figures.waits().most()),
                figures.borrowing().total()};
  for (NodeId node : figures.queues().Ids()) {
    const QueueFigures& queue = figures.queues()[node];
    if (queue.cells.empty() && queue.waits.most() == 0) continue;  // It has no quota and had no pending jobs.
    totals.queues.Add(state.forest().Name(node), TotalsOfQueue(state, queue));
  }
  for (const TreeFigures& tree : figures.trees()) {
    totals.trees.push_back({state.forest().Name(tree.root), FlavorResourceName(state, tree.fr),
                            tree.idle.total(), tree.lent.total()});
  }
  return totals;
}

}  // namespace kueue
