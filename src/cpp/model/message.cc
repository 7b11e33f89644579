#include "model/message.h"

namespace kueue {

namespace {

bool SameDetail(std::monostate, std::monostate) { return true; }
bool SameDetail(const CapacityExcess& a, const CapacityExcess& b) {
  return a.earlier == b.earlier && a.requested == b.requested && a.capacity == b.capacity;
}
bool SameDetail(const QuotaShortage& a, const QuotaShortage& b) {
  return a.missing == b.missing && a.requested == b.requested && a.available == b.available;
}
bool SameDetail(const std::string& a, const std::string& b) { return a == b; }
template <typename T>
bool SameDetail(const std::shared_ptr<const T>& a, const std::shared_ptr<const T>& b) {
  return a == b || (a && b && *a == *b);
}

// Returns whether the kind of a refusal belongs to a detail. Null pointers belong to no kind.
struct FitsKind {
  RefusalKind kind;

  bool operator()(std::monostate) const {
    switch (kind) {
      case RefusalKind::kExceedsCapacity:
      case RefusalKind::kShortOfQuota:
      case RefusalKind::kUntoleratedTaint:
      case RefusalKind::kReplacedSliceFlavor:
      case RefusalKind::kPlacement:
      case RefusalKind::kManyTopologyFlavors:
        return false;
      default:
        return true;
    }
  }
  bool operator()(const CapacityExcess&) const { return kind == RefusalKind::kExceedsCapacity; }
  bool operator()(const QuotaShortage&) const { return kind == RefusalKind::kShortOfQuota; }
  bool operator()(const std::shared_ptr<const Taint>& taint) const {
    return taint != nullptr && kind == RefusalKind::kUntoleratedTaint;
  }
  bool operator()(const std::string&) const {
    return kind == RefusalKind::kReplacedSliceFlavor || kind == RefusalKind::kManyTopologyFlavors;
  }
  bool operator()(const std::shared_ptr<const PlacementFailure>& failure) const {
    return failure != nullptr && kind == RefusalKind::kPlacement;
  }
};

}  // namespace

bool Refusal::HasItsDetail() const { return std::visit(FitsKind{kind}, detail); }

bool operator==(const Refusal& a, const Refusal& b) {
  if (a.kind != b.kind || a.flavor != b.flavor || a.resource != b.resource ||
      a.detail.index() != b.detail.index()) {
    return false;
  }
  return std::visit(
      [&b](const auto& detail) {
        return SameDetail(detail, std::get<std::decay_t<decltype(detail)>>(b.detail));
      },
      a.detail);
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
