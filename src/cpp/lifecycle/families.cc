#include "lifecycle/families.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "lifecycle/conditions.h"
#include "lifecycle/controllers.h"
#include "lifecycle/dispatched.h"
#include "lifecycle/queueing.h"
#include "lifecycle/returning.h"
#include "state/variants.h"

namespace kueue {
namespace {

constexpr Time kPreemptionTimeout = 300 * kSecond;  // Only then may the next variant preempt, too.

struct Family {
  WorkloadId parent = kNoId;
  NodeId queue = kNoId;                // kNoId if the parent's LocalQueue or ClusterQueue does not exist.
  std::vector<WorkloadId> variants;    // In the order of their flavors in the queue.
  std::vector<WorkloadId> flavorless;  // Variants whose flavor the queue does not have.
};

// Returns the families by the keys of their parents; those without a key are variants whose parent is gone.
std::map<std::string, Family> FamiliesOf(const State& state) {
  std::map<std::string, Family> by_uid, by_key;
  if (!state.config.gates.concurrent_admission) return by_key;
  for (WorkloadId id : state.Living()) {
    const Workload& workload = state.At(id);
    if (IsVariant(state, workload)) {
      by_uid[workload.spec->parent_uid].variants.push_back(id);
    } else if (IsParent(state, workload)) {
      by_uid[workload.uid].parent = id;
    }
  }
  for (auto& [uid, family] : by_uid) {
    const std::string key = family.parent == kNoId ? "" : state.At(family.parent).Key();
    Family& found = by_key[key];
    found.parent = family.parent;
    if (family.parent != kNoId) found.queue = ManagedQueue(state, state.At(family.parent));
    if (found.queue != kNoId &&
        (!state.forest().IsDeclared(found.queue) || state.Queue(found.queue).spec.resource_groups.empty()))
      found.queue = kNoId;
    for (WorkloadId id : family.variants) {
      const bool known = found.queue != kNoId && RankOf(state, found.queue, id) >= 0;
      (known ? found.variants : found.flavorless).push_back(id);
    }
    std::sort(found.variants.begin(), found.variants.end(), [&](WorkloadId a, WorkloadId b) {
      return RankOf(state, found.queue, a) < RankOf(state, found.queue, b);
    });
  }
  return by_key;
}

// The reconciliation of one family. Each step returns whether it changed anything.
class FamilyStep {
 public:
  FamilyStep(State& state, const Family& family)
      : state_(state),
        family_(family),
        policy_(state.Queue(family.queue).spec.concurrent_admission.value_or(ConcurrentAdmission())) {}

  bool Run() {
    bool changed = false;
    if (const WorkloadId evicted = EvictedVariant(); evicted != kNoId) {
      if (Parent().HasQuotaReservation())
        return EvictParent("VariantEvicted", "Admitted variant was evicted");
      ReleaseEvicted(state_, evicted);
      changed = true;
    }
    if (Deactivate()) changed = true;
    if (Parent().spec->active && Activate()) changed = true;
    if (SyncAdmission()) changed = true;
    return OpenNextGate() || changed;
  }

 private:
  Workload& Parent() const { return state_.At(family_.parent); }
  int Rank(WorkloadId id) const { return RankOf(state_, family_.queue, id); }

  template <typename Holds>
  WorkloadId First(Holds holds) const {
    const auto& variants = family_.variants;
    const auto found = std::find_if(variants.begin(), variants.end(),
                                    [&](WorkloadId id) { return holds(std::as_const(state_).At(id)); });
    return found == variants.end() ? WorkloadId(kNoId) : *found;
  }
  WorkloadId EvictedVariant() const {
    return First([](const Workload& one) { return one.IsEvicted() && one.HasQuotaReservation(); });
  }
  WorkloadId AdmittedVariant() const {
    return First([](const Workload& one) { return one.IsAdmitted(); });
  }

  bool EvictParent(const char* reason, const char* message) {
    if (Parent().IsEvicted()) return false;
    Evict(state_, family_.parent, InternReason(state_, reason), Quote(message));
    return true;
  }

  // Returns the last place of a flavor to which the family may migrate.
  int LastRank() const {
    return policy_.last_acceptable.empty()
               ? INT32_MAX
               : std::max(0, RankOf(state_, family_.queue, policy_.last_acceptable));
  }

  // Deactivates the variants that must not be tried any more, and takes back what they hold.
  bool Deactivate() {
    const WorkloadId admitted = AdmittedVariant();
    const bool active = Parent().spec->active;
    if (active && admitted == kNoId) return false;
    bool changed = false;
    for (WorkloadId id : family_.variants) {
      if (active && id == admitted) continue;
      if (active && !policy_.retains_first && Rank(id) <= LastRank() && Rank(id) < Rank(admitted)) continue;
      if (SetActive(state_, id, false)) changed = true;
      if (!state_.At(id).IsEvicted() || !state_.At(id).HasQuotaReservation()) continue;
      ReleaseEvicted(state_, id);
      changed = true;
    }
    return changed;
  }

  bool Activate() {
    const WorkloadId admitted = AdmittedVariant();
    if (admitted != kNoId && policy_.retains_first) return false;
    bool changed = false;
    for (WorkloadId id : family_.variants) {
      if (admitted != kNoId && (Rank(id) > LastRank() || Rank(id) >= Rank(admitted))) continue;
      if (SetActive(state_, id, true)) changed = true;
    }
    return changed;
  }

  bool SyncAdmission() {
    if (Parent().IsFinished()) return FinishVariants(*Parent().Find(ConditionType::kFinished));
    const WorkloadId admitted = AdmittedVariant();
    if (admitted == kNoId)
      return Parent().IsAdmitted() && EvictParent("ConcurrentAdmission", "No variant is running");
    const bool synced = SyncPodsReady(admitted);
    if (Parent().IsAdmitted()) return synced;
    SetQuotaReservation(state_, family_.parent, state_.At(admitted).admission);
    SetCondition(state_, Parent(), ConditionType::kAdmitted, true, Reason::kAdmitted,
                 Quote(absl::StrCat("The variant ", state_.At(admitted).name, " is admitted")));
    state_.Record(EventKind::kAdmitted, family_.parent);
    return true;
  }

  bool FinishVariants(const Condition finished) {
    bool changed = false;
    for (WorkloadId id : family_.variants) {
      if (state_.At(id).IsFinished()) continue;
      SetCondition(state_, state_.At(id), ConditionType::kFinished, true, finished.reason, finished.message);
      LeaveEverything(state_, id);
      state_.Record(EventKind::kFinished, id);
      changed = true;
    }
    return changed;
  }

  // Copies the readiness of the parent's pods, for which blocked cycles wait (blockAdmission).
  bool SyncPodsReady(WorkloadId admitted) {
    const Condition* const ready = Parent().Find(ConditionType::kPodsReady);
    if (ready == nullptr) return false;
    const Write write = SetCondition(state_, state_.At(admitted), ConditionType::kPodsReady, ready->status,
                                     ready->reason, ready->message);
    if (write == Write::kNone) return false;
    AfterWrite(state_, admitted);
    state_.MarkDirty(admitted);
    return true;
  }

  // Lets the next variant preempt, unless another variant has got this right less than five minutes ago.
  bool OpenNextGate() {
    WorkloadId next = kNoId;
    bool is_over = false;  // Whether the search has reached a variant that no cycle has considered yet.
    for (WorkloadId id : family_.variants) {
      const Workload& variant = std::as_const(state_).At(id);
      if (!IsAdmissible(state_, variant)) continue;
      for (const OpenGate& gate : variant.Status().dispatched.open_gates)
        if (state_.now - gate.since < kPreemptionTimeout) return false;
      if (!variant.Status().dispatched.open_gates.empty() || next != kNoId || is_over) continue;
      if (variant.IsTrue(ConditionType::kBlockedOnPreemptionGates)) next = id;
      is_over = variant.Find(ConditionType::kQuotaReserved) == nullptr;
    }
    if (next == kNoId) return false;
    OpenPreemptionGate(state_, next, kVariantGate);
    return true;
  }

  State& state_;
  const Family& family_;
  const ConcurrentAdmission policy_;
};

}  // namespace

bool ReconcileFamilies(State& state) {
  bool changed = false;
  for (const auto& [key, family] : FamiliesOf(state)) {
    if (family.queue != kNoId && FamilyStep(state, family).Run()) changed = true;
  }
  return changed;
}

FamilyChanges FamilyChangesOf(const State& state) {
  FamilyChanges changes;
  auto& [missing, unneeded] = changes;
  for (const auto& [key, family] : FamiliesOf(state)) {
    if (family.parent != kNoId && family.queue == kNoId) continue;
    for (WorkloadId id : family.flavorless) unneeded.push_back(state.At(id).serial);
    // Kueue makes no name for a variant from a name without a hyphen.
    if (family.parent == kNoId || state.At(family.parent).name.find('-') == std::string::npos) continue;
    const absl::Span<const FlavorQuotas> flavors = RacedFlavors(state, family.queue);
    std::vector<bool> exists(flavors.size());
    for (WorkloadId id : family.variants) exists[static_cast<size_t>(RankOf(state, family.queue, id))] = true;
    for (size_t rank = 0; rank < exists.size(); ++rank) {
      if (!exists[rank]) missing.emplace_back(state.At(family.parent).serial, flavors[rank].name);
    }
  }
  return changes;
}

}  // namespace kueue
