#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "sim/simulator.hpp"

namespace dadsim::study {

/// Times collectives among groups of a cluster's devices, with all groups active at once. Each kind of group is
/// simulated alone at three sizes; other sizes are interpolated. Groups that share the adapters of a node are limited
/// to the rate that all devices reach together.
class GroupTimes {
 public:
  explicit GroupTimes(const sim::Cluster& cluster);

  /// Simulates, in few processes, all groups whose times `ask` requests. During this call the times returned to `ask`
  /// are arbitrary.
  void prepare(const std::function<void()>& ask);

  /// Returns the seconds of an all-reduce of `bytes` among `ranks` devices that are `stride` apart. Throws
  /// SimulationError.
  double all_reduce(std::size_t ranks, std::size_t stride, double bytes);
  /// Returns the seconds of an exchange in which each of `ranks` devices in turn sends a block of `bytes` to every
  /// other.
  double all_to_all(std::size_t ranks, double bytes);

 private:
  struct Curve {
    std::vector<std::pair<double, double>> points;  ///< bytes, seconds
    double at(double bytes) const;
  };
  using Group = std::pair<std::size_t, std::size_t>;
  using Asked = std::pair<step::CollectiveKind, Group>;
  std::vector<Curve> curves_of(std::span<const Asked> asked) const;
  const Curve& curve_of(const Group& group, step::CollectiveKind kind = step::CollectiveKind::all_reduce);
  std::size_t sharing(const Group& group) const;

  sim::Cluster cluster_;
  std::vector<int> node_of_;  ///< per device
  std::map<Asked, Curve> curves_;
  bool prepares_ = false;  ///< true while prepare() collects requests
};

}  // namespace dadsim::study
