// Table of all workloads. An index (WorkloadId) is reused after its workload is removed. A serial number is
// assigned in the order of submission and is never reused.
#ifndef KUEUE_MODEL_WORKLOAD_TABLE_H_
#define KUEUE_MODEL_WORKLOAD_TABLE_H_

#include <vector>

#include "absl/base/attributes.h"
#include "model/ids.h"
#include "model/paged.h"
#include "model/workload.h"

namespace kueue {

class WorkloadTable {
 public:
  // Number of slots, including free slots. Every WorkloadId is less than this number.
  size_t size() const { return places_.size(); }
  ABSL_ATTRIBUTE_ALWAYS_INLINE Workload& operator[](WorkloadId id) { return places_[id]; }
  const Workload& operator[](WorkloadId id) const { return places_[id]; }
  bool Contains(WorkloadId id) const { return places_.Contains(id); }
  // Returns the ids of all slots, including free slots.
  IdRange<WorkloadId> Ids() const { return places_.Ids(); }

  // Adds a workload with the next serial number and returns its id. Invalidates references to workloads.
  WorkloadId Add();
  // Skips the next serial number.
  void SkipSerial() { ++next_; }
  // Removes a workload. No references to the id of the removed workload may remain.
  void Remove(WorkloadId id);
  // Adds a temporary workload without a serial number, used to answer hypothetical questions. Before any
  // other change, remove the temporary workload with RemoveGuest(), which restores the table. Invalidates
  // references to workloads.
  WorkloadId AddGuest();
  void RemoveGuest(WorkloadId id);

  // Returns the id of the workload with this serial number, or kNoId if it was removed or never existed.
  WorkloadId Find(Serial serial) const;
  // Returns all workloads that were not removed, in the order of submission. The result includes workloads
  // marked as deleted.
  std::vector<WorkloadId> InOrder() const;
  size_t living() const { return living_; }
  bool MayShare() const { return places_.MayShare(); }
  // Returns whether the slot is free.
  bool IsFree(WorkloadId id) const { return places_[id].spec == nullptr; }
  void Reserve(size_t more) {
    places_.reserve(places_.size() + more);
    roll_.reserve(roll_.size() + more);
  }

 private:
  friend class FieldLists;  // persist/field_lists.h
  struct Listed {
    Serial serial;
    WorkloadId id;
  };
  bool IsAt(const Listed& listed) const {
    const Workload& workload = places_[listed.id];
    return workload.serial == listed.serial && workload.spec != nullptr;
  }
  WorkloadId TakePlace();
  void FreePlace(WorkloadId id);

  IdPaged<WorkloadId, Workload, 32> places_;
  // Free slots, used as a stack: the slot that was freed last is reused first.
  std::vector<WorkloadId> free_;
  Paged<Listed, 256, /*kDirect=*/false>
      roll_;  // Workloads sorted by serial number. Entries of removed workloads may remain.
  Serial next_ = 0;
  size_t living_ = 0;
};

}  // namespace kueue

#endif  // KUEUE_MODEL_WORKLOAD_TABLE_H_
