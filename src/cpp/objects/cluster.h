// Reads the objects of Kubernetes that Kueue considers.
#ifndef KUEUE_OBJECTS_CLUSTER_H_
#define KUEUE_OBJECTS_CLUSTER_H_

#include <string>

#include "engine/topologies.h"
#include "model/pod.h"
#include "model/topology.h"
#include "objects/value.h"

namespace kueue {

Node ReadNode(const Value& object);
LimitRange ReadLimitRange(const Value& object);
RuntimeClass ReadRuntimeClass(const Value& object);

// A Pod of the cluster: its name, its state and its pod template.
struct PodObject {
  std::string ns, name;
  ClusterPod pod;
  PodTemplate spec;
};
PodObject ReadPod(const Value& object);

}  // namespace kueue

#endif  // KUEUE_OBJECTS_CLUSTER_H_
