#include "objects/cluster.h"

#include "absl/strings/str_cat.h"
#include "objects/fields.h"
#include "objects/pod_template.h"
#include "objects/queues.h"

namespace kueue {
namespace {

// Reads the node of the pod, or the node named by its node selector.
void ReadPlace(const Value& spec, ClusterPod& pod) {
  pod.node = GetText(spec, "nodeName", "spec");
  if (const Value selector = GetMap(spec, "nodeSelector", "spec")) {
    pod.wanted = GetText(selector, kHostname, "spec.nodeSelector");
  }
}

// Sets two fields of `pod` from its annotations: the key of its workload, and whether a topology assignment
// placed the pod.
void ReadPodAnnotations(const std::map<std::string, std::string>& annotations, const std::string& ns,
                        ClusterPod& pod) {
  constexpr const char* kPrefix = "kueue.x-k8s.io/";
  for (const char* key :
       {"podset-required-topology", "podset-preferred-topology", "podset-unconstrained-topology",
        "podset-slice-required-topology", "podset-slice-required-topology-constraints"}) {
    pod.by_topology = pod.by_topology || annotations.count(absl::StrCat(kPrefix, key)) > 0;
  }
  const auto workload = annotations.find(absl::StrCat(kPrefix, "workload"));
  if (workload != annotations.end()) pod.workload = ns + "/" + workload->second;
}

}  // namespace

LimitRange ReadLimitRange(const Value& object) {
  return {ReadAll(object.Field("limits"), [](const Value& item) -> LimitRange::Item {
    return {TextOf(item, "type"), ReadResources(item.Field("max"), "max"),
            ReadResources(item.Field("min"), "min"), ReadResources(item.Field("default"), "default"),
            ReadResources(item.Field("default_request"), "defaultRequest")};
  })};
}

Node ReadNode(const Value& object) {
  Node node;
  node.name = TextOf(object, "name");
  node.labels = Labels(object.Field("labels"));
  node.annotations = Labels(object.Field("annotations"));
  node.taints = ReadAll(object.Field("taints"), &ReadTaint);
  for (const Value& taint : object.Field("taints").Items()) {
    const Value added = taint.Field("time_added");
    absl::StrAppend(&node.other_conditions, added.Text(), ";");
  }
  node.unschedulable = object.Field("unschedulable").Bool();
  for (const auto& [name, quantity] : ReadResources(object.Field("allocatable"), "status.allocatable")) {
    node.allocatable[name] = ResourceValue(name, quantity);
  }
  for (const auto& [type, status] : Labels(object.Field("other_conditions"))) {
    absl::StrAppend(&node.other_conditions, type, "=", status, ";");
  }
  const Value ready = object.Field("ready");
  if (!ready) return node;
  node.ready = ready.Bool()                           ? NodeReadiness::kReady
               : object.Field("ready_unknown").Bool() ? NodeReadiness::kUnknown
                                                      : NodeReadiness::kNotReady;
  return node;
}

RuntimeClass ReadRuntimeClass(const Value& object) {
  return {ReadResources(object.Field("overhead"), "overhead.podFixed")};
}

PodObject ReadPod(const Value& object) {
  PodObject read;
  read.ns = TextOf(object, "namespace");
  read.name = TextOf(object, "name");
  ReadPodAnnotations(Labels(object.Field("annotations")), read.ns, read.pod);
  const Value spec = object.Field("spec");
  ReadPlace(spec, read.pod);
  const std::string phase = TextOf(object, "phase");
  read.pod.is_over = phase == "Succeeded" || phase == "Failed";
  read.pod.is_leaving = static_cast<bool>(object.Field("deletion_timestamp"));
  read.spec = ReadPodSpec(spec, "Pod.spec");
  return read;
}

}  // namespace kueue
