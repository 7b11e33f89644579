// An exception with a status. The caller of a reader gets it; the rules of the core return a status instead.
#ifndef KUEUE_OBJECTS_STATUS_ERROR_H_
#define KUEUE_OBJECTS_STATUS_ERROR_H_

#include <exception>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kueue {

class StatusError : public std::exception {
 public:
  explicit StatusError(absl::Status status) : status_(std::move(status)), message_(status_.message()) {}
  const char* what() const noexcept override { return message_.c_str(); }
  absl::StatusCode code() const { return status_.code(); }

 private:
  absl::Status status_;
  std::string message_;
};

inline void ThrowIfError(const absl::Status& status) {
  if (!status.ok()) throw StatusError(status);
}

// Throws an InvalidArgument error with the message "where: what" if `holds` is false.
inline void Require(bool holds, const std::string& where, absl::string_view what) {
  if (!holds) throw StatusError(absl::InvalidArgumentError(absl::StrCat(where, ": ", what)));
}

}  // namespace kueue

#endif  // KUEUE_OBJECTS_STATUS_ERROR_H_
