#include "model/config.h"

namespace kueue {

FeatureGates::FeatureGates() {
  for (const FeatureGate& gate : kFeatureGates) this->*gate.field = gate.is_on;
}

bool FeatureGates::Set(const std::string& name, bool value) {
  for (const FeatureGate& gate : kFeatureGates) {
    if (name != gate.name) continue;
    this->*gate.field = value;
    return true;
  }
  return false;
}

}  // namespace kueue
