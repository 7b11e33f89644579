// Base of the checks of a loaded state: verifies that ids refer to existing objects, and keeps the first
// error.
#ifndef KUEUE_PERSIST_REFERENCES_H_
#define KUEUE_PERSIST_REFERENCES_H_

#include <string>

#include "state/state.h"

namespace kueue {

class ReferenceCheck {
 protected:
  explicit ReferenceCheck(const State& state) : state_(state) {}

  // Keeps `what` as the error if `holds` is false and there is no earlier error.
  void Expect(bool holds, const char* what);
  static bool In(int32_t id, size_t size) { return id >= 0 && static_cast<size_t>(id) < size; }
  static bool InOrNone(int32_t id, size_t size) { return id == kNoId || In(id, size); }
  template <typename Ids>
  void ExpectAll(const Ids& ids, size_t size, const char* what) {
    for (const int32_t id : ids) Expect(In(id, size), what);
  }
  bool IsNode(NodeId node) const { return In(node, state_.queues.size()); }
  bool IsWorkload(WorkloadId id) const {
    return In(id, state_.workloads.size()) && !state_.workloads.IsFree(id);
  }
  bool IsFlavor(FlavorId id) const { return In(id, state_.flavors.size()); }
  bool IsResource(ResourceId id) const { return In(id, state_.resource_order.size()); }
  bool IsDomain(DomainId id) const { return In(id, static_cast<size_t>(state_.topology.domains.size())); }
  size_t ReasonCount() const { return static_cast<size_t>(state_.reasons.size()); }
  void CheckMessage(const Message& message);
  void CheckRefused(const Refused& refused);

  const State& state_;
  std::string broken_;
};

// Returns the first invalid reference in the workload table, the queues and the workloads; empty if there is
// none.
std::string BrokenWorkloadReference(const State& state);

}  // namespace kueue

#endif  // KUEUE_PERSIST_REFERENCES_H_
