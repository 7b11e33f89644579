// Selectors of devices in the Common Expression Language (CEL). The core does not read CEL: an evaluator from
// outside compiles and evaluates, once for each pair of expression and device. Mirrors
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
  // Why the expression does not compile; empty: it does.
  virtual std::string Compile(const std::string& expression) = 0;
  virtual SelectorAnswer Evaluate(const std::string& expression, const std::string& subject) = 0;
};
// Used by all engines from now on. It must be safe to call from any thread.
void SetSelectorLanguage(SelectorLanguage* language);

// Why the expression does not compile; empty: it does.
std::string CompileError(const std::string& expression);
// Whether all expressions match the device, which are asked in order up to the first that does not.
SelectorAnswer Match(const std::vector<std::string>& expressions, const Device& device);

}  // namespace kueue

#endif  // KUEUE_DEVICES_SELECTORS_H_
