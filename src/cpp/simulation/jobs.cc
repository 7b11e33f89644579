#include "simulation/jobs.h"

namespace kueue {
namespace {

std::string Padded(int32_t number, int digits) {
  std::string text = std::to_string(number);
  if (text.size() < static_cast<size_t>(digits))
    text.insert(0, static_cast<size_t>(digits) - text.size(), '0');
  return text;
}

}  // namespace

std::string JobColumns::NameOf(int32_t job) const {
  return names.empty() ? prefix + Padded(Row(job), digits) : names[static_cast<size_t>(job)];
}

std::string JobColumns::UidOf(int32_t job) const { return Padded(Row(job), uid_digits); }

}  // namespace kueue
