#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "sim/simulator.hpp"

namespace dadsim::study {

/// Times of collectives among groups of a cluster's devices, with all groups at once. Each group alone is simulated at
/// three sizes; sizes between are interpolated. Groups that share the adapters of a node share the rate that all
/// devices together reach.
class GroupTimes {
 public:
  explicit GroupTimes(const sim::Cluster& cluster);

  /// Returns the seconds of an all-reduce of `bytes` among `ranks` devices, `stride` apart. Throws SimulationError.
  double all_reduce(std::size_t ranks, std::size_t stride, double bytes);
  /// Returns the seconds in which each of `ranks` devices in turn sends every other a block of `bytes`.
  double all_to_all(std::size_t ranks, double bytes);

 private:
  struct Curve {
    std::vector<std::pair<double, double>> points;  ///< bytes, seconds
    double at(double bytes) const;
  };
  using Group = std::pair<std::size_t, std::size_t>;
  const Curve& curve_of(const Group& group, step::CollectiveKind kind = step::CollectiveKind::all_reduce);
  std::size_t sharing(const Group& group) const;

  sim::Cluster cluster_;
  std::vector<int> node_of_;  ///< per device
  std::map<std::pair<step::CollectiveKind, Group>, Curve> curves_;
};

}  // namespace dadsim::study
