// Mirrors k8s.io/apimachinery/pkg/util/validation/field/errors.go (kueue ff69552e79).
#include "devices/faults.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "workload/totals.h"

namespace kueue {

std::string FieldError::ToText() const {
  switch (kind) {
    case Kind::kInvalid:
      return absl::StrCat(path, ": Invalid value: ", value, ": ", detail);
    case Kind::kNotFound:
      return absl::StrCat(path, ": Not found: ", value);
    case Kind::kInternal:
      return absl::StrCat(path, ": Internal error: ", detail);
  }
  return "";
}

std::string GoQuote(absl::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        quoted += "\\\"";
        break;
      case '\\':
        quoted += "\\\\";
        break;
      case '\n':
        quoted += "\\n";
        break;
      case '\t':
        quoted += "\\t";
        break;
      case '\r':
        quoted += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          absl::StrAppendFormat(&quoted, "\\x%02x", c);
        } else {
          quoted += c;
        }
    }
  }
  return quoted + "\"";
}

FieldError Invalid(std::string path, std::string detail, std::string value) {
  return {FieldError::Kind::kInvalid, std::move(path), std::move(value), std::move(detail)};
}

FieldError NotFound(std::string path, absl::string_view value) {
  return {FieldError::Kind::kNotFound, std::move(path), GoQuote(value), ""};
}

FieldError Internal(std::string path, std::string detail) {
  return {FieldError::Kind::kInternal, std::move(path), "", std::move(detail)};
}

std::string Aggregated(const FieldErrors& errors) {
  std::vector<std::string> texts;
  texts.reserve(errors.size());
  for (const FieldError& error : errors) texts.push_back(error.ToText());
  return Aggregate(texts);
}

}  // namespace kueue
