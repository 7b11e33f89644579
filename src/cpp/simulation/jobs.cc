#include "simulation/jobs.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <utility>

namespace kueue {
namespace {

// The numbers below 100, with two digits each.
constexpr std::array<char, 200> kPairs = [] {
  std::array<char, 200> pairs{};
  for (size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

// Returns the prefix and the number, which has at least `digits` digits.
std::string Numbered(absl::string_view prefix, int32_t number, int digits) {
  constexpr size_t kRoom = 64;
  std::array<char, kRoom> buffer;
  char* const end = buffer.data() + kRoom;
  char* begin = end;
  auto rest = static_cast<uint32_t>(number);
  for (; rest >= 100; rest /= 100) {
    begin -= 2;
    std::memcpy(begin, &kPairs[2 * (rest % 100)], 2);
  }
  *--begin = kPairs[2 * rest + 1];
  if (rest >= 10) *--begin = kPairs[2 * rest];
  if (prefix.size() + static_cast<size_t>(std::max(digits, 10)) > kRoom) {
    const std::string written(begin, end);
    const size_t width = std::max(written.size(), static_cast<size_t>(std::max(digits, 0)));
    return std::string(prefix) + std::string(width - written.size(), '0') + written;
  }
  while (end - begin < digits) *--begin = '0';
  for (size_t i = prefix.size(); i-- > 0;) *--begin = prefix[i];
  return std::string(begin, end);
}

// A missing value. A runtime is then unlimited; a run model is then SimulationOptions::model.
constexpr int64_t kAbsent = -1;

template <typename T>
void AppendColumn(std::vector<T>& own, absl::Span<const T> more, size_t before, size_t added, T absent) {
  if (own.empty() && more.empty()) return;  // The column is missing in both the present and the added jobs.
  own.resize(before, absent);
  if (more.empty()) {
    own.resize(before + added, absent);
  } else {
    own.insert(own.end(), more.begin(), more.end());
  }
}

}  // namespace

template <typename Use>
void JobColumns::ForEachColumn(Use use) {
  use(submit, owned_.submit);
  use(runtime, owned_.runtime);
  use(shape, owned_.shape);
  use(row, owned_.row);
  use(created, owned_.created);
  use(every, owned_.every);
  use(cost, owned_.cost);
  use(restore, owned_.restore);
  use(grace, owned_.grace);
  use(elastic, owned_.elastic);
  use(known, owned_.known);
}

void JobColumns::ReadOwned() {
  ForEachColumn([](auto& column, const auto& own) { column = absl::MakeConstSpan(own); });
}

void JobColumns::Own() {
  if (owns_) return;
  ForEachColumn([](const auto& column, auto& own) { own.assign(column.begin(), column.end()); });
  owns_ = true;
}

JobColumns::JobColumns(const JobColumns& other)
    : submit(other.submit),
      runtime(other.runtime),
      shape(other.shape),
      row(other.row),
      created(other.created),
      every(other.every),
      cost(other.cost),
      restore(other.restore),
      grace(other.grace),
      elastic(other.elastic),
      known(other.known),
      shapes(other.shapes),
      names(other.names),
      uids(other.uids),
      prefix(other.prefix),
      digits(other.digits),
      uid_digits(other.uid_digits),
      owns_(other.owns_),
      owned_(other.owned_) {
  if (owns_) ReadOwned();
}

std::vector<std::string> JobColumns::NamesOfAll() const {
  std::vector<std::string> all;
  for (int32_t job = 0; job < size(); ++job) all.push_back(NameOf(job));
  return all;
}

void JobColumns::Append(JobColumns more) {
  const auto before = static_cast<size_t>(size()), added = static_cast<size_t>(more.size());
  if (!names.empty() || !more.names.empty()) {
    if (names.size() < before) names = NamesOfAll();
    if (more.names.size() < added) more.names = more.NamesOfAll();
  }
  if (!uids.empty() || !more.uids.empty()) {
    uids.resize(before);
    more.uids.resize(added);
  }
  Own();
  for (auto job = static_cast<int32_t>(owned_.row.size()); job < size(); ++job) owned_.row.push_back(job);
  const auto append = [&](auto& own, const auto& column, auto absent) {
    AppendColumn(own, column, before, added, absent);
  };
  append(owned_.submit, more.submit, int64_t{0});
  append(owned_.runtime, more.runtime, kAbsent);
  append(owned_.shape, more.shape, int32_t{0});
  append(owned_.row, more.row, int32_t{0});
  append(owned_.created, more.created, kAtSubmission);
  append(owned_.every, more.every, kAbsent);
  append(owned_.cost, more.cost, kAbsent);
  append(owned_.restore, more.restore, kAbsent);
  append(owned_.grace, more.grace, kAbsent);
  append(owned_.elastic, more.elastic, uint8_t{0});
  append(owned_.known, more.known, uint8_t{0});
  ReadOwned();
  shapes.insert(shapes.end(), more.shapes.begin(), more.shapes.end());
  std::move(more.names.begin(), more.names.end(), std::back_inserter(names));
  std::move(more.uids.begin(), more.uids.end(), std::back_inserter(uids));
}

RunColumns::RunColumns(const RunColumns& other) : read_(other.read_) {
  if (other.own_) read_ = own_ = std::make_shared<JobColumns>(*other.own_);
}

void RunColumns::Append(JobColumns more) {
  if (!own_) read_ = own_ = std::make_shared<JobColumns>(*read_);
  own_->Append(std::move(more));
}

std::string JobColumns::NameOf(int32_t job) const {
  return names.empty() ? Numbered(prefix, Row(job), digits) : names[static_cast<size_t>(job)];
}

bool JobColumns::HasReplacements() const {
  return std::any_of(shapes.begin(), shapes.end(), [](const auto& one) { return !one->replaces.empty(); });
}

std::string JobColumns::UidOf(int32_t job) const {
  if (!uids.empty() && !uids[static_cast<size_t>(job)].empty()) return uids[static_cast<size_t>(job)];
  return Numbered("", Row(job), uid_digits);
}

Time JobColumns::CreationOf(int32_t job, Time start) const {
  const Time at = created.empty() ? kAtSubmission : created[static_cast<size_t>(job)];
  return at == kAtSubmission ? std::max(submit[static_cast<size_t>(job)], start) : at;
}

}  // namespace kueue
