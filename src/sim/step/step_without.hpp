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

/// Seconds of a step of the run without its causes. `place`: index of the step.
struct StepWithout {
  std::uint64_t place = 0;
  SecondsWithout seconds = {}, cold = {};  ///< `cold`: seconds on new connections, if different
};

/// Reduces each cause's share of the critical path to the time that the step saves without the cause. The remainder
/// becomes overlap, in which other causes take the time.
void hold_to_savings(const SecondsWithout& without, step::StepTiming& timing);
/// Reduces the shares of `timing` like those of a similar step that `without` describes and that takes `seconds`. Times
/// of the similar step are scaled to the length of this one.
void hold_to_savings(SecondsWithout without, double seconds, step::StepTiming& timing);

/// Balances the two kinds of steps of a run: the first on new connections, `cold` seconds long, the others `warm`;
/// `times` in all. If steps of one kind take longer without a cause, as over TCP, the savings of the other kind are
/// reduced. Shares of the run then stay below the time saved in the run.
void weigh_first_step(StepWithout& without, double cold, double warm, double times);

/// A copy of nodes with devices that compute in no time. Hosts still take time to launch kernels.
class InstantNodes {
 public:
  explicit InstantNodes(const Nodes& as);
  Nodes nodes;

 private:
  static constexpr double kNoTime = 1e-6;                   ///< factor on the seconds of computations
  std::vector<std::unique_ptr<spec::DeviceSpec>> devices_;  ///< distinct devices
};

/// Simulates a step message by message, with the present links. `layout`: that of the schedule's workers. Returns the
/// step's seconds on warm connections, and the seconds of the same step before it on new ones.
std::pair<double, double> seconds_now(const Nodes& nodes, Connections& connections,
                                      const collectives::RankLayout& layout, const schedule::Schedule& schedule,
                                      const std::vector<double>& slowdown);

/// Estimates, by the closed form, the seconds of a step of `seconds` without each cause, on a network that differs from
/// step to step.
SecondsWithout without_by_closed_form(const Nodes& nodes, Interconnect& network, const collectives::RankLayout& layout,
                                      const schedule::Schedule& schedule, const std::vector<double>& slowdown,
                                      double seconds);

}  // namespace dadsim::sim
