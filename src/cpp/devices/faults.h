// Errors in the devices of a workload, worded like field errors of Kubernetes. Mirrors
// k8s.io/apimachinery/pkg/util/validation/field/errors.go (kueue ff69552e79).
#ifndef KUEUE_DEVICES_FAULTS_H_
#define KUEUE_DEVICES_FAULTS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kueue {

struct FieldError {
  enum class Kind : uint8_t { kInvalid, kNotFound, kInternal };
  Kind kind;
  std::string path;
  std::string value;  // The invalid value as printed in the message; unused for errors of kind kInternal.
  std::string detail;

  std::string ToText() const;
};
using FieldErrors = std::vector<FieldError>;

// Quotes a string as Go's %q does.
std::string GoQuote(absl::string_view text);

// `value` is printed unchanged; the default prints null.
FieldError Invalid(std::string path, std::string detail, std::string value = "null");
FieldError NotFound(std::string path, absl::string_view value);
FieldError Internal(std::string path, std::string detail);

// Joins errors into one message: a single error is unchanged; several errors are listed in brackets without
// duplicates.
std::string Aggregated(const FieldErrors& errors);

}  // namespace kueue

#endif  // KUEUE_DEVICES_FAULTS_H_
