#include "simulation/recorder.h"

#include <algorithm>
#include <limits>

namespace kueue {

namespace {

template <typename... Columns>
void ReserveEach(size_t rows, Columns&... columns) {
  (columns.reserve(rows), ...);
}

}  // namespace

void Recorder::Reserve(size_t jobs) {
  if (!what_.usage) return;
  ReserveEach(2 * jobs, usage_.seconds, usage_.cluster_queue, usage_.fr, usage_.used, usage_.nominal,
              usage_.borrowed, usage_.waiting, usage_.share);
}

int32_t Recorder::CodeOf(NodeId queue) {
  if (queue == kNoId) return -1;
  code_of_.GrowTo(queue, -1);
  int32_t& code = code_of_[queue];
  if (code < 0) {
    code = static_cast<int32_t>(queues_.size());
    queues_.push_back(queue);
  }
  return code;
}

namespace {

bool IsSame(const Assigned& assigned, const Admission& admission) {
  auto next = assigned.begin();
  for (const PodSetAdmission& pod_set : admission.pod_sets) {
    for (const PodSetAdmission::Resource& entry : pod_set.resources) {
      if (entry.flavor == kNoId) continue;
      if (next == assigned.end() || std::get<0>(*next) != pod_set.name ||
          std::get<1>(*next) != entry.resource || std::get<2>(*next) != entry.flavor ||
          std::get<3>(*next) != entry.usage) {
        return false;
      }
      ++next;
    }
  }
  return next == assigned.end();
}

}  // namespace

int32_t Recorder::AssignedOf(const Admission& admission) {
  if (!what_.runs) return -1;
  if (!assigned_.empty() && IsSame(assigned_[static_cast<size_t>(last_assigned_)], admission))
    return last_assigned_;
  Assigned found;
  for (const PodSetAdmission& pod_set : admission.pod_sets) {
    for (const PodSetAdmission::Resource& entry : pod_set.resources) {
      if (entry.flavor != kNoId) found.emplace_back(pod_set.name, entry.resource, entry.flavor, entry.usage);
    }
  }
  const auto [place, fresh] = place_of_assigned_.try_emplace(found, static_cast<int32_t>(assigned_.size()));
  if (fresh) assigned_.push_back(std::move(found));
  last_assigned_ = place->second;
  return last_assigned_;
}

void Recorder::AddDecision(const State& state, DecisionKind kind, const Job& job, int32_t row) {
  const int32_t queue = CodeOf(job.queue);
  if (!what_.decisions) return;
  const bool evicted = kind == DecisionKind::kEvicted || kind == DecisionKind::kDeactivated;
  decisions_.seconds.push_back(Seconds(state.now));
  decisions_.cycle.push_back(state.scheduling_cycle);
  decisions_.job.push_back(row);
  decisions_.cluster_queue.push_back(queue);
  decisions_.kind.push_back(static_cast<int32_t>(kind));
  decisions_.reason.push_back(evicted ? CodeOf(job.outcome_reason) : -1);
  decisions_.rule.push_back(evicted ? CodeOf(job.rule) : -1);
  decisions_.preemptor.push_back(evicted ? job.preemptor : -1);
}

void Recorder::EndRun(Time now, RunOutcome outcome, const Job& job, int32_t row, const Broken& broken) {
  if (!what_.runs) return;
  const bool preempted = outcome == RunOutcome::kPreempted;
  runs_.job.push_back(row);
  runs_.run.push_back(job.runs - 1);
  runs_.reserved.push_back(Seconds(job.reserved));
  runs_.start.push_back(job.started < 0 ? std::numeric_limits<double>::quiet_NaN() : Seconds(job.started));
  runs_.end.push_back(outcome == RunOutcome::kRunning ? std::numeric_limits<double>::quiet_NaN()
                                                      : Seconds(now));
  runs_.assigned.push_back(job.assigned);
  runs_.outcome.push_back(static_cast<int32_t>(outcome));
  runs_.progress.push_back(static_cast<double>(broken.kept) / 1e9);
  runs_.lost.push_back(static_cast<double>(broken.lost) / 1e9);
  runs_.overhead.push_back(static_cast<double>(broken.overhead) / 1e9);
  runs_.preemptor.push_back(preempted ? job.preemptor : -1);
  runs_.rule.push_back(preempted ? CodeOf(job.rule) : -1);
}

void Recorder::Use(Time now, NodeId queue, FlavorResourceId fr, CellUse use, int32_t waiting, double share) {
  usage_.seconds.push_back(Seconds(now));
  usage_.cluster_queue.push_back(CodeOf(queue));
  usage_.fr.push_back(fr.value());
  usage_.used.push_back(use.used);
  usage_.nominal.push_back(use.nominal);
  usage_.borrowed.push_back(std::max<int64_t>(0, use.used - use.nominal));
  usage_.waiting.push_back(waiting);
  usage_.share.push_back(share);
}

void Recorder::Idle(Time now, NodeId tree, FlavorResourceId fr, double idle) {
  if (!what_.usage) return;
  idle_.seconds.push_back(Seconds(now));
  idle_.tree.push_back(tree.value());
  idle_.fr.push_back(fr.value());
  idle_.idle.push_back(idle);
}

void Recorder::Block(Time now, NodeId queue, double blocked) {
  if (!what_.usage) return;
  blocked_.seconds.push_back(Seconds(now));
  blocked_.cluster_queue.push_back(CodeOf(queue));
  blocked_.blocked.push_back(blocked);
}

void Recorder::Count(Time now, int64_t cycle, int64_t heads, int64_t admitted, int64_t evicted) {
  if (!what_.cycles) return;
  cycles_.seconds.push_back(Seconds(now));
  cycles_.cycle.push_back(cycle);
  cycles_.heads.push_back(static_cast<int32_t>(heads));
  cycles_.admitted.push_back(static_cast<int32_t>(admitted));
  cycles_.evicted.push_back(static_cast<int32_t>(evicted));
}

void Recorder::Consume(const State& state) {
  for (LocalQueueId queue : state.ledger.Ids()) {
    if (!state.ledger[queue].exists) continue;
    for (const auto& [resource, nano] : state.ledger[queue].consumed) {
      const auto value = static_cast<double>(nano) / 1e9;
      double& last = last_consumed_[{queue, resource}];
      if (last == value) continue;
      last = value;
      consumed_.seconds.push_back(Seconds(state.now));
      consumed_.local_queue.push_back(queue.value());
      consumed_.resource.push_back(resource.value());
      consumed_.consumed.push_back(value);
    }
  }
}

}  // namespace kueue
