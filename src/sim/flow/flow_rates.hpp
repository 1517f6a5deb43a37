#pragma once

#include <vector>

#include "sim/flow/flow_network.hpp"
#include "sim/flow/flow_refusal.hpp"
#include "sim/flow/round_flows.hpp"

namespace dadsim::sim {

/// Factor by which rounding may make equal rates differ.
inline constexpr double kRoundedRates = 1 + 1e-6;

/// Computes the costs of a round's messages, and their rates while they share the network.
class FlowRates {
 public:
  explicit FlowRates(FlowNetwork& ranks) : ranks_(ranks) {}

  /// Sets the messages' bytes on the wire, latencies and least times.
  void prepare(std::vector<RoundFlow>& flows) const;
  /// Sets transfer times if all pairs transfer at the same time throughout.
  void share_once(const FlowPattern& pattern, std::vector<RoundFlow>& flows) const;
  /// Sets transfer times if all pairs begin together, or in turn; finished transfers leave their share to others.
  Refused share_and_finish(const FlowPattern& pattern, std::vector<RoundFlow>& flows) const;
  /// Sets transfer times flow by flow (one per pair), each from its own date.
  Refused share_by_dates(const FlowPattern& pattern, std::vector<RoundFlow>& flows,
                         const std::vector<double>& begins) const;

  /// Returns the seconds of the transfer on links without other flows.
  double alone(const RoundFlow& flow) const;
  bool over_tcp(const RoundFlow& flow) const;
  /// Returns the seconds in doubt over TCP. Costs of sharing assume that all messages of the round are in flight
  /// together; for `seconds`, some may not be.
  double tcp_doubt(const std::vector<RoundFlow>& flows, double seconds) const;
  /// Returns whether sharing slows any transfer.
  bool is_contended(const std::vector<RoundFlow>& flows) const;

 private:
  void prepare_tcp(std::vector<RoundFlow>& flows) const;
  std::vector<double> rates(const FlowPattern& pattern, const std::vector<RoundFlow>& flows,
                            const std::vector<std::size_t>& active) const;

  FlowNetwork& ranks_;
};

}  // namespace dadsim::sim
