// Facts into the texts that Kueue writes, word for word.
#ifndef KUEUE_TEXT_TEXT_H_
#define KUEUE_TEXT_TEXT_H_

#include <string>

#include "model/message.h"
#include "state/state.h"

namespace kueue {

// The text of a condition's message.
std::string Render(const State& state, const Message& message);
// Whether two messages read the same, as far as that shows without a state.
bool SameMessage(const Message& a, const Message& b);
// One reason, as it stands in such a text.
std::string Render(const State& state, const Refusal& refusal);
// Reason and message of the condition Active of a ClusterQueue; empty while it is active.
std::string ReasonName(const Inactivity& inactivity);
std::string Render(const Inactivity& inactivity);
// An amount of a resource as Kueue writes it; Unlimited is "<unlimited>".
std::string RenderAmount(const State& state, ResourceId resource, Amount amount);
// "flavor/resource".
std::string FlavorResourceName(const State& state, FlavorResourceId fr);

// Why a pod set has no place.
std::string Render(const PlacementFailure& failure);

}  // namespace kueue

#endif  // KUEUE_TEXT_TEXT_H_
