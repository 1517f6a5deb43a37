#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/collective.hpp"
#include "schedule/schedule.hpp"
#include "sim/network/connection.hpp"
#include "sim/step/nodes.hpp"
#include "step/timing.hpp"

namespace dadsim::sim {

/// Seconds of a step if one of its causes takes no time and all else is unchanged; nothing: unknown.
struct SecondsWithout {
  std::optional<double> computing = {}, network = {}, framework = {};
};

/// Seconds of one of several steps without its causes. `place`: index of the step.
struct StepWithout {
  std::uint64_t place = 0;
  SecondsWithout seconds = {}, cold = {};  ///< cold: on new connections, if different
};

/// Reduces each cause's share of the critical path to the time that the step saves without the cause. The remainder is
/// overlap, in which another cause takes the time.
void hold_to_savings(const SecondsWithout& without, step::StepTiming& timing);
/// Reduces the shares of a step that is similar to the one described by `without`, which takes `seconds`; in
/// proportion.
void hold_to_savings(SecondsWithout without, double seconds, step::StepTiming& timing);

/// Balances the steps of a run: the first on new connections, `cold` seconds long, the others `warm`; `times` in all.
/// If one kind takes longer without a cause, as over TCP, the other kind makes up for it. Shares of the run then stay
/// below what the run saves.
void weigh_first_step(StepWithout& without, double cold, double warm, double times);

/// A copy of nodes whose devices compute in no time. Hosts still take time to launch kernels.
class InstantNodes {
 public:
  explicit InstantNodes(const Nodes& as);
  Nodes nodes;

 private:
  static constexpr double kNoTime = 1e-6;                   ///< share of the seconds of computations
  std::vector<std::unique_ptr<spec::DeviceSpec>> devices_;  ///< distinct devices
};

/// Simulates a step message by message, with the present links. `layout`: of the schedule's workers. Returns its
/// seconds on warm connections, and those of the same step before it on new ones.
std::pair<double, double> seconds_now(const Nodes& nodes, Connections& connections,
                                      const collectives::RankLayout& layout, const schedule::Schedule& schedule,
                                      const std::vector<double>& slowdown);

/// Estimates by the closed form how long a step of `seconds` takes without each cause, on a network that differs from
/// step to step.
SecondsWithout without_by_closed_form(const Nodes& nodes, Interconnect& network, const collectives::RankLayout& layout,
                                      const schedule::Schedule& schedule, const std::vector<double>& slowdown,
                                      double seconds);

}  // namespace dadsim::sim
