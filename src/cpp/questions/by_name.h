// Containers of names in records for callers.
#ifndef KUEUE_QUESTIONS_BY_NAME_H_
#define KUEUE_QUESTIONS_BY_NAME_H_

#include <string>
#include <utility>
#include <vector>

namespace kueue {

// Values by name, in the order in which they were added.
template <typename T>
struct ByName {
  std::vector<std::pair<std::string, T>> items;

  void Add(std::string name, T value) { items.emplace_back(std::move(name), std::move(value)); }
};

// A fixed sequence of names, such as the values of a topology domain.
struct NameTuple {
  std::vector<std::string> names;
};

}  // namespace kueue

#endif  // KUEUE_QUESTIONS_BY_NAME_H_
