#include "model/workload_table.h"

#include <limits>
#include <new>
#include <utility>

namespace kueue {
namespace {

constexpr size_t kSlack = 64;  // Number of removed workloads that may always remain in `roll_`.

}  // namespace

WorkloadId WorkloadTable::TakePlace() {
  if (free_.empty()) {
    const WorkloadId id = places_.NextId();
    places_.emplace_back();
    return id;
  }
  const WorkloadId id = free_.back();
  free_.pop_back();
  return id;
}

void WorkloadTable::FreePlace(WorkloadId id) {
  Workload& workload = places_[id];
  workload.~Workload();
  new (&workload) Workload();
  workload.deleted = true;
  if (id.index() + 1 == places_.size()) {
    places_.pop_back();
  } else {
    free_.push_back(id);
  }
}

WorkloadId WorkloadTable::Add() {
  const WorkloadId id = TakePlace();
  Workload& workload = places_[id];
  workload.deleted = false;
  workload.serial = next_++;
  roll_.push_back({workload.serial, id});
  ++living_;
  return id;
}

void WorkloadTable::Remove(WorkloadId id) {
  FreePlace(id);
  --living_;
  if (roll_.size() <= 2 * living_ + kSlack) return;
  size_t kept = 0;
  for (size_t i = 0; i < roll_.size(); ++i) {
    const Listed listed = std::as_const(roll_)[i];
    if (places_.Contains(listed.id) && IsAt(listed)) roll_[kept++] = listed;
  }
  roll_.resize(kept);
}

WorkloadId WorkloadTable::AddGuest() {
  const WorkloadId id = TakePlace();
  Workload& workload = places_[id];
  workload.deleted = false;
  workload.serial = std::numeric_limits<Serial>::max();
  return id;
}

void WorkloadTable::RemoveGuest(WorkloadId id) { FreePlace(id); }

WorkloadId WorkloadTable::Find(Serial serial) const {
  size_t low = 0, high = roll_.size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (roll_[middle].serial < serial) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == roll_.size() || roll_[low].serial != serial) return kNoId;
  const Listed& listed = roll_[low];
  return places_.Contains(listed.id) && IsAt(listed) ? listed.id : kNoId;
}

std::vector<WorkloadId> WorkloadTable::InOrder() const {
  std::vector<WorkloadId> ids;
  ids.reserve(living_);
  const bool all_live = roll_.size() == living_;  // Then no slot need be read.
  for (const Listed& listed : roll_) {
    if (all_live || (places_.Contains(listed.id) && IsAt(listed))) ids.push_back(listed.id);
  }
  return ids;
}

}  // namespace kueue
