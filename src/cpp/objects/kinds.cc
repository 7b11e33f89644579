#include "objects/kinds.h"

#include <map>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/devices.h"
#include "engine/objects.h"
#include "engine/templates.h"
#include "engine/topologies.h"
#include "engine/trees.h"
#include "objects/cluster.h"
#include "objects/devices.h"
#include "objects/fields.h"
#include "objects/queues.h"

namespace kueue {
namespace {

using ApplyObject = std::function<void(Engine&)>;

// Reads an object with kRead. The result calls kApply with the parts of the object that it takes: its name,
// or its namespace and its name, then the value, then `changed`.
template <auto kRead, auto kApply>
ApplyObject ReadBy(const Value& object, [[maybe_unused]] bool changed) {
  using Apply = decltype(kApply);
  using Read = decltype(kRead(object));
  if constexpr (std::is_invocable_v<Apply, State&, Read>) {
    return [value = kRead(object)](Engine& engine) { kApply(engine.state(), value); };
  } else if constexpr (std::is_invocable_v<Apply, State&, Read, bool>) {
    return [value = kRead(object), changed](Engine& engine) { kApply(engine.state(), value, changed); };
  } else if constexpr (std::is_invocable_v<Apply, State&, std::string, Read>) {
    return [name = TextOf(object, "name"), value = kRead(object)](Engine& engine) {
      kApply(engine.state(), name, value);
    };
  } else if constexpr (std::is_invocable_v<Apply, State&, std::string, Read, bool>) {
    return [name = TextOf(object, "name"), value = kRead(object), changed](Engine& engine) {
      kApply(engine.state(), name, value, changed);
    };
  } else {
    return [ns = TextOf(object, "namespace"), name = TextOf(object, "name"),
            value = kRead(object)](Engine& engine) { kApply(engine.state(), ns, name, value); };
  }
}

template <auto kDelete>
void DeleteBy(Engine& engine, [[maybe_unused]] const std::string& ns, const std::string& name) {
  if constexpr (std::is_invocable_v<decltype(kDelete), State&, std::string, std::string>) {
    kDelete(engine.state(), ns, name);
  } else {
    kDelete(engine.state(), name);
  }
}

std::map<std::string, std::string> LabelsOf(const Value& object) { return Labels(object.Field("labels")); }
std::vector<std::string> LevelsOf(const Value& object) { return Texts(object.Field("levels")); }

ApplyObject ReadNodeObject(const Value& object, bool) {
  return [node = ReadNode(object), since = OptionalTime(object.Field("ready_since"))](Engine& engine) {
    ApplyNode(engine.state(), node, since);
  };
}
ApplyObject ReadPodObject(const Value& object, bool) {
  return [pod = ReadPod(object)](Engine& engine) {
    ApplyPod(engine.state(), pod.ns, pod.name, pod.pod, pod.spec);
  };
}
ApplyObject ReadDeviceClassObject(const Value& object, bool) {
  return [name = TextOf(object, "name"), device_class = ReadDeviceClass(object),
          created = OptionalTime(object.Field("creation_timestamp"))](Engine& engine) {
    ApplyDeviceClass(engine.state(), name, device_class, created);
  };
}

// The functions that read and delete objects of a kind. Only some kinds use `changed`.
struct ObjectKind {
  const char* name;
  ApplyObject (*read)(const Value& object, bool changed);
  void (*remove)(Engine& engine, const std::string& ns, const std::string& name);
};
constexpr ObjectKind kObjectKinds[] = {
    {"ResourceFlavor", &ReadBy<&ReadFlavor, &ApplyFlavor>, &DeleteBy<&DeleteFlavor>},
    {"ClusterQueue", &ReadBy<&ReadClusterQueue, &ApplyClusterQueue>, &DeleteBy<&DeleteClusterQueue>},
    {"Cohort", &ReadBy<&ReadCohort, &ApplyCohort>, &DeleteBy<&DeleteCohort>},
    {"LocalQueue", &ReadBy<&ReadLocalQueue, &ApplyLocalQueue>, &DeleteBy<&DeleteLocalQueue>},
    {"Namespace", &ReadBy<&LabelsOf, &ApplyNamespace>, &DeleteBy<&DeleteNamespace>},
    {"AdmissionCheck", &ReadBy<&ReadCheck, &ApplyCheck>, &DeleteBy<&DeleteCheck>},
    {"Topology", &ReadBy<&LevelsOf, &ApplyTopology>, &DeleteBy<&DeleteTopology>},
    {"Node", &ReadNodeObject, &DeleteBy<&DeleteNode>},
    {"Pod", &ReadPodObject, &DeleteBy<&DeletePod>},
    {"LimitRange", &ReadBy<&ReadLimitRange, &ApplyLimitRange>, &DeleteBy<&DeleteLimitRange>},
    {"RuntimeClass", &ReadBy<&ReadRuntimeClass, &ApplyRuntimeClass>, &DeleteBy<&DeleteRuntimeClass>},
    {"DeviceClass", &ReadDeviceClassObject, &DeleteBy<&DeleteDeviceClass>},
    {"ResourceClaimTemplate", &ReadBy<&ReadResourceClaimTemplate, &ApplyResourceClaimTemplate>,
     &DeleteBy<&DeleteResourceClaimTemplate>},
    // A workload that refers to a ResourceClaim is refused, whether the claim exists or not.
    {"ResourceClaim", [](const Value&, bool) -> ApplyObject { return [](Engine&) {}; },
     [](Engine&, const std::string&, const std::string&) {}},
    {"ResourceSlice", &ReadBy<&ReadResourceSlice, &ApplyResourceSlice>, &DeleteBy<&DeleteResourceSlice>},
};

}  // namespace

std::function<void(Engine&)> ReadObject(const Value& object, bool changed) {
  const std::string name = object.TypeName();
  for (const ObjectKind& kind : kObjectKinds) {
    if (kind.name == name) return kind.read(object, changed);
  }
  ThrowIfError(absl::UnimplementedError(
      absl::StrCat("kind: is ", name, "; objects of this kind do not affect admission")));
  return {};
}

void AddIfQueue(const Value& object, std::vector<std::string>& queues) {
  if (object.TypeName() == "ClusterQueue") queues.push_back(TextOf(object, "name"));
}

void DeleteObject(Engine& engine, const std::string& kind, const std::string& ns, const std::string& name) {
  for (const ObjectKind& known : kObjectKinds) {
    if (known.name == kind) known.remove(engine, ns, name);
  }
}

}  // namespace kueue
