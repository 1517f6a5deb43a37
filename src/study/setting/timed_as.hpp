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

/// Timed network, and the settings of its steps.
struct TimedAs {
  spec::ModelShape shape;
  std::string description;  ///< network with its batch and precision
  std::int64_t batch = 0;
  double rows = 0;          ///< mean rows per worker in a step with all sites: `batch`, or by the division of data
  double sample_scale = 1;  ///< timed samples ÷ learned samples
  spec::Precision precision = spec::Precision::fp32;
  spec::ParallelismSpec parallelism = {};
  std::int64_t micro_batches = 0;     ///< simulated micro-batches of a step; 0: all
  double gradient_width = 1;          ///< width of summed gradients relative to the precision
  double input_rate = 0;              ///< limit of input, samples per second per worker; 0: no limit
  estimate::StateWidths states = {};  ///< bytes of optimizer state per parameter
  double update_share = 1;            ///< bytes moved by an update, relative to fp32 masters and moments
  double step_seconds = 0;            ///< seconds of a local step with a payload, if not measured
  double saved_numbers = 0;           ///< numbers sent with a model in addition to its parameters, by a framework
  std::shared_ptr<const schedule::Schedule> recorded;  ///< recorded step; null: the step follows from the layers
};

/// Returns the timed network. `learned`: the learning network, which is timed unless the scenario names another one.
/// `rows`: mean batch of a learning worker; 0: unknown, so that <training>'s batch is used. If another network is
/// timed, its batch is the mean over its workers; the learning network uses <training>'s.
TimedAs timed_as_of(const scenario::Scenario& scenario, const spec::ModelShape& learned, double rows = 0);

/// Returns whether participants are islands: groups of devices that compute passes together.
bool has_islands(const scenario::Scenario& scenario, const spec::RunSpec& run);

/// Returns the network for messages and work outside of islands. Islands send the whole network, however their devices
/// divide it.
TimedAs whole_network(scenario::Scenario scenario, const TimedAs& timed, const spec::ModelShape& learned);

/// Returns for example "MLP 784-256-10 (203,530 parameters), batch 32 per worker".
std::string describe_network(const std::string& name, const spec::ModelShape& shape, std::int64_t batch);

/// Returns the samples that pass through a worker's network at the same time.
double samples_at_once(const TimedAs& timed);

/// Returns whether a run sends gradients that are wider than its other data (gradient_width above 1).
bool sums_in_fp32(const spec::RunSpec& run, const TimedAs& timed);

/// Returns for example "a worker of 64 devices (8 to a layer × 8 stages, 1F1B), micro-batches of 1".
std::string in_words(const spec::ParallelismSpec& how);

/// Lengthens every step to the time that input needs for its largest batch, at TimedAs::input_rate samples per second.
/// Input is prefetched, so it overlaps with everything else, but a step cannot end before the next batch is present.
/// The added time is exposed, and belongs to the input on the critical path. `timings`: those of the trajectory's
/// distinct steps.
void limit_by_input(const TimedAs& timed, const step::Trajectory& trajectory, sim::TimedRun& timings);

/// Returns the assumption about input as a sentence; none if its rate is unlimited.
std::optional<report::Statement> input_assumption(const std::optional<spec::TimedAsSpec>& timed_as);

}  // namespace dadsim::study
