#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "sim/simulator.hpp"
#include "step/step.hpp"
#include "world/world.hpp"

namespace dadsim::sim {

/// Times collectives of some nodes of a cluster, each as if its nodes were alone on the network as it begins, by the
/// simulation that times single collectives (time_collectives). Equal ones are timed once; the first of the same nodes
/// is on cold connections.
class NodeCollectives {
 public:
  explicit NodeCollectives(const Cluster& cluster) : cluster_(cluster) {}

  struct Timed {
    double seconds = 0;
    world::CollectiveTraffic traffic;
  };
  Timed time(const world::Collective& what);
  double messages() const { return messages_; }  ///< messages of all calls of time()
  /// Returns whether a link that fits `pattern` is on a route between two of the nodes. Of very many nodes every link
  /// is.
  bool cross(const std::vector<world::Node>& nodes, const std::string& pattern);

 private:
  using Key = std::tuple<std::vector<world::Node>, step::CollectiveKind, double, std::string>;
  std::vector<std::string> hosts_of(const std::vector<world::Node>& nodes) const;

  const Cluster cluster_;
  double messages_ = 0;
  std::map<Key, CollectiveTiming> known_;
  std::set<std::vector<world::Node>> warm_;  ///< nodes with connections
  std::map<std::vector<world::Node>, std::set<std::string>> links_;
};

}  // namespace dadsim::sim
