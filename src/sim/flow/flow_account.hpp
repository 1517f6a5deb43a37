#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/flow/round_flows.hpp"

namespace dadsim::sim {

/// Seconds by what they were spent on: the latency of a path ("latency", name), the bandwidth of a link
/// ("bandwidth", name), software ("overhead", "").
using SpentSeconds = std::map<std::pair<std::string, std::string>, double>;

/// What the time of rounds went to, and what links carried.
class FlowAccount {
 public:
  explicit FlowAccount(const Interconnect& network) : network_(network) {}

  const SpentSeconds& spent() const { return spent_; }
  /// Per link of the network (those behind the end: nothing).
  const std::vector<LinkLoad>& loads() const { return loads_; }

  void forget_spent() { spent_.clear(); }
  void forget_loads() { std::vector<LinkLoad>().swap(loads_); }
  void set(const SpentSeconds& spent, const std::vector<LinkLoad>& loads) {
    spent_ = spent;
    loads_ = loads;
  }

  /// What the time of rounds goes to: the pair that takes longest.
  void describe(RoundFlows& timed) const;
  /// They took so long.
  void spend(const RoundFlows& timed, double seconds);
  /// What the rounds of a pattern have carried. All links of a class carry the same.
  void count_loads(const KnownPattern& known);

 private:
  const Interconnect& network_;
  SpentSeconds spent_;
  std::vector<LinkLoad> loads_;
};

}  // namespace dadsim::sim
