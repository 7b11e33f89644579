// Mirrors pkg/util/admissionfairsharing, pkg/cache/queue/afs and
// pkg/controller/core/localqueue_controller.go:reconcileConsumedUsage (kueue ff69552e79).
#include "fairness/ledger.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace kueue {
namespace {

constexpr Int128 kNano = 1'000'000'000;

// The shortest decimal that converts back to the same double.
struct Decimal {
  int64_t digits;
  int exponent;
};

// Parses the output of printf's %e.
Decimal ParseDecimal(const char* at) {
  int64_t digits = 0;
  int scale = 0;
  bool fraction = false;
  for (; *at != 'e' && *at != '\0'; ++at) {
    if (*at == '.') {
      fraction = true;
    } else {
      digits = digits * 10 + (*at - '0');
      if (fraction) --scale;
    }
  }
  return {digits, scale + (*at == 'e' ? std::atoi(at + 1) : 0)};
}

Decimal ShortestDecimal(double value) {
  char text[40];
  for (int precision = 1; precision <= 17; ++precision) {
    std::snprintf(text, sizeof text, "%.*e", precision - 1, value);
    if (std::strtod(text, nullptr) == value) break;
  }
  return ParseDecimal(text);
}

// Returns rest * digits / divisor by long multiplication, where rest < divisor <= 10^36 and digits < 10^18.
Int128 MultiplyAndDivide(Int128 rest, int64_t digits, Int128 divisor) {
  Int128 carry = 0, quotient = 0;
  for (Int128 place = 100'000'000'000'000'000; place > 0; place /= 10) {
    const Int128 digit = digits / static_cast<int64_t>(place) % 10;
    carry = carry * 10 + rest * digit;
    quotient = quotient * 10 + carry / divisor;
    carry %= divisor;
  }
  return quotient;
}

// Returns nano * factor, truncated to nano units. The factor is in [0, 1]. The product is computed in two
// parts, because it may not fit in 128 bits.
Int128 Multiply(Int128 nano, double factor) {
  if (factor == 0 || nano == 0) return 0;
  Decimal decimal = ShortestDecimal(factor);
  Int128 divisor = 1;
  for (; decimal.exponent < 0; ++decimal.exponent) {
    divisor *= 10;
    if (decimal.exponent < -36) return 0;
  }
  const Int128 whole = nano / divisor, rest = nano % divisor;
  Int128 product = whole * decimal.digits + MultiplyAndDivide(rest, decimal.digits, divisor);
  for (; decimal.exponent > 0; --decimal.exponent) product *= 10;
  return product;
}

// Weight of the current usage after an elapsed time: 1 - 0.5^(elapsed / half-life), or 0 without a half-life.
double Alpha(Time elapsed, Time half_life) {
  if (half_life == 0) return 0.0;
  const double seconds = static_cast<double>(elapsed) / 1e9, half = static_cast<double>(half_life) / 1e9;
  return 1.0 - std::pow(0.5, seconds / half);
}

Int128 ToNano(const State& state, ResourceId resource, int64_t amount) {
  return resource == state.cpu ? static_cast<Int128>(amount) * (kNano / 1000)
                               : static_cast<Int128>(amount) * kNano;
}

// Variant of Multiply() for releases that count whole thousandths. The amount is rounded up, and the product
// is truncated.
Int128 MultiplyThousandths(Int128 nano, double factor) {
  constexpr Int128 kThousandth = kNano / 1000;
  constexpr Int128 kMost = std::numeric_limits<int64_t>::max();
  const Int128 thousandths = std::min(kMost, (nano + kThousandth - 1) / kThousandth);
  const double product = static_cast<double>(thousandths) * factor;
  return (product >= static_cast<double>(kMost) ? kMost : static_cast<Int128>(product)) * kThousandth;
}

void AddScaled(const State& state, NanoAmounts& sum, const NanoAmounts& amounts, double factor) {
  const bool coarse = state.config.rules.usage_in_thousandths;
  for (const auto& [resource, amount] : amounts)
    sum[resource] += coarse ? MultiplyThousandths(amount, factor) : Multiply(amount, factor);
}

// Current usage of the LocalQueue's admitted workloads, summed over all flavors. As in Kueue, the sum of one
// flavor saturates, and the sum over flavors wraps around
// (pkg/resources/resource.go:FlavorResourceQuantities.FlattenFlavors).
NanoAmounts AdmittedUsage(const State& state, LocalQueueId local) {
  NanoAmounts usage;
  std::map<FlavorResourceId, Amount> by_flavor;
  const NodeId node = state.Local(local).cluster_queue;
  if (node == kNoId) return usage;
  for (WorkloadId id : state.Queue(node).workloads) {
    const Workload& workload = state.At(id);
    if (workload.local_queue != local || !workload.IsAdmitted()) continue;
    for (const auto& [fr, amount] : workload.usage) by_flavor[fr] += amount;
  }
  std::map<ResourceId, uint64_t> sums;
  for (const auto& [fr, amount] : by_flavor)
    sums[state.flavor_resources[fr].second] += static_cast<uint64_t>(amount.value());
  for (const auto& [resource, sum] : sums)
    usage[resource] = ToNano(state, resource, static_cast<int64_t>(sum));
  return usage;
}

// Consumed usage of a LocalQueue, decayed to the current time.
NanoAmounts Decayed(const State& state, LocalQueueId local) {
  const LedgerEntry& entry = state.ledger[local];
  const Time half_life = state.config.admission_fair_sharing->usage_half_life_time;
  const double alpha = Alpha(std::max<Time>(state.now - entry.last_update, 0), half_life);
  NanoAmounts decayed;
  AddScaled(state, decayed, entry.consumed, 1.0 - alpha);
  AddScaled(state, decayed, AdmittedUsage(state, local), alpha);
  return decayed;
}

LedgerEntry& Entry(State& state, LocalQueueId local) {
  LedgerEntry& entry = state.ledger[local];
  if (!entry.exists) {
    entry.exists = true;
    entry.last_update = state.now;
  }
  return entry;
}

// A penalty of zero does not count as pending. It is zero if the workload has no requests or there is no
// half-life.
bool OwesAnything(const LedgerEntry& entry) {
  for (const auto& [workload, penalty] : entry.penalties) {
    if (workload == kNoId) return true;
    for (const auto& [resource, amount] : penalty) {
      if (amount != 0) return true;
    }
  }
  return false;
}

NanoAmounts ConsumedAndOwed(const LedgerEntry& entry) {
  NanoAmounts sum = entry.consumed;
  for (const auto& [workload, penalty] : entry.penalties) {
    for (const auto& [resource, amount] : penalty) sum[resource] += amount;
  }
  return sum;
}

double WeightedUsage(const State& state, LocalQueueId local) {
  if (!state.config.admission_fair_sharing) return 0;
  const double weight = state.Local(local).exists ? state.Local(local).fair_weight : 1.0;
  if (weight <= 0) return std::numeric_limits<double>::infinity();
  // The terms are added in the order of their names, because the result of floating-point addition depends on
  // the order.
  std::vector<std::pair<std::string, double>> terms;
  const auto& weights = state.config.admission_fair_sharing->resource_weights;
  for (const auto& [resource, amount] : ConsumedAndOwed(state.ledger[local])) {
    const std::string& name = state.resource_names.Name(resource);
    const auto known = weights.find(name);
    terms.emplace_back(name,
                       (known == weights.end() ? 1.0 : known->second) * (static_cast<double>(amount) * 1e-9));
  }
  std::sort(terms.begin(), terms.end());
  double usage = 0;
  for (const auto& term : terms) usage += term.second;
  return usage / weight;
}

NanoAmounts Penalty(const State& state, const NanoAmounts& requests) {
  const AdmissionFairSharing& config = *state.config.admission_fair_sharing;
  NanoAmounts penalty;
  AddScaled(state, penalty, requests, Alpha(config.usage_sampling_interval, config.usage_half_life_time));
  return penalty;
}

// Requests of a workload for which a penalty is charged. With pooled penalties, pods are included.
NanoAmounts PenalizedRequests(const State& state, const Workload& workload) {
  const ClusterQueue& queue = state.Queue(workload.admission->cluster_queue);
  const bool counts_pods = state.config.rules.pooled_entry_penalties && queue.covers_pods;
  NanoAmounts requests;
  for (const PodSetTotals& totals : state.Class(workload.cls).totals) {
    for (const auto& [resource, amount] : totals.requests) {
      if (state.config.ignore_undeclared_resources && queue.GroupOf(resource) == kNoId) continue;
      requests[resource] += ToNano(state, resource, amount);
    }
    if (counts_pods) requests[state.pods] += ToNano(state, state.pods, totals.count);
  }
  return requests;
}

// Amount subtracted from the pool of penalties when a workload is admitted. The amount may be computed from
// fewer pods than the amount that was added
// (pkg/controller/core/workload_controller.go:updateAfsConsumedUsage before v0.18).
NanoAmounts AdmittedPenalty(const State& state, const Workload& workload) {
  NanoAmounts usage;
  for (const PodSetAdmission& pod_set : workload.admission->pod_sets) {
    for (const PodSetAdmission::Resource& entry : pod_set.resources)
      usage[entry.resource] += ToNano(state, entry.resource, entry.usage);
  }
  return Penalty(state, usage);
}

// Subtracts an amount from the pool, and removes the pool when it becomes zero.
void DrainPool(const State& state, LedgerEntry& entry, const NanoAmounts& penalty) {
  NanoAmounts& pool = entry.penalties[kNoId];
  for (const auto& [resource, amount] : penalty) pool[resource] -= amount;
  const auto is_zero = [](const auto& left) { return left.second == 0; };
  if (!state.config.rules.pooled_penalties_stay && std::all_of(pool.begin(), pool.end(), is_zero))
    entry.penalties.erase(kNoId);
}

// The first sample includes the history (LocalQueueReconciler.initializeAfsIfNeeded).
void TakeHistoryIn(State& state, LocalQueueId local) {
  LedgerEntry& entry = state.ledger[local];
  if (entry.is_sampled) return;
  const bool from_admitted = state.config.rules.usage_starts_from_admitted;
  if (from_admitted && !entry.exists) entry.consumed = AdmittedUsage(state, local);
  if (!from_admitted) {
    for (const auto& [resource, amount] : entry.history) entry.consumed[resource] += amount;
  }
  entry.history.clear();
  entry.is_sampled = true;
  RefreshLocalQueueUsage(state, local);  // Also if no sample is due.
}

}  // namespace

void ContinueUsage(State& state, LocalQueueId local, Time sampled) {
  LedgerEntry& entry = state.ledger[local];
  if (entry.is_sampled || entry.exists) return;
  entry.consumed = std::exchange(entry.history, {});
  entry.exists = entry.is_sampled = true;
  entry.last_update = std::min(sampled, state.now);
  RefreshLocalQueueUsage(state, local);
}

namespace {

// Returns whether the LocalQueue is currently sampled.
bool IsFollowed(const State& state, LocalQueueId local) {
  const LocalQueue& queue = state.Local(local);
  return queue.IsRunning() && queue.cluster_queue != kNoId && state.forest().IsActive(queue.cluster_queue);
}

void SampleOne(State& state, LocalQueueId local) {
  const AdmissionFairSharing& config = *state.config.admission_fair_sharing;
  LedgerEntry& entry = state.ledger[local];
  const bool first = !entry.is_sampled && state.config.rules.usage_starts_from_admitted;
  const bool due = !entry.exists || first || state.now - entry.last_update >= config.usage_sampling_interval;
  TakeHistoryIn(state, local);
  if (!due && !OwesAnything(entry)) return;
  Entry(state, local);
  if (config.usage_half_life_time == 0) {
    entry.consumed.clear();
  } else {
    entry.consumed = Decayed(state, local);
  }
  entry.last_update = std::max(entry.last_update, state.now);
  RefreshLocalQueueUsage(state, local);
  state.Queue(state.Local(local).cluster_queue).pending.Reorder(state.pending_tables());
}

}  // namespace

bool UsesAdmissionFairSharing(const State& state, NodeId queue) {
  return state.config.admission_fair_sharing && queue != kNoId &&
         state.Queue(queue).spec.usage_based_admission_fair_sharing;
}

void RefreshLocalQueueUsage(State& state, LocalQueueId local) {
  const double usage = WeightedUsage(state, local);
  if ((*state.ledger_usage)[local] != usage) state.ledger_usage.Edit()[local] = usage;
}

bool HasPendingPenalty(const State& state, LocalQueueId local) {
  return state.Local(local).IsRunning() && OwesAnything(state.ledger[local]);
}

void AddPenalty(State& state, WorkloadId id) {
  const Workload& workload = state.At(id);
  const bool pooled = state.config.rules.pooled_entry_penalties;
  if (!pooled && !UsesAdmissionFairSharing(state, workload.admission->cluster_queue)) return;
  const NanoAmounts requests = PenalizedRequests(state, workload);
  LedgerEntry& entry = state.ledger[workload.local_queue];
  if (pooled) {
    NanoAmounts& pool = entry.penalties[kNoId];
    for (const auto& [resource, amount] : Penalty(state, requests)) pool[resource] += amount;
  } else {
    Entry(state, workload.local_queue).penalties[id] = Penalty(state, requests);
  }
  RefreshLocalQueueUsage(state, workload.local_queue);
}

void DropPenalty(State& state, WorkloadId id) {
  const LocalQueueId local = std::as_const(state).At(id).local_queue;
  if (std::as_const(state.ledger)[local].penalties.empty()) return;
  if (state.ledger[local].penalties.erase(id) > 0) RefreshLocalQueueUsage(state, local);
}

void SettlePenalty(State& state, WorkloadId id) {
  const LocalQueueId local = state.At(id).local_queue;
  LedgerEntry& entry = Entry(state, local);
  entry.consumed = Decayed(state, local);
  const auto penalty = entry.penalties.find(id);
  if (state.config.rules.pooled_entry_penalties) {
    const NanoAmounts settled = AdmittedPenalty(state, state.At(id));
    for (const auto& [resource, amount] : settled) entry.consumed[resource] += amount;
    DrainPool(state, entry, settled);
  } else if (penalty != entry.penalties.end()) {
    for (const auto& [resource, amount] : penalty->second) entry.consumed[resource] += amount;
    entry.penalties.erase(penalty);
  }
  entry.last_update = std::max(entry.last_update, state.now);
  RefreshLocalQueueUsage(state, local);
}

void Sample(State& state) {
  for (LocalQueueId local : state.local_queues.Ids()) {
    if (IsFollowed(state, local)) SampleOne(state, local);
  }
}

}  // namespace kueue
