#include "model/message.h"

namespace kueue {

bool operator==(const Refusal& a, const Refusal& b) {
  return a.kind == b.kind && a.flavor == b.flavor && a.resource == b.resource && a.first == b.first &&
         a.second == b.second && a.third == b.third && a.text == b.text &&
         (a.placement == b.placement || (a.placement && b.placement && *a.placement == *b.placement));
}

bool operator==(const PodSetRefusals& a, const PodSetRefusals& b) {
  return a.pod_set == b.pod_set && a.refusals == b.refusals;
}

bool operator==(const Refused& a, const Refused& b) {
  return a.cls == b.cls && a.pending_preemptions == b.pending_preemptions && a.pod_sets == b.pod_sets;
}

const Message& Say(Sentence sentence) {
  static const std::vector<Message>* const all = [] {
    auto* const made = new std::vector<Message>;
    for (size_t i = 0; i < kSentences; ++i) made->push_back(Say(static_cast<Sentence>(i), {}));
    return made;
  }();
  return (*all)[static_cast<size_t>(sentence)];
}

}  // namespace kueue
