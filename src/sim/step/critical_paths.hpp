#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/step/flow_collectives.hpp"
#include "step/timing.hpp"

namespace dadsim::sim {

/// Seconds of what let a node come to a date, followed back from there; they add up to the date.
struct CriticalPath {
  double computing = 0, network = 0, for_others = 0;
};

/// The critical path of every node, to where its compute stream is. A wait that ends late has the network on its path
/// from the date on from which the awaited collective's line was never idle: what the node computed meanwhile held
/// nothing up. Collectives that follow the awaited one on its line are in the same stretch.
class CriticalPaths {
 public:
  CriticalPaths(std::size_t nodes, std::size_t lines) : lines_(lines), paths_(nodes), busy_since_(nodes * lines) {}

  const CriticalPath& of(std::size_t node) const { return paths_[node]; }
  void computed(std::size_t node, double seconds) { paths_[node].computing += seconds; }

  /// The node, at `date`, begins a collective on a line of its that is idle.
  void line_begins(std::size_t node, std::size_t line, double date) {
    busy_since_[node * lines_ + line] = {date, paths_[node]};
  }
  /// The node waited from `begin` to `end` for what it only receives.
  void received(std::size_t node, double begin, double end, double for_others) {
    paths_[node].network += end - begin - for_others;
    paths_[node].for_others += for_others;
  }
  /// The node waited until `end` for a collective on a line of its.
  void waited(std::size_t node, std::size_t line, double end, double for_others) {
    const Stretch& stretch = busy_since_[node * lines_ + line];
    paths_[node] = stretch.path;
    received(node, stretch.begin, end, for_others);
  }

 private:
  /// In which a line was never idle: when it began, and how the node came there.
  struct Stretch {
    double begin = 0;
    CriticalPath path;
  };

  std::size_t lines_;
  std::vector<CriticalPath> paths_;
  std::vector<Stretch> busy_since_;
};

/// The critical path of the worker that is done last, longest part first. What of it is the network's is divided like
/// the time that collectives took (`spent`). Devices of one replica wait for one another's computations by nature.
std::vector<step::Bound> bounds_of(const CriticalPath& path, const std::string& host, const std::string& device,
                                   const SpentSeconds& spent, double step_seconds);

}  // namespace dadsim::sim
