#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/flow/round_flows.hpp"

namespace dadsim::sim {

/// Seconds by cause: latency of a path ("latency", name), bandwidth of a link ("bandwidth", name), software
/// ("overhead", "").
using SpentSeconds = std::map<std::pair<std::string, std::string>, double>;

/// Accounts for the time of rounds by cause, and for the loads of links.
class FlowAccount {
 public:
  explicit FlowAccount(const Interconnect& network) : network_(network) {}

  const SpentSeconds& spent() const { return spent_; }
  /// Returns loads per link of the network; links after the end carried nothing.
  const std::vector<LinkLoad>& loads() const { return loads_; }

  void forget_spent() { spent_.clear(); }
  void forget_loads() { std::vector<LinkLoad>().swap(loads_); }
  void set(const SpentSeconds& spent, const std::vector<LinkLoad>& loads) {
    spent_ = spent;
    loads_ = loads;
  }

  /// Describes the slowest pair, which determines the time of the rounds.
  void describe(RoundFlows& timed) const;
  /// Adds `seconds` of the rounds to their causes.
  void spend(const RoundFlows& timed, double seconds);
  /// Adds the loads of a pattern's rounds. All links of a class carry the same load.
  void count_loads(const KnownPattern& known);

 private:
  const Interconnect& network_;
  SpentSeconds spent_;
  std::vector<LinkLoad> loads_;
};

}  // namespace dadsim::sim
