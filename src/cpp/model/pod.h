// The parts of a pod template that decide about admission.
#ifndef KUEUE_MODEL_POD_H_
#define KUEUE_MODEL_POD_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/quantity.h"

namespace kueue {

using ResourceList = std::map<std::string, Quantity>;

struct Container {
  ResourceList requests, limits;
  bool restarts_always = false;  // of an init container: a sidecar
};

struct Toleration {
  std::string key, op, value, effect;
};

struct NodeSelectorRequirement {
  std::string key, op;
  std::vector<std::string> values;
};
struct NodeSelectorTerm {
  std::vector<NodeSelectorRequirement> match_expressions;
};

struct PodTemplate {
  std::vector<Container> init_containers, containers;
  bool has_resources = false;  // spec.resources, of the pod as a whole
  Container resources;
  ResourceList overhead;
  std::string runtime_class_name;
  std::vector<Toleration> tolerations;
  std::map<std::string, std::string> node_selector;
  bool has_affinity = false;  // requiredDuringSchedulingIgnoredDuringExecution
  std::vector<NodeSelectorTerm> affinity_terms;
  // Canonical text of the parts that make workloads equivalent for the scheduler (utilpod.SpecShape).
  std::string shape;
};

struct RuntimeClass {
  ResourceList pod_fixed;
};

struct LimitRange {
  struct Item {
    std::string type;  // Container or Pod
    ResourceList max, min, default_limit, default_request;
  };
  std::vector<Item> items;
};

}  // namespace kueue

#endif  // KUEUE_MODEL_POD_H_
