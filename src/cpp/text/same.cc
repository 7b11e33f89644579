#include <algorithm>
#include <type_traits>
#include <variant>

#include "text/text.h"

namespace kueue {
namespace {

// Returns whether two refusals may have the same text. Those of one flavor and resource that differ, such as
// in an amount, have different texts; this is the most frequent change of a message.
bool MayBeEqual(const Refusal& a, const Refusal& b) {
  if (a.kind != b.kind || a.flavor != b.flavor || a.resource != b.resource) return true;
  return a.kind == RefusalKind::kShortOfQuota ? a.shortage().missing == b.shortage().missing : a == b;
}

bool MayEqual(const Refused& a, const Refused& b) {
  const auto may_equal = [](const PodSetRefusals& x, const PodSetRefusals& y) {
    return std::equal(x.refusals.begin(), x.refusals.end(), y.refusals.begin(), y.refusals.end(), MayBeEqual);
  };
  return a.pending_preemptions == b.pending_preemptions &&
         std::equal(a.pod_sets.begin(), a.pod_sets.end(), b.pod_sets.begin(), b.pod_sets.end(), may_equal);
}

bool Same(const State&, const Refused& a, const Refused& b) { return a == b; }

bool Same(const State&, const Literal& a, const Literal& b) { return a.text == b.text; }

bool Same(const State&, const Said& a, const Said& b) {
  return a.sentence == b.sentence && a.names == b.names;
}

bool Same(const State& state, const DeactivatedDueTo& a, const DeactivatedDueTo& b) {
  return SameMessage(state, a.why, b.why);
}

bool Same(const State&, const ReservedIn& a, const ReservedIn& b) {
  return a.cluster_queue == b.cluster_queue;
}

bool Same(const State& state, const Previously& a, const Previously& b) {
  return SameMessage(state, a.before, b.before);
}

bool Same(const State&, const PreemptedBy& a, const PreemptedBy& b) {
  return a.preemptor_uid == b.preemptor_uid && a.preemptor_job_uid == b.preemptor_job_uid &&
         a.reason == b.reason && a.preemptor_path == b.preemptor_path && a.preemptee_path == b.preemptee_path;
}

}  // namespace

bool SameMessage(const State& state, const Message& a, const Message& b) {
  if (a == b) return true;
  if (!a || !b) return false;
  if (a->index() == b->index()) {
    const auto same = [&](const auto& left) {
      return Same(state, left, std::get<std::decay_t<decltype(left)>>(*b));
    };
    if (std::visit(same, static_cast<const MessageKinds&>(*a))) return true;
    // Different facts may have the same text: a failed placement, for example, does not name its flavor.
    const auto* refused = std::get_if<Refused>(a.get());
    if (refused == nullptr || !MayEqual(*refused, std::get<Refused>(*b))) return false;
  } else if (!std::holds_alternative<Literal>(*a) && !std::holds_alternative<Literal>(*b)) {
    return false;
  }
  return Render(state, a) == Render(state, b);
}

}  // namespace kueue
