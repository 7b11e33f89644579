#include <optional>

#include "text/sentences.h"
#include "text/text.h"

namespace kueue {
namespace {

// Where one is text from outside, such as a live cluster's, and the other a sentence: whether they read the
// same.
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
  if (const auto* left = std::get_if<Literal>(a.get())) return left->text == std::get<Literal>(*b).text;
  if (const auto* left = std::get_if<Refused>(a.get())) return *left == std::get<Refused>(*b);
  if (const auto* left = std::get_if<ReservedIn>(a.get())) {
    return left->cluster_queue == std::get<ReservedIn>(*b).cluster_queue;
  }
  if (const auto* left = std::get_if<Previously>(a.get())) {
    return SameMessage(left->before, std::get<Previously>(*b).before);
  }
  if (const auto* left = std::get_if<Said>(a.get())) {
    const auto& right = std::get<Said>(*b);
    return left->sentence == right.sentence && left->names == right.names;
  }
  if (const auto* left = std::get_if<DeactivatedDueTo>(a.get())) {
    return SameMessage(left->why, std::get<DeactivatedDueTo>(*b).why);
  }
  const auto &left = std::get<PreemptedBy>(*a), &right = std::get<PreemptedBy>(*b);
  return left.preemptor_uid == right.preemptor_uid && left.preemptor_job_uid == right.preemptor_job_uid &&
         left.reason == right.reason && left.preemptor_path == right.preemptor_path &&
         left.preemptee_path == right.preemptee_path;
}

}  // namespace kueue
