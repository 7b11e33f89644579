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
  // Returns whether a table has an element for the id, or for the index.
  template <typename IdT, typename Table>
  static bool In(IdT id, const Table& table) {
    return IndexOf(id) < table.size();
  }
  template <typename IdT, typename Table>
  static bool InOrNone(IdT id, const Table& table) {
    return id == kNoId || In(id, table);
  }
  template <typename Ids, typename Table>
  void ExpectAll(const Ids& ids, const Table& table, const char* what) {
    for (const auto id : ids) Expect(In(id, table), what);
  }
  bool IsNode(NodeId node) const { return In(node, state_.queues); }
  bool IsWorkload(WorkloadId id) const { return In(id, state_.workloads) && !state_.workloads.IsFree(id); }
  bool IsFlavor(FlavorId id) const { return In(id, state_.flavors); }
  bool IsResource(ResourceId id) const { return In(id, state_.resource_order); }
  bool IsReason(Reason reason) const { return In(reason, state_.reasons); }
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
