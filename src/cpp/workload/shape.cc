#include "workload/shape.h"

#include "absl/strings/str_cat.h"

namespace kueue {
namespace {

// Canonical quantities contain no commas, so the entries need no length prefix.
void AppendList(std::string* text, const ResourceList& list) {
  *text += '(';
  for (const auto& [name, quantity] : list)
    absl::StrAppend(text, name.size(), ":", name, quantity.ToText(), ",");
  *text += ')';
}

}  // namespace

std::string SpecShape(const PodTemplate& pod) {
  std::string text;
  for (const Container& container : pod.init_containers) AppendList(&text, container.requests);
  text += '|';
  for (const Container& container : pod.containers) AppendList(&text, container.requests);
  text += '|';
  AppendList(&text, pod.overhead);
  if (pod.has_resources) AppendList(&text, pod.resources.requests);
  absl::StrAppend(&text, "|", pod.shape);
  return text;
}

}  // namespace kueue
