// Names of enumerators in the API of Kueue and in Python.
#ifndef KUEUE_MODEL_NAMES_H_
#define KUEUE_MODEL_NAMES_H_

#include <cstddef>
#include <iterator>
#include <type_traits>

#include "absl/strings/string_view.h"
#include "model/config.h"
#include "model/enumerators.h"
#include "model/queue.h"
#include "model/workload.h"

namespace kueue {

// A trait that KUEUE_NAMES specializes for each enumeration.
template <typename Enumeration>
struct Names : std::false_type {};

// Lists the names of all enumerators in the order of their declaration.
#define KUEUE_NAMES(Enumeration, ...)                                  \
  template <>                                                          \
  struct Names<Enumeration> : std::true_type {                         \
    static constexpr const char* kAll[] = {__VA_ARGS__};               \
    static_assert(std::size(kAll) == CountOf<Enumeration>(), "names"); \
  }

template <typename Enumeration>
constexpr const char* NameOf(Enumeration value) {
  return Names<Enumeration>::kAll[static_cast<size_t>(value)];
}

// Returns the enumerator with this name, or `otherwise` if there is none.
template <typename Enumeration>
Enumeration Named(absl::string_view name, Enumeration otherwise) {
  for (size_t i = 0; i < std::size(Names<Enumeration>::kAll); ++i) {
    if (name == Names<Enumeration>::kAll[i]) return static_cast<Enumeration>(i);
  }
  return otherwise;
}

KUEUE_NAMES(CheckState, "Pending", "Ready", "Retry", "Rejected");
KUEUE_NAMES(DelayedTopology, "", "Pending", "Ready");
KUEUE_NAMES(FairSharingStrategy, "LessThanOrEqualToFinalShare", "LessThanInitialShare");
KUEUE_NAMES(FungibilityPolicy, "MayStopSearch", "TryNextFlavor");
KUEUE_NAMES(FungibilityPreference, "BorrowingOverPreemption", "PreemptionOverBorrowing");
KUEUE_NAMES(PreemptionPolicy, "Never", "LowerPriority", "LowerOrNewerEqualPriority", "Any");
KUEUE_NAMES(QueueingStrategy, "BestEffortFIFO", "StrictFIFO");
KUEUE_NAMES(StopPolicy, "None", "Hold", "HoldAndDrain");

}  // namespace kueue

#endif  // KUEUE_MODEL_NAMES_H_
