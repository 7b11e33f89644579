// The invariants of a PendingQueue, recomputed from scratch.
#ifndef KUEUE_QUEUE_CHECK_H_
#define KUEUE_QUEUE_CHECK_H_

#include <string>
#include <vector>

#include "queue/pending.h"

namespace kueue {

// What a queue holds, as found by looking at every bucket.
struct PendingContents {
  std::vector<WorkloadId> active, inadmissible, delayed;
  std::vector<std::string> problems;  // one text for each invariant that does not hold
};

// Looks at everything in the queue: runs in order, classes and times as the workloads have them, the heap of
// the buckets' heads, the counts, and the lists of what is inadmissible.
PendingContents Inspect(const PendingQueue& queue, const WorkloadTable& workloads);

}  // namespace kueue

#endif  // KUEUE_QUEUE_CHECK_H_
