#pragma once

#include <vector>

#include "sim/flow/flow_network.hpp"
#include "sim/flow/flow_refusal.hpp"
#include "sim/flow/round_flows.hpp"

namespace dadsim::sim {

/// Rates that differ by less than what rounding makes of them.
inline constexpr double kRoundedRates = 1 + 1e-6;

/// What the messages of a round cost, and how fast they go on while they share the network.
class FlowRates {
 public:
  explicit FlowRates(FlowNetwork& ranks) : ranks_(ranks) {}

  /// What messages cost on the wire, and how long they take at least.
  void prepare(std::vector<RoundFlow>& flows) const;
  /// How long they take if all pairs go on at the same time throughout.
  void share_once(const FlowPattern& pattern, std::vector<RoundFlow>& flows) const;
  /// The same if all begin together, or in turn, and who is through leaves its share to the others.
  Refused share_and_finish(const FlowPattern& pattern, std::vector<RoundFlow>& flows) const;
  /// The same flow by flow (one for each pair), each from when it begins.
  Refused share_by_dates(const FlowPattern& pattern, std::vector<RoundFlow>& flows,
                         const std::vector<double>& begins) const;

  /// Seconds that the transfer takes if nobody shares its links.
  double alone(const RoundFlow& flow) const;
  bool over_tcp(const RoundFlow& flow) const;
  /// How a message fares over TCP was worked out as if all others of the round were under way. Where they may not be,
  /// for so many seconds, what sharing costs it is in doubt.
  double tcp_doubt(const std::vector<RoundFlow>& flows, double seconds) const;
  /// Whether some would be faster alone.
  bool is_contended(const std::vector<RoundFlow>& flows) const;

 private:
  void prepare_tcp(std::vector<RoundFlow>& flows) const;
  std::vector<double> rates(const FlowPattern& pattern, const std::vector<RoundFlow>& flows,
                            const std::vector<std::size_t>& active) const;

  FlowNetwork& ranks_;
};

}  // namespace dadsim::sim
