// Device selectors in the Common Expression Language (CEL). The core contains no CEL implementation: an
// external evaluator compiles and evaluates expressions, once for each pair of expression and device. Mirrors
// pkg/dra/claims.go:compileCELSelectors,evaluateSelectorsOnDevice (kueue ff69552e79).
#ifndef KUEUE_DEVICES_SELECTORS_H_
#define KUEUE_DEVICES_SELECTORS_H_

#include <string>
#include <vector>

#include "model/devices.h"

namespace kueue {

class SelectorLanguage {
 public:
  virtual ~SelectorLanguage() = default;
  // Returns the compile error of the expression, or an empty string if the expression compiles.
  virtual std::string Compile(const std::string& expression) = 0;
  virtual SelectorAnswer Evaluate(const std::string& expression, const std::string& subject) = 0;
};
// Sets the evaluator of all engines. The evaluator must outlive all calls and must be safe to call from any
// thread.
void SetSelectorLanguage(SelectorLanguage* language);

// Returns the compile error of the expression, or an empty string if the expression compiles.
std::string CompileError(const std::string& expression);
// Returns whether all expressions match the device. Evaluates the expressions in order, up to the first one
// that does not match.
SelectorAnswer Match(const std::vector<std::string>& expressions, const Device& device);

}  // namespace kueue

#endif  // KUEUE_DEVICES_SELECTORS_H_
