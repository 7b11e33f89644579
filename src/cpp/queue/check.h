// Checks the invariants of a PendingQueue by recomputing its contents from scratch.
#ifndef KUEUE_QUEUE_CHECK_H_
#define KUEUE_QUEUE_CHECK_H_

#include <string>
#include <vector>

#include "queue/pending.h"

namespace kueue {

// Contents of a queue, found by visiting every bucket.
struct PendingContents {
  std::vector<WorkloadId> active, inadmissible, delayed;
  std::vector<std::string> problems;  // One description per violated invariant.
};

// Inspects the whole queue: the order of the runs, the classes and times of their workloads, the heap of
// bucket heads, the counts, and the lists of inadmissible workloads.
PendingContents Inspect(const PendingQueue& queue, const WorkloadTable& workloads);

}  // namespace kueue

#endif  // KUEUE_QUEUE_CHECK_H_
