#include "flavor/assignment.h"

#include <algorithm>

#include "absl/types/span.h"

namespace kueue {

bool PodSetAssignment::HasError() const {
  return std::any_of(refusals.begin(), refusals.end(),
                     [](const Refusal& refusal) { return refusal.IsError(); });
}

Mode PodSetAssignment::RepresentativeMode() const {
  if (refusals.empty()) return Mode::kFit;
  if (HasError()) return Mode::kNoFit;
  if (flavors.empty()) return Mode::kNoFit;
  Mode worst = Mode::kFit;
  for (const FlavorChoice& choice : flavors) worst = std::min(worst, choice.mode);
  return worst;
}

namespace {

bool SaysTheSame(const Refused& before, ClassId cls, absl::Span<const PodSetAssignment> pod_sets) {
  if (before.cls != cls || before.pending_preemptions != 0) return false;
  const auto* known = before.pod_sets.begin();
  for (const PodSetAssignment& pod_set : pod_sets) {
    if (pod_set.refusals.empty()) continue;
    if (known == before.pod_sets.end() || known->pod_set != pod_set.pod_set ||
        !(known->refusals == pod_set.refusals)) {
      return false;
    }
    ++known;
  }
  return known == before.pod_sets.end();
}

}  // namespace

Message Assignment::Facts(ClassId cls, const Message& before) const {
  const auto refuses = [](const PodSetAssignment& pod_set) { return !pod_set.refusals.empty(); };
  if (std::none_of(pod_sets.begin(), pod_sets.end(), refuses)) return nullptr;
  const auto* known = before == nullptr ? nullptr : std::get_if<Refused>(before.get());
  if (known != nullptr && SaysTheSame(*known, cls, pod_sets)) return before;
  Refused refused;
  refused.cls = cls;
  for (const PodSetAssignment& pod_set : pod_sets) {
    if (refuses(pod_set)) refused.pod_sets.push_back({pod_set.pod_set, pod_set.refusals});
  }
  return std::make_shared<const MessageBody>(std::move(refused));
}

bool Assignment::HasPendingFlavors() const {
  for (const PodSetAssignment& pod_set : pod_sets) {
    for (const FlavorChoice& choice : pod_set.flavors) {
      if (choice.tried != -1) return true;
    }
  }
  return false;
}

}  // namespace kueue
