// Renders facts as the messages that Kueue writes, word for word.
#ifndef KUEUE_TEXT_TEXT_H_
#define KUEUE_TEXT_TEXT_H_

#include <string>
#include <vector>

#include "model/message.h"
#include "state/state.h"

namespace kueue {

// Returns the text of a condition's message.
std::string Render(const State& state, const Message& message);
// Same, for a workload with these pod sets whose class need not exist any more.
std::string Render(const State& state, const Message& message, const std::vector<PodSetSpec>& pod_sets);
// Returns whether two messages have the same text.
bool SameMessage(const State& state, const Message& a, const Message& b);
// Returns the text of one refusal within the message of a condition.
std::string Render(const State& state, const Refusal& refusal);
// Return the reason and the message of the Active condition of a ClusterQueue; empty while the ClusterQueue
// is active.
std::string ReasonName(const Inactivity& inactivity);
std::string Render(const Inactivity& inactivity);
// Formats an amount of a resource as Kueue does. Unlimited is "<unlimited>".
std::string RenderAmount(const State& state, ResourceId resource, Amount amount);
// Returns "flavor/resource".
std::string FlavorResourceName(const State& state, FlavorResourceId fr);

// Returns the message that explains why a pod set could not be placed.
std::string Render(const PlacementFailure& failure);

}  // namespace kueue

#endif  // KUEUE_TEXT_TEXT_H_
