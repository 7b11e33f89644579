#include "model/workload_table.h"

#include <algorithm>
#include <limits>

namespace kueue {
namespace {

constexpr size_t kSlack = 64;  // Number of removed workloads that may always remain in `roll_`.

}  // namespace

WorkloadId WorkloadTable::TakePlace() {
  if (free_.empty()) {
    places_.emplace_back();
    return static_cast<WorkloadId>(places_.size()) - 1;
  }
  const WorkloadId id = free_.back();
  free_.pop_back();
  return id;
}

void WorkloadTable::FreePlace(WorkloadId id) {
  Workload& workload = places_[static_cast<size_t>(id)];
  workload = Workload();
  workload.deleted = true;
  if (static_cast<size_t>(id) + 1 == places_.size()) {
    places_.pop_back();
  } else {
    free_.push_back(id);
  }
}

WorkloadId WorkloadTable::Add() {
  const WorkloadId id = TakePlace();
  Workload& workload = places_[static_cast<size_t>(id)];
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
  const auto gone = [this](const Listed& listed) {
    return static_cast<size_t>(listed.id) >= places_.size() || !IsAt(listed);
  };
  roll_.erase(std::remove_if(roll_.begin(), roll_.end(), gone), roll_.end());
}

WorkloadId WorkloadTable::AddGuest() {
  const WorkloadId id = TakePlace();
  Workload& workload = places_[static_cast<size_t>(id)];
  workload.deleted = false;
  workload.serial = std::numeric_limits<Serial>::max();
  return id;
}

void WorkloadTable::RemoveGuest(WorkloadId id) { FreePlace(id); }

WorkloadId WorkloadTable::Find(Serial serial) const {
  const auto at =
      std::lower_bound(roll_.begin(), roll_.end(), serial,
                       [](const Listed& listed, Serial number) { return listed.serial < number; });
  if (at == roll_.end() || at->serial != serial) return kNoId;
  return static_cast<size_t>(at->id) < places_.size() && IsAt(*at) ? at->id : kNoId;
}

std::vector<WorkloadId> WorkloadTable::InOrder() const {
  std::vector<WorkloadId> ids;
  ids.reserve(living_);
  for (const Listed& listed : roll_) {
    if (static_cast<size_t>(listed.id) < places_.size() && IsAt(listed)) ids.push_back(listed.id);
  }
  return ids;
}

}  // namespace kueue
