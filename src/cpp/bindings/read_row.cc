// Rows of a table of jobs (kueuepy.jobs.from_row) whose values are plain and valid, read without intermediate
// objects. All other rows are read, and refused, in Python.
#include <algorithm>
#include <cmath>
#include <mutex>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "bindings/read.h"
#include "objects/pod_template.h"

namespace kueue::python {
namespace {

constexpr size_t kMaxLabel = 63, kMaxSubdomain = 253;
constexpr double kMaxWhole = 1e15;  // Every whole number below is exact.

struct Row {
  absl::string_view name, ns = "default", queue;
  int64_t pods = 1, priority = 0;
  std::optional<Time> submit;
  Requested requests;
};

// Returns an ASCII text of the class str; empty for all other values.
absl::string_view PlainText(const py::handle& value) {
  if (!PyUnicode_CheckExact(value.ptr()) || !PyUnicode_IS_ASCII(value.ptr())) return {};
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  return text == nullptr ? absl::string_view() : absl::string_view(text, static_cast<size_t>(size));
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWord(char c) { return IsDigit(c) || (c >= 'a' && c <= 'z'); }

// Returns whether the text consists of DNS labels; if `dots` is false, of one.
bool IsOfLabels(absl::string_view text, size_t most, bool dots) {
  if (text.empty() || text.size() > most) return false;
  char before = '.';
  for (const char c : text) {
    const bool ends = c == '.', starts = before == '.';
    if (!IsWord(c) && c != '-' && !(dots && ends)) return false;
    if ((starts || ends) && !(starts ? IsWord(c) : IsWord(before))) return false;
    before = c;
  }
  return IsWord(before);
}
bool IsSubdomain(absl::string_view text) { return IsOfLabels(text, kMaxSubdomain, /*dots=*/true); }
bool IsLabel(absl::string_view text) { return IsOfLabels(text, kMaxLabel, /*dots=*/false); }

// Returns a number of the class int in this range.
std::optional<int64_t> PlainInt(const py::handle& value, int64_t least, int64_t most) {
  if (!PyLong_CheckExact(value.ptr())) return std::nullopt;
  int overflow = 0;
  const int64_t number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow != 0 || number < least || number > most) return std::nullopt;
  return number;
}

// Returns whether the text is a number, as Kubernetes usually writes quantities, with one of the suffixes.
bool IsPlainQuantity(absl::string_view text, std::initializer_list<absl::string_view> suffixes) {
  constexpr size_t most_digits = 15;
  const auto end = std::find_if_not(text.begin(), text.end(), IsDigit);
  const absl::string_view suffix = text.substr(static_cast<size_t>(end - text.begin()));
  const size_t digits = text.size() - suffix.size();
  return digits > 0 && digits <= most_digits &&
         std::find(suffixes.begin(), suffixes.end(), suffix) != suffixes.end();
}

// Returns the text of an amount; empty if it is not plain.
std::string PlainAmount(const py::handle& value, bool is_device) {
  if (const std::optional<int64_t> number = PlainInt(value, 0, INT64_MAX)) return absl::StrCat(*number);
  if (PyFloat_CheckExact(value.ptr())) {
    const double number = PyFloat_AS_DOUBLE(value.ptr());
    if (!(number >= 0 && number < kMaxWhole)) return {};
    if (number == std::floor(number)) return absl::StrCat(static_cast<int64_t>(number));
    std::string text = is_device ? std::string() : std::string(py::str(value));
    const bool is_plain =
        std::all_of(text.begin(), text.end(), [](char c) { return IsDigit(c) || c == '.'; });
    return is_plain ? text : std::string();
  }
  const absl::string_view text = PlainText(value);
  const bool is_plain =
      !is_device && IsPlainQuantity(text, {"", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti"});
  return is_plain ? std::string(text) : std::string();
}

bool ReadRequest(Row& row, absl::string_view resource, const py::handle& value) {
  for (const auto& [name, text] : row.requests) {
    if (name == resource) return false;
  }
  row.requests.emplace_back(resource, PlainAmount(value, absl::StrContains(resource, '/')));
  return !row.requests.back().second.empty();
}

bool ReadNumber(int64_t& field, const py::handle& value, int64_t least) {
  const std::optional<int64_t> number = PlainInt(value, least, INT32_MAX);
  field = number.value_or(0);
  return number.has_value();
}

bool ReadSubmit(Row& row, const py::handle& value) {
  const std::optional<int64_t> seconds = PlainInt(value, 0, INT64_MAX / kSecond);
  if (seconds) row.submit = *seconds * kSecond;
  return seconds.has_value();
}

// Returns whether the column and its value are plain.
bool ReadColumn(Row& row, absl::string_view column, const py::handle& value) {
  if (column == "name") return IsSubdomain(row.name = PlainText(value));
  if (column == "queue") return IsSubdomain(row.queue = PlainText(value));
  if (column == "namespace") return IsLabel(row.ns = PlainText(value));
  if (column == "cpu") return ReadRequest(row, "cpu", value);
  if (column == "memory" || column == "mem") return ReadRequest(row, "memory", value);
  if (column == "gpu") return ReadRequest(row, "nvidia.com/gpu", value);
  if (column == "pods") return ReadNumber(row.pods, value, 1);
  if (column == "priority") return ReadNumber(row.priority, value, INT32_MIN);
  if (column == "submit") return ReadSubmit(row, value);
  return column == "duration" && PlainInt(value, 0, INT64_MAX / kSecond).has_value();
}

// Returns the template of one pod. Rows with the same requests share it, so that their class is found by its
// address (lifecycle/classify.cc).
std::shared_ptr<const PodTemplate> TemplateRequesting(const Requested& requests) {
  constexpr size_t most = 1024;
  static std::mutex* const mutex = new std::mutex;
  static auto* const known = new absl::flat_hash_map<std::string, std::shared_ptr<const PodTemplate>>;
  std::string key;
  for (const auto& [resource, text] : requests) absl::StrAppend(&key, resource, "=", text, ";");
  {
    const std::lock_guard<std::mutex> lock(*mutex);
    if (const auto found = known->find(key); found != known->end()) return found->second;
  }
  auto made = std::make_shared<const PodTemplate>(PodRequesting(requests));
  const std::lock_guard<std::mutex> lock(*mutex);
  if (known->size() >= most) known->clear();
  return known->try_emplace(std::move(key), std::move(made)).first->second;
}

}  // namespace

std::optional<WorkloadObject> ReadPlainRow(const py::handle& object) {
  if (!PyDict_CheckExact(object.ptr())) return std::nullopt;
  Row row;
  PyObject *column = nullptr, *value = nullptr;
  for (Py_ssize_t place = 0; PyDict_Next(object.ptr(), &place, &column, &value) != 0;) {
    if (!ReadColumn(row, PlainText(column), value)) return std::nullopt;
  }
  if (row.name.empty() || row.queue.empty()) return std::nullopt;
  WorkloadSpec spec;
  spec.ns = std::string(row.ns);
  spec.queue_name = std::string(row.queue);
  spec.priority = row.priority;
  PodSetSpec& pod_set = spec.pod_sets.emplace_back();
  pod_set.count = row.pods;
  pod_set.pod_template = TemplateRequesting(row.requests);
  WorkloadObject read;
  read.name = std::string(row.name);
  read.uid = spec.ns + "." + read.name;
  read.created = row.submit;
  read.spec = std::make_shared<const WorkloadSpec>(std::move(spec));
  return read;
}

}  // namespace kueue::python
