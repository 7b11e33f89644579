// The workloads that there are. A place in the table is used again once its workload is gone; the serial
// number of a workload, given in the order of submission, is never another's.
#ifndef KUEUE_MODEL_WORKLOAD_TABLE_H_
#define KUEUE_MODEL_WORKLOAD_TABLE_H_

#include <vector>

#include "model/ids.h"
#include "model/workload.h"

namespace kueue {

class WorkloadTable {
 public:
  // Places, those of nobody included: every WorkloadId is below it.
  size_t size() const { return places_.size(); }
  Workload& operator[](size_t place) { return places_[place]; }
  const Workload& operator[](size_t place) const { return places_[place]; }

  // A place for a new workload, which gets the next serial number. Ends the validity of references.
  WorkloadId Add();
  // Forgets a workload; nothing may refer to it any more.
  void Remove(WorkloadId id);
  // A place for one that is only asked about and has no serial number; it goes by RemoveGuest() before
  // anything else changes, and leaves nothing behind.
  WorkloadId AddGuest();
  void RemoveGuest(WorkloadId id);

  // Where the workload with this number is; kNoId where it is gone or never was.
  WorkloadId Find(Serial serial) const;
  // All that were not removed, in the order of submission; those marked as deleted are among them.
  std::vector<WorkloadId> InOrder() const;
  size_t living() const { return living_; }
  // Whether the place is nobody's.
  bool IsFree(WorkloadId id) const { return places_[static_cast<size_t>(id)].spec == nullptr; }
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
    const Workload& workload = places_[static_cast<size_t>(listed.id)];
    return workload.serial == listed.serial && workload.spec != nullptr;
  }
  WorkloadId TakePlace();
  void FreePlace(WorkloadId id);

  std::vector<Workload> places_;
  std::vector<WorkloadId> free_;  // the last one is taken first
  std::vector<Listed> roll_;      // ascending; some may be gone
  Serial next_ = 0;
  size_t living_ = 0;
};

}  // namespace kueue

#endif  // KUEUE_MODEL_WORKLOAD_TABLE_H_
