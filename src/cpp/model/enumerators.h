// Number of enumerators of an enumeration, computed at compile time.
#ifndef KUEUE_MODEL_ENUMERATORS_H_
#define KUEUE_MODEL_ENUMERATORS_H_

#include <cstddef>

namespace kueue {

// Returns whether `value` is a named enumerator. In __PRETTY_FUNCTION__, a named value is spelled
// `kueue::Kind::kName`. A value without a name is spelled as a cast: `(kueue::Kind)7`.
template <auto value>
constexpr bool IsEnumerator() {
  constexpr const char* kSpelled = __PRETTY_FUNCTION__;
  size_t start = 0;
  for (size_t i = 0; kSpelled[i] != '\0'; ++i) {
    if (kSpelled[i] == '=' && kSpelled[i + 1] == ' ') start = i + 2;
  }
  return kSpelled[start] != '(';
}

// Returns the number of enumerators. The values of the enumerators must be consecutive and start at 0.
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
