// The number of values of an enumeration, counted by the compiler.
#ifndef KUEUE_MODEL_ENUMERATORS_H_
#define KUEUE_MODEL_ENUMERATORS_H_

#include <cstddef>

namespace kueue {

// Whether a value of an enumeration has a name. A compiler spells a value with a name as
// `kueue::Kind::kName`, and one without a name as a cast: `(kueue::Kind)7`.
template <auto value>
constexpr bool IsEnumerator() {
  constexpr const char* kSpelled = __PRETTY_FUNCTION__;
  size_t start = 0;
  for (size_t i = 0; kSpelled[i] != '\0'; ++i) {
    if (kSpelled[i] == '=' && kSpelled[i + 1] == ' ') start = i + 2;
  }
  return kSpelled[start] != '(';
}

// How many values an enumeration has whose values count up from 0.
template <typename Enumeration, size_t counted = 0>
constexpr size_t CountOf() {
  if constexpr (IsEnumerator<static_cast<Enumeration>(counted)>()) {
    return CountOf<Enumeration, counted + 1>();
  } else {
    return counted;
  }
}

}  // namespace kueue

#endif  // KUEUE_MODEL_ENUMERATORS_H_
