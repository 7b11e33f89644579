#include "model/devices.h"

#include <algorithm>

namespace kueue {

bool operator==(const DeviceCharge& a, const DeviceCharge& b) {
  return a.amounts == b.amounts && a.replaced == b.replaced;
}

bool DeviceCharges::IsEmpty() const {
  return std::all_of(pod_sets.begin(), pod_sets.end(), [](const DeviceCharge& charge) {
    return charge.amounts.empty() && charge.replaced.empty();
  });
}

bool SameCharges(const DeviceCharges* a, const DeviceCharges* b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr) return a == nullptr ? b->IsEmpty() : a->IsEmpty();
  return a->pod_sets == b->pod_sets;
}

}  // namespace kueue
