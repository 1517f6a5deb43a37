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

/// Seconds of a step in which one of its causes takes no time, all else as it is; none: not known.
struct SecondsWithout {
  std::optional<double> computing = {}, network = {}, framework = {};
};

/// The same of one of several steps, by its place among them.
struct StepWithout {
  std::uint64_t place = 0;
  SecondsWithout seconds = {}, cold = {};  ///< cold: on connections that are new, where that makes a difference
};

/// Cuts what each cause has of the critical path down to what the step saves without it. What is left over is overlap:
/// without one of the causes another one takes that time.
void hold_to_savings(const SecondsWithout& without, step::StepTiming& timing);
/// The same of a step like one that took `seconds`, of which `without` is: in proportion.
void hold_to_savings(SecondsWithout without, double seconds, step::StepTiming& timing);

/// A run is `times` such steps, the first of them on new connections, `cold` seconds long, the others `warm`. Lets the
/// other kind of steps bear it where the one takes longer without a cause, as over TCP, so that shares of the run stay
/// below what the run saves.
void weigh_first_step(StepWithout& without, double cold, double warm, double times);

/// The same nodes with devices that compute in no time. Hosts take what they take to launch kernels.
class InstantNodes {
 public:
  explicit InstantNodes(const Nodes& as);
  Nodes nodes;

 private:
  static constexpr double kNoTime = 1e-6;                   ///< of the seconds of computations
  std::vector<std::unique_ptr<spec::DeviceSpec>> devices_;  ///< that differ
};

/// Simulates a step message by message, as links are now. `layout` is of the schedule's workers. Returns its seconds,
/// and those of the same before it on connections that were new.
std::pair<double, double> seconds_now(const Nodes& nodes, Connections& connections,
                                      const collectives::RankLayout& layout, const schedule::Schedule& schedule,
                                      const std::vector<double>& slowdown);

/// Tells by the closed form what a step saves that took `seconds` on a network which differs from step to step.
SecondsWithout without_by_closed_form(const Nodes& nodes, Interconnect& network, const collectives::RankLayout& layout,
                                      const schedule::Schedule& schedule, const std::vector<double>& slowdown,
                                      double seconds);

}  // namespace dadsim::sim
