#include "workload/transformation.h"

#include <algorithm>

#include "workload/resource_list.h"

namespace kueue {
namespace {

const ResourceTransformation* Find(const std::vector<ResourceTransformation>& transformations,
                                   const std::string& input) {
  const auto found =
      std::find_if(transformations.begin(), transformations.end(),
                   [&input](const ResourceTransformation& each) { return each.input == input; });
  return found == transformations.end() ? nullptr : &*found;
}

ResourceList Outputs(const ResourceTransformation& transformation, const Quantity& quantity,
                     const ResourceList& requests) {
  const auto multiplier = requests.find(transformation.multiply_by);
  const Quantity base = multiplier == requests.end() ? quantity : quantity * multiplier->second;
  ResourceList outputs;
  for (const auto& [name, factor] : transformation.outputs) outputs.emplace(name, base * factor);
  return outputs;
}

}  // namespace

ResourceList Transform(const ResourceList& requests,
                       const std::vector<ResourceTransformation>& transformations) {
  ResourceList retained, generated;
  for (const auto& [name, quantity] : requests) {
    const ResourceTransformation* const transformation = Find(transformations, name);
    if (transformation != nullptr) AddTo(&generated, Outputs(*transformation, quantity, requests));
    if (transformation == nullptr || !transformation->replace) retained.emplace(name, quantity);
  }
  const Quantity zero;
  for (auto& [name, quantity] : generated) {
    if (quantity.IsNegative()) quantity = zero;
  }
  AddTo(&retained, generated);
  return retained;
}

}  // namespace kueue
