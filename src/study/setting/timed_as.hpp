#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "estimate/memory.hpp"
#include "scenario/scenario.hpp"
#include "schedule/schedule.hpp"
#include "spec/layer_shape.hpp"
#include "spec/parallelism.hpp"
#include "spec/precision.hpp"

namespace dadsim::study {

/// What the steps are timed as.
struct TimedAs {
  spec::ModelShape shape;
  std::string description;  ///< the network with its batch and precision
  std::int64_t batch = 0;
  double rows = 0;          ///< of a worker in a step with all there, the mean: `batch`, or as data are dealt
  double sample_scale = 1;  ///< timed samples ÷ learned samples
  spec::Precision precision = spec::Precision::fp32;
  spec::ParallelismSpec parallelism = {};
  double gradient_width = 1;          ///< bytes of a gradient that is summed ÷ those of the precision
  double input_rate = 0;              ///< samples per second of each worker at most; 0: no limit
  estimate::StateWidths states = {};  ///< bytes that the optimizer keeps of a parameter
  double update_share = 1;            ///< bytes that an update moves ÷ those with masters and moments in fp32
  double step_seconds = 0;            ///< of a payload: what a local step takes where no step was measured
  double saved_numbers = 0;           ///< that a framework sends with a model beside its parameters
  std::shared_ptr<const schedule::Schedule>
      recorded;  ///< the step itself, where it was recorded; null: it follows layers
};

/// `learned`: the network that learns, which is what is timed where the scenario names nothing else. `rows`: of a
/// worker's batch while it learns, the mean; 0: not known yet, and the batch that <training> asks for. A batch of
/// another network is what its workers have in the mean, one of the network that learns is what <training> would ask
/// for.
TimedAs timed_as_of(const scenario::Scenario& scenario, const spec::ModelShape& learned, double rows = 0);

/// "MLP 784-256-10 (203,530 parameters), batch 32 per worker".
std::string describe_network(const std::string& name, const spec::ModelShape& shape, std::int64_t batch);

/// Samples that go through the network of a worker together.
double samples_at_once(const TimedAs& timed);

/// Whether what a run hands over are gradients, which are wider than the rest.
bool sums_in_fp32(const spec::RunSpec& run, const TimedAs& timed);

/// "a worker of 64 devices (8 to a layer × 8 stages, 1F1B), micro-batches of 1".
std::string in_words(const spec::ParallelismSpec& how);

}  // namespace dadsim::study
