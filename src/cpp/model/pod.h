// Decision-relevant parts of a pod template.
#ifndef KUEUE_MODEL_POD_H_
#define KUEUE_MODEL_POD_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "quantity/quantity.h"

namespace kueue {

using ResourceList = std::map<std::string, Quantity>;

// A container. Also used for the resources of a pod as a whole.
struct Container {
  ResourceList requests, limits;
  bool restarts_always = false;  // Restart policy Always: on an init container, marks a sidecar.
};

struct Toleration {
  std::string key, op, value, effect;
  bool is_temporary = false;  // tolerationSeconds is set.
};

struct NodeSelectorRequirement {
  std::string key, op;
  std::vector<std::string> values;
};
// A term of a node selector. `match_fields` applies to nodes only; it is ignored for flavors.
struct NodeSelectorTerm {
  std::vector<NodeSelectorRequirement> match_expressions, match_fields;
};
struct PreferredSchedulingTerm {
  int32_t weight = 0;
  NodeSelectorTerm preference;
};

// A claim of a pod, created from a ResourceClaimTemplate or naming an existing ResourceClaim.
struct PodResourceClaim {
  std::optional<std::string> template_name, claim_name;
};

struct PodTemplate {
  std::vector<Container> init_containers, containers;
  bool has_resources = false;  // Has pod-level resources (spec.resources).
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
  // Injective text of the remaining fields that determine whether the scheduler treats two pods as equal.
  // Adjust never changes these fields. See SpecShape.
  std::string shape;
};

// A RuntimeClass. `pod_fixed` is the overhead added to each pod of the class.
struct RuntimeClass {
  ResourceList pod_fixed;
};

// Limits and defaults for the pods of a namespace. Items of types other than Container and Pod are ignored.
struct LimitRange {
  struct Item {
    std::string type;
    ResourceList max, min, default_limit, default_request;
  };
  std::vector<Item> items;
};

}  // namespace kueue

#endif  // KUEUE_MODEL_POD_H_
