// The fields of a pod template that affect decisions.
#ifndef KUEUE_MODEL_POD_H_
#define KUEUE_MODEL_POD_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "quantity/quantity.h"

namespace kueue {

using ResourceList = std::map<std::string, Quantity>;

// A container. The struct Container is also used for pod-level resources.
struct Container {
  ResourceList requests, limits;
  // Whether the restart policy of the container is Always. An init container with this policy is a sidecar.
  bool restarts_always = false;
};

struct Toleration {
  std::string key, op, value, effect;
  bool is_temporary = false;  // tolerationSeconds is set.
};

struct NodeSelectorRequirement {
  std::string key, op;
  std::vector<std::string> values;
};
// A term of a node selector. `match_fields` applies only to nodes and is ignored for flavors.
struct NodeSelectorTerm {
  std::vector<NodeSelectorRequirement> match_expressions, match_fields;
};
struct PreferredSchedulingTerm {
  int32_t weight = 0;
  NodeSelectorTerm preference;
};

// A device claim of a pod. The claim either is created from a ResourceClaimTemplate or refers to an existing
// ResourceClaim.
struct PodResourceClaim {
  std::optional<std::string> template_name, claim_name;
};

struct PodTemplate {
  std::vector<Container> init_containers, containers;
  bool has_resources = false;  // Whether the pod has pod-level resources (spec.resources).
  Container resources;
  ResourceList overhead;
  std::string runtime_class_name;
  std::string priority_class_name;
  std::vector<Toleration> tolerations;
  std::map<std::string, std::string> node_selector;
  bool has_affinity = false;  // Has requiredDuringSchedulingIgnoredDuringExecution.
  std::vector<NodeSelectorTerm> affinity_terms;
  std::vector<PreferredSchedulingTerm> preferred_terms;  // preferredDuringSchedulingIgnoredDuringExecution
  std::vector<PodResourceClaim> resource_claims;
  // String form of the remaining fields that determine whether the scheduler treats two pods as equal. Two
  // pods have the same string only if these fields are equal. Adjust() never changes these fields. See
  // SpecShape.
  std::string shape;
};

// A RuntimeClass. `pod_fixed` is the overhead added to each pod that uses the class.
struct RuntimeClass {
  ResourceList pod_fixed;
};

// Limits and defaults for the pods of a namespace. Items of a LimitRange whose type is neither Container nor
// Pod are ignored.
struct LimitRange {
  struct Item {
    std::string type;
    ResourceList max, min, default_limit, default_request;
  };
  std::vector<Item> items;
};

}  // namespace kueue

#endif  // KUEUE_MODEL_POD_H_
