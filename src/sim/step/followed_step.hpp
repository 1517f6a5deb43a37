#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"
#include "sim/network/flow_events.hpp"
#include "sim/step/flow_collectives.hpp"
#include "sim/step/node_seconds.hpp"
#include "sim/step/step_semantics.hpp"

namespace dadsim::sim {

/// The collectives of a step, followed message by message all together: a rank that is early in one meets, on the links
/// that they share, those who are still in the one before. It is what replaying the step comes to, without SimGrid, at
/// a microsecond a message.
class FollowedStep {
 public:
  static constexpr double kMostMessages = 2.5e6;  ///< that are followed, some 40 bytes each

  FollowedStep(const Parts& parts, const schedule::Schedule& schedule, FlowCollectives& collectives)
      : parts_(parts), schedule_(schedule), collectives_(collectives) {}

  /// Whether the step is one for this: replicas are of one device each, all of them are in each collective, which are
  /// eager, messages are not too many, and devices copy nothing to their hosts beside it.
  bool serves(bool with_framework);
  /// Takes what nodes compute from `seconds`.
  void run(Interconnect& network, NodeSeconds& seconds);

  /// When each worker is through with the collective that is this task, seconds.
  const std::vector<double>& through(std::size_t task) const { return through_[number_of_[task]]; }
  /// Of the worker that ends last: what it waited for in the network.
  const SpentSeconds& spent() const { return spent_; }

 private:
  /// What a worker does between two collectives: it computes, or waits for one of those before.
  struct Action {
    std::size_t compute = 0;  ///< in seconds_
    std::size_t wait = 0;     ///< collective
    enum class Kind : std::uint8_t { compute, wait, begin } kind = Kind::begin;
  };
  /// The compute stream of a worker: where it is in the actions, since when, and the message that let it.
  struct Stream {
    std::size_t next = 0;
    FlowEvents::Moment at;
  };

  void list_actions(NodeSeconds& seconds);
  FlowEvents::Moment go_on(std::size_t worker, std::size_t collective, const FlowEvents::Moment& through);

  const Parts& parts_;
  const schedule::Schedule& schedule_;
  FlowCollectives& collectives_;
  std::vector<const FlowPart*> sequence_;  ///< per collective
  std::vector<std::size_t> number_of_;     ///< per task, if it is a collective
  std::vector<Action> actions_;
  std::vector<std::vector<double>> seconds_;       ///< of computing, per worker
  std::vector<Stream> streams_;                    ///< per worker
  std::vector<std::vector<double>> through_;       ///< per collective and worker
  std::vector<std::vector<std::int32_t>> causes_;  ///< the message that let it be through
  SpentSeconds spent_;
};

}  // namespace dadsim::sim
