#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "sim/platform/build/cluster_network.hpp"
#include "sim/platform/build/pair_links.hpp"

namespace dadsim::sim {
namespace {

std::vector<std::string> names(const spec::CompositionSpec& spec) {
  std::vector<std::string> clusters;
  for (const auto& cluster : spec.clusters) {
    clusters.push_back(std::visit([](const auto& one) { return one.name; }, cluster));
  }
  return clusters;
}

/// Joins clusters. A path between clusters leads to the border of the first, over the pair's line, and from the border
/// of the second.
class Composition : public ClusterNetwork {
 public:
  Composition(sg4::NetZone* zone, const spec::CompositionSpec& spec) : pairs_(zone, "", names(spec), spec.pairs) {
    first_.push_back(0);
    for (const auto& cluster : spec.clusters) {
      clusters_.push_back(std::visit([&](const auto& one) { return make_network(zone, one); }, cluster));
      first_.push_back(first_.back() + clusters_.back()->hosts());
    }
  }

  std::int64_t hosts() const override { return first_.back(); }
  void route(std::int64_t from, std::int64_t to, Links& links) const override {
    const std::size_t here = cluster_of(from);
    const std::size_t there = cluster_of(to);
    if (here == there) {
      clusters_[here]->route(from - first_[here], to - first_[here], links);
      return;
    }
    clusters_[here]->leave(from - first_[here], links);
    links.push_back(pairs_(here, there));
    clusters_[there]->enter(to - first_[there], links);
  }
  void leave(std::int64_t from, Links& links) const override {
    const std::size_t here = cluster_of(from);
    clusters_[here]->leave(from - first_[here], links);
  }
  void enter(std::int64_t to, Links& links) const override {
    const std::size_t there = cluster_of(to);
    clusters_[there]->enter(to - first_[there], links);
  }
  const GpuNode* gpu_node(std::int64_t host) const override {
    const std::size_t here = cluster_of(host);
    return clusters_[here]->gpu_node(host - first_[here]);
  }
  std::int64_t rail(std::int64_t host) const override {
    const std::size_t here = cluster_of(host);
    return clusters_[here]->rail(host - first_[here]);
  }

 private:
  std::size_t cluster_of(std::int64_t host) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(first_, host) - first_.begin()) - 1;
  }

  PairLinks pairs_;
  std::vector<std::unique_ptr<ClusterNetwork>> clusters_;
  std::vector<std::int64_t> first_;  ///< number of each cluster's first host; the last entry is the number of all hosts
};

}  // namespace

std::unique_ptr<ClusterNetwork> make_network(sg4::NetZone* zone, const spec::CompositionSpec& spec) {
  return std::make_unique<Composition>(zone, spec);
}

}  // namespace dadsim::sim
