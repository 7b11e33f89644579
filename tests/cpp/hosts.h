// A data centre of a few hosts to place pods in, and requests to place them by.
#ifndef KUEUE_TESTS_CPP_HOSTS_H_
#define KUEUE_TESTS_CPP_HOSTS_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "topology/placement.h"

namespace kueue::testing_hosts {

using Pods = std::map<std::string, int>;

// The flavor of the hosts.
inline constexpr FlavorId kFlavor(0);

// Hosts with room for so many pods of one cpu; levels block, rack, hostname, or the last of them only.
class ClusterOfHosts {
 public:
  explicit ClusterOfHosts(std::vector<std::string> levels) : levels_(std::move(levels)) {
    cpu_ = resources_.Intern("cpu");
    pods_ = resources_.Intern("pods");
    one_ = {{cpu_, 1}, {pods_, 1}};
  }

  // `path`: a value for each level.
  ClusterOfHosts& Add(const std::vector<std::string>& path, int64_t cpus, int64_t pods = 110) {
    auto node = std::make_shared<Node>();
    node->name = path.back();
    for (size_t i = 0; i < path.size(); ++i) node->labels[levels_[i]] = path[i];
    node->allocatable = {{"cpu", cpus}, {"pods", pods}};
    node->ready = NodeReadiness::kReady;
    nodes_[node->name] = node;
    return *this;
  }
  Node& Edit(const std::string& name) {
    auto node = std::make_shared<Node>(*nodes_.at(name));
    nodes_[name] = node;
    return *node;
  }

  void Build() {
    auto tree = std::make_shared<const TopologyTree>(levels_, std::map<std::string, std::string>(), nodes_,
                                                     resources_, domains_);
    capacity_.Set(kFlavor, tree, "default");
  }
  const TopologyTree& tree() { return *capacity_.Find(kFlavor)->tree; }
  void Use(const std::string& domain, int cpus) {
    capacity_.Add(kFlavor, domains_.Intern(domain), {{cpu_, 1}}, pods_, cpus);
  }

  PlacementQuery Query(const TopologyRequest& request, int count, const NodeDemand& demand = {}) {
    PlacementQuery query;
    query.request = &request;
    query.count = count;
    query.requests = &one_;
    query.eligible = std::make_shared<const EligibleLeaves>(tree(), demand);
    query.demand = demands_.Intern(demand.Key());
    return query;
  }
  Placement Place(const TopologyRequest& request, int count, const NodeDemand& demand = {}) {
    return kueue::Place(*capacity_.Find(kFlavor), Query(request, count, demand), gates, resources_);
  }
  Pods PlacedOn(const TopologyRequest& request, int count) { return Named(Place(request, count).workers); }
  Pods Named(const std::vector<DomainCount>& domains) const {
    Pods named;
    for (const DomainCount& entry : domains) named[domains_.Name(entry.domain)] = entry.count;
    return named;
  }
  std::vector<DomainCount> Domains(const Pods& named) {
    std::vector<DomainCount> domains;
    for (const auto& [name, count] : named) domains.push_back({domains_.Intern(name), count});
    return domains;
  }

  PlacementGates gates;
  TopologyCapacity& capacity() { return capacity_; }
  const Interner<ResourceId>& resources() const { return resources_; }
  const Interner<DomainId>& domains() const { return domains_; }
  ResourceId cpu_, pods_;

 private:
  std::vector<std::string> levels_;
  Interner<ResourceId> resources_;
  Interner<DomainId> domains_;
  Interner<int32_t> demands_;
  PodAmounts one_;  // Requests of one pod.
  NodeTable nodes_;
  TopologyCapacity capacity_;
};

inline TopologyRequest Required(const std::string& level) {
  TopologyRequest request;
  request.required = level;
  return request;
}

inline TopologyRequest Preferred(const std::string& level) {
  TopologyRequest request;
  request.preferred = level;
  return request;
}

inline TopologyRequest Unconstrained() {
  TopologyRequest request;
  request.unconstrained = true;
  return request;
}

}  // namespace kueue::testing_hosts

#endif  // KUEUE_TESTS_CPP_HOSTS_H_
