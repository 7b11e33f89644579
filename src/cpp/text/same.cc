#include <optional>
#include <type_traits>
#include <variant>

#include "text/sentences.h"
#include "text/text.h"

namespace kueue {
namespace {

bool Same(const Refused& a, const Refused& b) { return a == b; }

bool Same(const Literal& a, const Literal& b) { return a.text == b.text; }

bool Same(const Said& a, const Said& b) { return a.sentence == b.sentence && a.names == b.names; }

bool Same(const DeactivatedDueTo& a, const DeactivatedDueTo& b) { return SameMessage(a.why, b.why); }

bool Same(const ReservedIn& a, const ReservedIn& b) { return a.cluster_queue == b.cluster_queue; }

bool Same(const Previously& a, const Previously& b) { return SameMessage(a.before, b.before); }

bool Same(const PreemptedBy& a, const PreemptedBy& b) {
  return a.preemptor_uid == b.preemptor_uid && a.preemptor_job_uid == b.preemptor_job_uid &&
         a.reason == b.reason && a.preemptor_path == b.preemptor_path && a.preemptee_path == b.preemptee_path;
}

// Compares a text from an outside source with a fixed sentence. Returns nullopt for other kinds of messages.
std::optional<bool> SameAsQuoted(const MessageBody& a, const MessageBody& b) {
  const auto* quoted = std::get_if<Literal>(&a);
  const auto* said = std::get_if<Said>(quoted != nullptr ? &b : &a);
  if (quoted == nullptr) quoted = std::get_if<Literal>(&b);
  if (quoted == nullptr || said == nullptr) return std::nullopt;
  return quoted->text == Render(*said);
}

}  // namespace

bool SameMessage(const Message& a, const Message& b) {
  if (a == b) return true;
  if (!a || !b) return false;
  if (const std::optional<bool> same = SameAsQuoted(*a, *b)) return *same;
  if (a->index() != b->index()) return false;
  const auto same = [&b](const auto& left) { return Same(left, std::get<std::decay_t<decltype(left)>>(*b)); };
  return std::visit(same, static_cast<const MessageKinds&>(*a));
}

}  // namespace kueue
