// Cache of the last admission of each equivalence class in each queue, for classes whose resources each have
// only one flavor in the queue. Such an assignment depends only on objects; only its quota must be checked
// and, if necessary, its pods placed.
#ifndef KUEUE_STATE_KNOWN_FITS_H_
#define KUEUE_STATE_KNOWN_FITS_H_

#include <memory>

#include "absl/container/inlined_vector.h"
#include "model/workload.h"
#include "quota/quota.h"
#include "state/known.h"

namespace kueue {

struct KnownFit {
  absl::InlinedVector<FlavorResourceAmount, 2> usage;  // Charged by the admission.
  std::shared_ptr<const Admission> admission;
  // Whether each workload of the class also needs a placement in the topology of its flavor. If so, only the
  // flavors of `admission` apply to other workloads of the class.
  bool needs_placement = false;
};
using KnownFits = KnownByClass<KnownFit>;

}  // namespace kueue

#endif  // KUEUE_STATE_KNOWN_FITS_H_
