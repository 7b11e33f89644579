// The parts of a pod template that decide about admission.
#ifndef KUEUE_MODEL_POD_H_
#define KUEUE_MODEL_POD_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "quantity/quantity.h"

namespace kueue {

using ResourceList = std::map<std::string, Quantity>;

// Also the pod as a whole, where it has resources of its own.
struct Container {
  ResourceList requests, limits;
  bool restarts_always = false;  // of an init container: a sidecar
};

struct Toleration {
  std::string key, op, value, effect;
  bool is_temporary = false;  // has tolerationSeconds
};

struct NodeSelectorRequirement {
  std::string key, op;
  std::vector<std::string> values;
};
// What a term asks of fields, not of labels, counts for nodes, never for a flavor.
struct NodeSelectorTerm {
  std::vector<NodeSelectorRequirement> match_expressions, match_fields;
};
struct PreferredSchedulingTerm {
  int32_t weight = 0;
  NodeSelectorTerm preference;
};

// A claim of devices by the pod: made from a ResourceClaimTemplate, or an existing ResourceClaim.
struct PodResourceClaim {
  std::optional<std::string> template_name, claim_name;
};

struct PodTemplate {
  std::vector<Container> init_containers, containers;
  bool has_resources = false;  // spec.resources, of the pod as a whole
  Container resources;
  ResourceList overhead;
  std::string runtime_class_name;
  std::string priority_class_name;
  std::vector<Toleration> tolerations;
  std::map<std::string, std::string> node_selector;
  bool has_affinity = false;  // requiredDuringSchedulingIgnoredDuringExecution
  std::vector<NodeSelectorTerm> affinity_terms;
  std::vector<PreferredSchedulingTerm> preferred_terms;  // preferredDuringSchedulingIgnoredDuringExecution
  std::vector<PodResourceClaim> resource_claims;
  // An injective text of the rest that makes pods alike for the scheduler: what Adjust never changes. See
  // SpecShape.
  std::string shape;
};

// What running a pod of the class costs beyond its containers.
struct RuntimeClass {
  ResourceList pod_fixed;
};

// The limits and defaults of a namespace's pods; items of other types than Container and Pod never count.
struct LimitRange {
  struct Item {
    std::string type;
    ResourceList max, min, default_limit, default_request;
  };
  std::vector<Item> items;
};

}  // namespace kueue

#endif  // KUEUE_MODEL_POD_H_
