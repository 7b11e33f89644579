#include "fleet/deferred_copies.h"

#include <algorithm>
#include <set>
#include <utility>

namespace kueue {

void DeferredCopies::Attach(const Sites* sites, Dispatcher* dispatcher, ReconcileQueue* queue) {
  sites_ = sites;
  dispatcher_ = dispatcher;
  queue_ = queue;
}

bool DeferredCopies::Add(size_t site, const DeferredCopy& copy, const WorkloadSpec& made) {
  if (Site(site).stopped() || !CanDefer(Site(site).runs(), copy.job)) return false;
  const std::optional<Wait> wait = FindWait(StateOf(site), made);
  if (!wait) return false;
  Waiting& waiting = waiting_[site];
  if (waiting.copies.empty()) {
    waiting.wait = *wait;
  } else if (!waiting.decided || waiting.wait.queue != wait->queue || waiting.wait.cls != wait->cls) {
    return false;
  }
  waiting.copies.push_back(copy);
  return true;
}

// If the copies are inadmissible, the cycles of the refused copy make the following copies inadmissible, too.
void DeferredCopies::Realize(size_t site) {
  if (IsEmpty(site)) return;
  const Waiting waiting = std::exchange(waiting_[site], Waiting());
  if (waiting.copies.front().refused) CountCycles(StateOf(site), waiting.wait, -1);
  for (const DeferredCopy& copy : waiting.copies) {
    RealizeOne(site, copy, !waiting.decided && !waiting.stirred);
  }
}

void DeferredCopies::RealizeAll() {
  for (size_t site = 1; site < waiting_.size(); ++site) Realize(site);
}

// No workload can get between the copies, or be evicted.
void DeferredCopies::RealizeFirst(size_t site) {
  Waiting& waiting = waiting_[site];
  if (waiting.copies.empty()) return;
  if ((!waiting.decided && !waiting.stirred) || !CanBeLeft(site)) return Realize(site);
  waiting.decided = false;
  waiting.stirred = true;
  if (!waiting.copies.front().refused) return;  // A submitted workload is the first of the queue.
  CountCycles(StateOf(site), waiting.wait, -1);
  SubmitFirst(site);
}

// Returns whether all deferred copies, or all but the first, need not be submitted before such a change.
bool DeferredCopies::CanBeLeft(size_t site) {
  const Waiting& waiting = waiting_[site];
  State& state = StateOf(site);
  if (!IsAlone(state, waiting.wait.queue)) return false;
  const DeferredCopy& first = waiting.copies.front();
  const bool is_empty = CountPending(state, waiting.wait.queue) == 0;
  if (!first.refused) {
    // Without a submitted workload, the copies become active again because one was deleted.
    return is_empty ? waiting.stirred : HasOnlyBefore(state, waiting.wait, first.created);
  }
  return is_empty && waiting.copies.size() > 1 && first.created < waiting.copies[1].created;
}

void DeferredCopies::RealizeOne(size_t site, const DeferredCopy& copy, bool is_new) {
  State& state = StateOf(site);
  const CopyStage stage = copy.refused ? CopyStage::kRefused : is_new ? CopyStage::kNew : CopyStage::kSeen;
  // The copies were refused before the present retries became due.
  std::set<NodeId> retries = std::exchange(state.to_requeue, {});
  RealizeCopy(Site(site).runs(), copy.job, copy.created, stage, copy.refused.value_or(copy.created),
              [&] { return dispatcher_->Realize(copy.serial, static_cast<int32_t>(site) - 1); });
  state.to_requeue.merge(retries);
}

// Submits the first of the deferred copies of a worker. The others follow it in the queue, and stay deferred.
void DeferredCopies::SubmitFirst(size_t site) {
  Waiting& waiting = waiting_[site];
  RealizeOne(site, waiting.copies.front(), /*is_new=*/false);
  waiting.copies.erase(waiting.copies.begin());
  waiting.wait.cycles = 0;
  if (waiting.copies.empty()) waiting = Waiting();
}

bool DeferredCopies::MayPass(size_t site) {
  const Waiting& waiting = waiting_[site];
  if (waiting.decided || waiting.stirred) return true;
  Realize(site);
  return false;
}

// The deletion of a workload makes the inadmissible workloads of its queue active again.
void DeferredCopies::Pass(size_t site, Serial serial) {
  Waiting& waiting = waiting_[site];
  auto& copies = waiting.copies;
  copies.erase(std::find_if(copies.begin(), copies.end(),
                            [serial](const DeferredCopy& copy) { return copy.serial == serial; }));
  SubmitAndDelete(StateOf(site), waiting.wait);
  waiting.decided = false;
  waiting.stirred = true;
  if (copies.empty()) waiting = Waiting();
}

bool DeferredCopies::Decide(size_t site, Time now) {
  Waiting& waiting = waiting_[site];
  if (waiting.copies.empty()) return false;
  if (waiting.decided) return true;  // A new copy became inadmissible at once.
  if (!waiting.stirred && !Refuse(site, waiting.wait, now)) Realize(site);
  while (waiting.stirred) {
    Site(site).runs().Settle();
    if (PrepareHead(site, now)) DecideOnHead(site);
  }
  return waiting.decided;
}

// Returns whether the next head of the queue is a submitted workload and deferred copies follow it.
// Otherwise, the deferred copies are refused or all submitted.
bool DeferredCopies::PrepareHead(size_t site, Time now) {
  Waiting& waiting = waiting_[site];
  const DeferredCopy& first = waiting.copies.front();
  State& state = StateOf(site);
  const NodeId queue = waiting.wait.queue;
  if (CountPending(state, queue) != 0) {
    if (HasOnlyBefore(state, waiting.wait, first.created)) return true;
    Realize(site);
    return false;
  }
  const std::optional<Wait> wait = RetryAndFindWait(state, waiting.wait);
  if (wait && Refuse(site, *wait, now)) return false;
  // The queue compares the uids of copies with the same creation time.
  const bool is_tied = waiting.copies.size() > 1 && waiting.copies[1].created == first.created;
  if (first.refused || is_tied) {
    Realize(site);
    state.NotifyRetry(queue);
    return false;
  }
  SubmitFirst(site);
  return !waiting.copies.empty();
}

// Runs a cycle with a submitted head that deferred copies of its class follow.
void DeferredCopies::DecideOnHead(size_t site) {
  Waiting& waiting = waiting_[site];
  const State& state = StateOf(site);
  if (Site(site).DecideSettled() || CountPending(state, waiting.wait.queue) == 0) return;
  if (!IsInadmissible(state, waiting.wait)) return Realize(site);
  waiting.wait.cycles = 0;
  waiting.decided = true;
  waiting.stirred = false;
}

// Counts the cycles that refuse the first deferred copy of a worker. Returns false if it must be submitted.
bool DeferredCopies::Refuse(size_t site, const Wait& wait, Time now) {
  if (!Site(site).CountRefusals(wait)) return false;
  Waiting& waiting = waiting_[site];
  waiting.wait = wait;
  waiting.decided = true;
  waiting.stirred = false;
  DeferredCopy& first = waiting.copies.front();
  // The first refusal of a copy that was made inadmissible together with others writes a condition.
  if (wait.cycles > 0 && !first.refused) {
    first.refused = now;
    queue_->AddObserved(first.job, static_cast<int32_t>(site) - 1, now);
  }
  return true;
}

}  // namespace kueue
