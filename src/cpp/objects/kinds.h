// The kinds of objects that an engine takes.
#ifndef KUEUE_OBJECTS_KINDS_H_
#define KUEUE_OBJECTS_KINDS_H_

#include <functional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "objects/value.h"

namespace kueue {

// Returns a function that applies the object to an engine. The name of the object's class determines its
// kind. DeleteObject() supports the same kinds of objects as ReadObject().
std::function<void(Engine&)> ReadObject(const Value& object, bool changed);
// Appends the object's name to `queues` if the object is a ClusterQueue.
void AddIfQueue(const Value& object, std::vector<std::string>& queues);
void DeleteObject(Engine& engine, const std::string& kind, const std::string& ns, const std::string& name);

}  // namespace kueue

#endif  // KUEUE_OBJECTS_KINDS_H_
