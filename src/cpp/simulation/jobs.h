// The jobs of a run: what is given of each, and what becomes of it.
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

// In the column `created`: the creationTimestamp is the submission.
constexpr Time kAtSubmission = INT64_MIN;

// Columns in the order of submission, kept by their maker for as long as a run reads them; or the columns'
// own, once jobs were added. An optional one may be empty.
struct JobColumns {
  JobColumns() = default;
  // Copies what the columns own; of what others keep, the copy reads the same.
  JobColumns(const JobColumns& other);
  JobColumns& operator=(const JobColumns&) = delete;

  // Adds jobs, whose shapes are numbered from the first of these columns on. What others kept is copied,
  // once.
  void Append(JobColumns more);

  Times submit;
  Times runtime;                      // of all pods, without evictions; -1: it never ends
  absl::Span<const int32_t> shape;    // what it asks for: a place in `shapes`
  absl::Span<const int32_t> row;      // its number for names, UIDs and tables; empty: its place
  Times created;                      // optional: its creationTimestamp; else its submission
  Times every, cost, restore, grace;  // optional: its run model; -1: that of the run
  absl::Span<const uint8_t> elastic;  // optional: whether it runs longer with fewer pods
  absl::Span<const uint8_t> known;    // optional: whether it is in the engine already
  absl::Span<const int32_t> cluster;  // in a fleet: the cluster that it is submitted to

  // A workload without name, UID and creation time.
  std::vector<std::shared_ptr<const WorkloadSpec>> shapes;
  std::vector<std::string> names;  // by place; empty: a letter and the number
  std::vector<std::string> uids;   // by place; empty, as a whole or one: the number
  std::string prefix = "j";
  int digits = 7, uid_digits = 12;

  int32_t size() const { return static_cast<int32_t>(submit.size()); }
  int32_t Row(int32_t job) const { return row.empty() ? job : row[static_cast<size_t>(job)]; }
  std::string NameOf(int32_t job) const;
  std::string UidOf(int32_t job) const;

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

// The columns of a run. Copies of the run share them until jobs are added to one.
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
  std::shared_ptr<JobColumns> own_;  // the same, once jobs were added
};

enum class JobState : uint8_t { kToCome, kWaiting, kRunning, kFinished, kDeactivated };

struct Job {
  WorkloadId workload = kNoId;
  NodeId queue = kNoId;  // where it waits, or whose quota it has
  int32_t term = 0;      // goes up whenever it gets or loses quota
  int32_t runs = 0, evictions = 0;
  FlavorId flavor = kNoId;               // of the first resource, when it last got quota
  int32_t assigned = -1;                 // all of them: a place in Recorder's list
  int32_t preemptor = -1;                // who took its quota last
  int32_t outcome_reason = 0, rule = 0;  // of its last eviction
  JobState state = JobState::kToCome;
  bool borrowed = false;  // its last admission borrowed
  bool promised = false;  // its own queue had free nominal quota for it when it came
  bool losing = false;    // evicted, and still holding quota
  Time done = 0;          // progress that is kept
  Time wanted = 0;        // how long it would run with the pods that it was given
  Time startup = 0;       // of the run under way: restore, and until its pods are ready
  Time reserved = -1;     // since when it has quota; -1: it has none
  Time started = -1;      // since when it is admitted; -1: it is not
  Time first_start = -1, end = -1;
  Time held = 0, lost = 0, overhead = 0;
  Broken last;  // what became of the run under way, once it was evicted
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_JOBS_H_
