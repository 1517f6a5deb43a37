#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "estimate/memory.hpp"
#include "report/words/statement.hpp"
#include "scenario/scenario.hpp"
#include "schedule/schedule.hpp"
#include "sim/simulator.hpp"
#include "spec/layer_shape.hpp"
#include "spec/parallelism.hpp"
#include "spec/precision.hpp"
#include "step/trajectory.hpp"

namespace dadsim::study {

/// Network and settings for which steps are timed.
struct TimedAs {
  spec::ModelShape shape;
  std::string description;  ///< network with its batch and precision
  std::int64_t batch = 0;
  double rows = 0;          ///< mean rows per worker in a step with all sites: `batch`, or by the division of data
  double sample_scale = 1;  ///< timed samples ÷ learned samples
  spec::Precision precision = spec::Precision::fp32;
  spec::ParallelismSpec parallelism = {};
  std::int64_t micro_batches = 0;     ///< micro-batches of a step that are simulated; 0: all
  double gradient_width = 1;          ///< bytes of a summed gradient ÷ those of the precision
  double input_rate = 0;              ///< most samples per second per worker; 0: no limit
  estimate::StateWidths states = {};  ///< optimizer bytes per parameter
  double update_share = 1;            ///< bytes moved by an update ÷ those with fp32 masters and moments
  double step_seconds = 0;            ///< payload: seconds of a local step without a measurement
  double saved_numbers = 0;           ///< numbers that a framework sends with a model in addition to parameters
  std::shared_ptr<const schedule::Schedule> recorded;  ///< recorded step; null: it follows from layers
};

/// Returns the timed network. `learned`: the network that learns, which is timed unless the scenario names another one.
/// `rows`: mean batch of a worker while it learns; 0: unknown, so that <training>'s batch is used. The batch of another
/// network is its workers' mean; the learning network's is what <training> asks for.
TimedAs timed_as_of(const scenario::Scenario& scenario, const spec::ModelShape& learned, double rows = 0);

/// Returns whether participants run their passes as groups of devices: islands.
bool has_islands(const scenario::Scenario& scenario, const spec::RunSpec& run);

/// Returns the network whose messages and work are counted outside of islands. Islands send the whole network, however
/// their devices divide it.
TimedAs whole_network(scenario::Scenario scenario, const TimedAs& timed, const spec::ModelShape& learned);

/// Returns for example "MLP 784-256-10 (203,530 parameters), batch 32 per worker".
std::string describe_network(const std::string& name, const spec::ModelShape& shape, std::int64_t batch);

/// Returns the samples that pass through a worker's network together.
double samples_at_once(const TimedAs& timed);

/// Returns whether a run sends gradients, which are wider than other data.
bool sums_in_fp32(const spec::RunSpec& run, const TimedAs& timed);

/// Returns for example "a worker of 64 devices (8 to a layer × 8 stages, 1F1B), micro-batches of 1".
std::string in_words(const spec::ParallelismSpec& how);

/// Lengthens every step to the input time of its largest batch, at TimedAs::input_rate samples per second. Input is
/// read ahead, overlapping with everything else, but a step cannot end before the next batch is present. The added time
/// is exposed, and belongs to the input on the critical path. `timings` are of the trajectory's distinct steps.
void limit_by_input(const TimedAs& timed, const step::Trajectory& trajectory, sim::TimedRun& timings);

/// Returns the assumption about the input, as a sentence; none without a limit.
std::optional<report::Statement> input_assumption(const std::optional<spec::TimedAsSpec>& timed_as);

}  // namespace dadsim::study
