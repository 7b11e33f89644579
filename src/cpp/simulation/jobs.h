// Jobs of a simulation: their input columns and their results.
#ifndef KUEUE_SIMULATION_JOBS_H_
#define KUEUE_SIMULATION_JOBS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "model/workload.h"
#include "simulation/run_model.h"

namespace kueue {

using Times = absl::Span<const int64_t>;

// Special value of the column `created`: the creationTimestamp equals the submission time.
constexpr Time kAtSubmission = INT64_MIN;

// Columns of jobs in the order of submission. The caller owns the arrays, which must outlive the simulation.
// Once jobs have been appended, this object owns the arrays. Optional columns may be empty. Times are
// nanoseconds.
struct JobColumns {
  JobColumns() = default;
  // Copies owned columns. Columns that are not owned are shared with the copy.
  JobColumns(const JobColumns& other);
  JobColumns& operator=(const JobColumns&) = delete;

  // Appends jobs. The shape indexes of the new jobs refer to the shapes of `more`. The first call copies
  // columns that are not owned.
  void Append(JobColumns more);

  Times submit;
  Times runtime;                    // Runtime with all pods and without evictions; -1 if unlimited.
  absl::Span<const int32_t> shape;  // Index in `shapes`.
  // Row number, used for names, UIDs and tables. If `row` is empty, the row number of a job is the index of
  // the job.
  absl::Span<const int32_t> row;
  Times created;  // Optional: creationTimestamp. The default is the submission time.
  // Optional: run model of the job; -1 means the value of SimulationOptions::model.
  Times every, cost, restore, grace;
  absl::Span<const uint8_t> elastic;  // Optional: whether the runtime is extended if fewer pods are admitted.
  absl::Span<const uint8_t> known;    // Optional: whether the engine already has the workload.
  absl::Span<const int32_t> cluster;  // In a fleet: index of the cluster to which the job is submitted.

  // Workload specs without name, UID and creation time.
  std::vector<std::shared_ptr<const WorkloadSpec>> shapes;
  // Names by index. If `names` is empty, names are generated from `prefix` and the row number.
  std::vector<std::string> names;
  std::vector<std::string> uids;  // UIDs by index. Missing UIDs are generated from the row number.
  std::string prefix = "j";
  int digits = 7, uid_digits = 12;

  int32_t size() const { return static_cast<int32_t>(submit.size()); }
  int32_t Row(int32_t job) const { return row.empty() ? job : row[static_cast<size_t>(job)]; }
  std::string NameOf(int32_t job) const;
  std::string UidOf(int32_t job) const;
  // Returns the creationTimestamp of a job in a simulation that begins at `start`.
  Time CreationOf(int32_t job, Time start) const;
  const std::shared_ptr<const WorkloadSpec>& ShapeOf(int32_t job) const {
    return shapes[static_cast<size_t>(shape[static_cast<size_t>(job)])];
  }
  // Returns whether any shape is a slice of an elastic job that replaces another slice.
  bool HasReplacements() const;

 private:
  struct Owned {
    std::vector<int64_t> submit, runtime, created, every, cost, restore, grace;
    std::vector<int32_t> shape, row;
    std::vector<uint8_t> elastic, known;
  };
  // Calls `use(column, own)` for each column.
  template <typename Use>
  void ForEachColumn(Use use);
  void Own();
  void ReadOwned();
  std::vector<std::string> NamesOfAll() const;

  bool owns_ = false;
  Owned owned_;
};

// The columns of a simulation. Copies of a simulation share the columns until jobs are added to one copy.
class RunColumns {
 public:
  explicit RunColumns(std::shared_ptr<const JobColumns> given) : read_(std::move(given)) {}
  RunColumns(const RunColumns& other);
  RunColumns& operator=(const RunColumns&) = delete;

  const JobColumns& operator*() const { return *read_; }
  const JobColumns* operator->() const { return read_.get(); }
  void Append(JobColumns more);

 private:
  std::shared_ptr<const JobColumns> read_;
  // The columns that the simulation owns; the same object as `read_` once jobs have been added.
  std::shared_ptr<JobColumns> own_;
};

enum class JobState : uint8_t { kToCome, kWaiting, kRunning, kFinished, kDeactivated };

struct Job {
  WorkloadId workload = kNoId;
  NodeId queue = kNoId;  // Queue in which the job is pending or whose quota the job uses.
  int32_t term = 0;      // Counter that is incremented whenever the job gains or loses quota.
  int32_t runs = 0, evictions = 0;
  FlavorId flavor = kNoId;  // Flavor of the first resource in the last admission.
  int32_t assigned = -1;    // Code of the last admission; see Recorder::AssignedOf().
  int32_t preemptor = -1;   // Last preemptor.
  // Reason for the last eviction. If the eviction was a preemption, `rule` is the reason for the preemption.
  Reason outcome_reason = Reason::kEmpty, rule = Reason::kEmpty;
  JobState state = JobState::kToCome;
  bool borrowed = false;  // Whether the last admission borrowed quota.
  // Whether the job's own queue had enough unused nominal quota when the job was submitted.
  bool promised = false;
  bool losing = false;  // Whether the job is evicted, but still holds quota.
  Time done = 0;        // Progress that has been kept so far.
  Time wanted = 0;      // Runtime with the admitted number of pods.
  Time startup = 0;     // Sum of the restore time and the pod startup time of the current run.
  Time reserved = -1;   // Time of the quota reservation; -1 if there is none.
  Time started = -1;    // Time of the admission; -1 if the job is not admitted.
  Time first_start = -1, end = -1;
  Time held = 0, lost = 0, overhead = 0;
  Broken last;  // Breakdown of the current run after its eviction.
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_JOBS_H_
