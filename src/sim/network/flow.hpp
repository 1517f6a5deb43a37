#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "collectives/rounds.hpp"
#include "sim/network/interconnect.hpp"
#include "sim/network/tcp.hpp"

namespace dadsim::sim {

/// Flow fidelity does not hold here; the words say why.
class FlowRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Collectives by flows: the rates at which the pairs of a round share the links are worked out once for all rounds
/// with the same pairs, and the rounds follow from these rates and the latencies. What that takes is that all pairs of
/// a round are at work at the same time, and nobody else: ranks begin together, and the network is idle and steady.
class FlowModel {
 public:
  FlowModel(Interconnect& network, std::vector<simgrid::s4u::Host*> hosts)
      : network_(network), hosts_(std::move(hosts)) {}

  /// Carries out the rounds. `dates`: per rank, when it begins, and afterwards when it is done (seconds). Throws
  /// FlowRefused.
  void run(const collectives::Rounds& rounds, std::vector<double>& dates);

  /// Seconds of the last run by what they were spent on: the latency of a path ("latency", name) or the bandwidth of a
  /// link
  /// ("bandwidth", name), of the pair that took longest in each phase.
  const std::map<std::pair<std::string, std::string>, double>& spent() const { return spent_; }

  /// What the last run carried, per link of the network (those behind the end: nothing).
  const std::vector<LinkLoad>& loads() const { return loads_; }

 private:
  static constexpr std::int64_t kManyInLine = 128;
  /// One pair's message of a round.
  struct Flow {
    collectives::Rank from = 0, to = 0;  ///< rank · lanes + lane
    double bytes = 0;                    ///< payload
    std::int32_t path = 0;
    double share = 1;       ///< of the path's bandwidth that it gets at most
    double wire_bytes = 0;  ///< to transfer
    double before = 0;      ///< seconds from sending to the transfer, if nothing of the pair is on its way
    double in_turn = 0;     ///< tcp: seconds until what leaves the host before it has left
    double seconds = 0;     ///< of the transfer
    double after = 0;       ///< seconds from its end to the delivery
    std::int64_t most_in_line = kManyInLine;  ///< tcp: messages that every pair may have in line at no more cost each
  };

  /// The dates of a rank's lanes stand one after the other, and so do those who send and receive in `flows_`.
  void run_lanes(const collectives::Rounds& rounds, std::vector<double>& dates);
  const simgrid::s4u::Host* host_of(collectives::Rank rank_and_lane) const {
    return hosts_[static_cast<std::size_t>(rank_and_lane / lanes_)];
  }
  void collect(const collectives::Rounds& rounds, std::int64_t round);
  void say_ready(std::vector<double>& dates);
  /// What messages cost on the wire, and how long they take at least.
  void prepare();
  std::vector<double> rates(const std::vector<std::size_t>& flows);
  void share_once();
  void share_and_finish();
  void one_round(std::vector<double>& dates) const;
  void many_rounds(std::int64_t rounds, std::vector<double>& dates);
  void around_rings(std::int64_t rounds, std::vector<double>& dates) const;
  void account(double seconds, std::int64_t rounds);
  void count(std::int64_t rounds);

  Interconnect& network_;
  std::vector<simgrid::s4u::Host*> hosts_;
  collectives::Rank lanes_ = 1;
  bool in_bulk_ = false;
  std::vector<Flow> flows_;
  std::vector<double> floors_;  ///< seconds, per flow
  std::vector<collectives::Transfer> transfers_;
  std::map<std::pair<std::string, std::string>, double> spent_;
  std::vector<LinkLoad> loads_;
};

}  // namespace dadsim::sim
