#include "study/setting/timed_as.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "algorithms/registry.hpp"
#include "methods/divides_step.hpp"
#include "models/optimizer.hpp"
#include "spec/device_part.hpp"
#include "spec/expert_parallel.hpp"
#include "spec/payload_specification.hpp"
#include "spec/program.hpp"
#include "spec/tiles.hpp"
#include "spec/timed_workload.hpp"
#include "study/setting/cluster_of.hpp"
#include "support/human.hpp"
#include "support/split.hpp"

namespace dadsim::study {
namespace {

void at_least(double seconds, step::StepTiming& timing) {
  const double longer = seconds - timing.seconds;
  if (!(longer > 0)) return;
  timing.seconds = seconds;
  timing.exposed_seconds += longer;
  // The input alone bounds the step; without other bounds it would take as long.
  timing.bounds = {{"", "overlap", seconds - longer, 1 - longer / seconds},
                   {"input", "bandwidth", longer, longer / seconds}};
  std::ranges::stable_sort(timing.bounds, std::ranges::greater{}, &step::Bound::seconds);
}

double seconds_of_input(const TimedAs& timed, const step::Step& step) {
  std::int32_t most = 0;
  for (const std::int32_t samples : step.sizes.samples) most = std::max(most, samples);
  return most * timed.sample_scale / timed.input_rate;
}

}  // namespace

std::string describe_network(const std::string& name, const spec::ModelShape& shape, std::int64_t batch) {
  return fmt::format("{} ({} parameters), batch {} per worker", name, human_count(shape.parameters()), batch);
}

namespace {

/// Returns the payload's seconds of a local step; 0 if a device has a measured step time.
double step_seconds_of(const scenario::Scenario& scenario) {
  const auto is_measured = [&](const spec::Placement& worker) {
    return find_device(scenario.devices, worker.device).step_seconds > 0;
  };
  return std::ranges::any_of(scenario.workers, is_measured) ? 0 : scenario.payload.step_seconds;
}

double saved_numbers_of(spec::FrameworkSpec::Sends sends, const spec::OptimizerSpec& optimizer,
                        const spec::ModelShape& shape) {
  if (sends == spec::FrameworkSpec::Sends::parameters) return 0;
  double numbers = spec::saved_beside_parameters(shape);
  if (sends == spec::FrameworkSpec::Sends::optimizer) {
    numbers += estimate::optimizer_state(optimizer, shape);
  }
  return numbers;
}

/// Sets the optimizer's state with 16-bit weights, and the bytes that an update moves. Masters and moments are read and
/// written; with masters, a 16-bit copy is also written.
void take_states(const spec::TimedAsSpec& asked, const spec::OptimizerSpec& optimizer, TimedAs& timed) {
  constexpr double kFloat = 4;  // bytes
  constexpr double kScaled = 1 + 4.0 / 256;
  const double weight = bytes_per_element(asked.precision);
  const bool as_weights =
      asked.moments == spec::Moments::weights || (asked.moments == spec::Moments::automatic && asked.no_masters);
  if (asked.no_masters) timed.states.master = 0;
  if (as_weights) timed.states.moment = weight;
  if (asked.moments == spec::Moments::bits8) timed.states.moment = kScaled;
  const auto parameters = static_cast<double>(std::max<std::int64_t>(1, timed.shape.parameters()));
  const double moments = estimate::optimizer_state(optimizer, timed.shape) / parameters;
  const double less = (asked.no_masters ? 2 * kFloat - weight : 0) + 2 * moments * (kFloat - timed.states.moment);
  const double searched = asked.loss_scaling ? weight : 0;  // gradients are read in one pass
  timed.update_share = 1 + (searched - less) / (kFloat * models::update_floats_per_parameter(optimizer));
}

}  // namespace

TimedAs timed_as_of(const scenario::Scenario& scenario, const spec::ModelShape& learned, double rows) {
  if (rows == 0) rows = static_cast<double>(scenario.training.batch);
  TimedAs timed;
  timed.shape = learned;
  timed.description = learned.name;
  timed.batch = scenario.training.batch;
  if (scenario.timed_as) {
    const spec::TimedAsSpec& asked = *scenario.timed_as;
    if (!asked.file.empty()) {
      timed.shape = asked.own_shape;
      timed.description = asked.own_shape.name;
    } else if (!asked.workload.empty()) {
      timed.shape = spec::shape_of_workload(asked);
      timed.description = asked.workload;
      std::string sizes;
      for (const auto& [name, value] : asked.sizes) sizes += fmt::format(", {} {}", name, value);
      if (!sizes.empty()) timed.description += fmt::format(" with {}", sizes.substr(2));
    }
    timed.batch = asked.batch;
    timed.sample_scale = static_cast<double>(asked.batch) /
                         (asked.of_other_network() ? rows : static_cast<double>(scenario.training.batch));
    timed.precision = asked.precision;
    timed.parallelism = asked.parallelism;
    if (asked.wide_gradients)
      timed.gradient_width = spec::bytes_per_element(spec::Precision::fp32) / bytes_per_element(asked.precision);
    timed.input_rate = asked.input_rate;
    take_states(asked, scenario.training.optimizer, timed);
  }
  timed.rows = timed.sample_scale * rows;
  timed.recorded = scenario.recorded;
  if (timed.recorded) {
    timed.description = fmt::format("the recorded step '{}', {} samples per worker", timed.shape.name, timed.batch);
  } else if (scenario.payload.bytes > 0) {
    timed.shape = spec::payload_shape(scenario.payload.bytes);
    timed.description = "a payload of " + human_bytes(scenario.payload.bytes);
    timed.step_seconds = step_seconds_of(scenario);
  } else {
    timed.description = describe_network(timed.description, timed.shape, timed.batch);
  }
  if (!(scenario.payload.bytes > 0))  // a payload has no saved numbers
    timed.saved_numbers = saved_numbers_of(scenario.framework.sends, scenario.training.optimizer, timed.shape);
  timed.shape = spec::with_divided_sequences(std::move(timed.shape), timed.parallelism.context);
  if (scenario.timed_as) {
    timed.shape = spec::with_tiles(std::move(timed.shape), timed.parallelism, samples_at_once(timed));
    const spec::TimedAsSpec& asked = *scenario.timed_as;
    timed.shape = spec::with_program(std::move(timed.shape), asked.program, asked.precision, asked.operator_seconds);
    if (timed.parallelism.sequence_parallel)
      timed.shape = spec::with_divided_program(std::move(timed.shape), asked.precision, timed.parallelism.tensor);
  }
  if (timed.parallelism.experts > 1)
    timed.shape = spec::with_divided_experts(std::move(timed.shape), timed.parallelism, scenario.workers.size());
  if (timed.precision != spec::Precision::fp32) timed.description += fmt::format(", in {}", to_string(timed.precision));
  if (timed.gradient_width > 1) timed.description += " with gradients in fp32";
  if (const std::string how = in_words(timed.parallelism); !how.empty()) timed.description += ", " + how;
  if (timed.states.master == 0) timed.description += ", without fp32 masters";
  if (scenario.timed_as && !spec::writes_scores(scenario.timed_as->attention))
    timed.description += ", with flash attention";
  if (scenario.timed_as && scenario.timed_as->program != spec::Program::typical)
    timed.description += fmt::format(", {}", to_string(scenario.timed_as->program));
  if (scenario.timed_as && scenario.timed_as->adapters > 0) {
    timed.description += fmt::format(
        ", with adapters of rank {} next to {}", scenario.timed_as->adapters,
        scenario.timed_as->adapted == spec::Adapted::all ? "frozen weights" : "frozen weights of attention");
  }
  return timed;
}

bool has_islands(const scenario::Scenario& scenario, const spec::RunSpec& run) {
  const spec::ParallelismSpec how = scenario.timed_as ? scenario.timed_as->parallelism : spec::ParallelismSpec{};
  const bool several = scenario::devices_of_participant(scenario, run) > 1;
  if (run.event_driven) return spec::takes_islands(run.parameters) && (several || how.offload != spec::Offload::none);
  if (spec::islands_of(run.parameters) > 0 && several) return true;
  const methods::MethodInfo* info = algorithms::algorithm_registry().find(run.algorithm);
  return info != nullptr && how.divides() && !methods::divides_step(*info, run, how);
}

TimedAs whole_network(scenario::Scenario scenario, const TimedAs& timed, const spec::ModelShape& learned) {
  if (scenario.timed_as) scenario.timed_as->parallelism = {};
  return timed_as_of(scenario, learned, timed.rows / timed.sample_scale);
}

double samples_at_once(const TimedAs& timed) {
  const std::int64_t micro = timed.parallelism.micro_batch;
  return static_cast<double>(micro > 0 ? std::min(micro, timed.batch) : timed.batch);
}

bool sums_in_fp32(const spec::RunSpec& run, const TimedAs& timed) {
  const methods::MethodInfo* info = algorithms::algorithm_registry().find(run.algorithm);
  return timed.gradient_width > 1 && info != nullptr && info->sends_gradients;
}

namespace {

const char* order_in_words(spec::PipelineOrder order) {
  using enum spec::PipelineOrder;
  return order == one_f_one_b   ? ", 1F1B"
         : order == gpipe       ? ", GPipe"
         : order == zero_bubble ? ", ZB-H1"
                                : ", DualPipeV";
}

}  // namespace

std::string in_words(const spec::ParallelismSpec& how) {
  std::vector<std::string> parts;
  if (how.devices() > 1) {
    parts.push_back(fmt::format("a worker of {} devices ({} to a layer{}{} × {} stages{}{})", how.devices(), how.tensor,
                                how.sequence_parallel ? " and along the sequence" : "",
                                how.context > 1 ? fmt::format(" × {} parts of a sequence", how.context) : "",
                                how.pipeline, how.interleave > 1 ? fmt::format(" of {} pieces", how.interleave) : "",
                                how.pipeline == 1 ? "" : order_in_words(how.order)));
  }
  if (how.tensor_overlap == spec::TensorOverlap::backward)
    parts.emplace_back("exchanges of a layer overlap weight gradients");
  if (how.tensor_overlap == spec::TensorOverlap::products) parts.emplace_back("exchanges of a layer overlap products");
  if (how.experts > 1)
    parts.push_back(fmt::format(
        "experts divided among {} {}", how.experts,
        how.expert_tensor > 1 ? fmt::format("groups of {} devices", how.expert_tensor) : std::string("devices")));
  if (how.expert_dispatch == spec::ExpertDispatch::fp8) parts.emplace_back("rows to experts in fp8");
  if (how.expert_exchange == spec::ExpertExchange::once)
    parts.emplace_back("each row sent once to a device with its experts");
  if (how.expert_overlap) parts.emplace_back("rows to experts while another micro-batch is computed");
  if (how.expert_launch == spec::ExpertLaunch::counted) parts.emplace_back("experts launched one by one");
  if (how.expert_capacity > 0)
    parts.push_back(fmt::format("rows beyond {:.3g} times the mean dropped", how.expert_capacity));
  if (how.expert_imbalance > 1)
    parts.push_back(fmt::format("{:.3g} times the mean of rows at the device with most", how.expert_imbalance));
  if (how.micro_batch > 0) parts.push_back(fmt::format("micro-batches of {}", how.micro_batch));
  if (how.recomputation == spec::Recomputation::selective)
    parts.push_back(fmt::format("{} computed again", fmt::join(words_of(to_text(how.recomputed_parts)), " and ")));
  if (how.recomputation == spec::Recomputation::operations)
    parts.emplace_back("every second product of a block computed again");
  if (how.recomputation == spec::Recomputation::full) parts.emplace_back("blocks computed again");
  if (how.sharding == spec::Sharding::optimizer) parts.emplace_back("workers divide the optimizer's state");
  if (how.sharding == spec::Sharding::gradients) parts.emplace_back("workers divide optimizer and gradients");
  if (how.sharding == spec::Sharding::parameters)
    parts.emplace_back("workers divide optimizer, gradients and parameters");
  if (how.sharding_group > 0) parts.back() += fmt::format(", {} of them each", how.sharding_group);
  if (how.deferred_sums == spec::DeferredSums::replicas)
    parts.emplace_back("sums among groups with the last micro-batch");
  if (how.deferred_sums == spec::DeferredSums::all) parts.emplace_back("sums of gradients with the last micro-batch");
  if (how.loss_parts > 1) parts.push_back(fmt::format("the loss in {} parts", how.loss_parts));
  if (how.feed_forward_parts > 1)
    parts.push_back(fmt::format("feed-forward networks in {} parts", how.feed_forward_parts));
  const std::string share = how.offload_share < 1 ? fmt::format("{:.3g} of ", how.offload_share) : "";
  if (how.offloads_optimizer()) parts.push_back(share + "the optimizer on the host");
  if (how.offloads_activations()) parts.push_back(share + "activations on the host until the backward pass");
  return fmt::format("{}", fmt::join(parts, ", "));
}

void limit_by_input(const TimedAs& timed, const step::Trajectory& trajectory, sim::TimedRun& timings) {
  if (!(timed.input_rate > 0)) return;
  for (std::size_t i = 0; i < timings.steps.size(); ++i)
    at_least(seconds_of_input(timed, trajectory.distinct_steps[i]), timings.steps[i]);
  if (timings.first && !trajectory.distinct_steps.empty())
    at_least(seconds_of_input(timed, trajectory.distinct_steps.front()), *timings.first);
  double end = 0;
  double added = 0;
  for (double& step : timings.first_steps) {
    const double own = step - end;
    end = step;
    added += std::max(0.0, seconds_of_input(timed, trajectory.distinct_steps.front()) - own);
    step += added;
  }
}

std::optional<report::Statement> input_assumption(const std::optional<spec::TimedAsSpec>& timed_as) {
  if (!timed_as || !(timed_as->input_rate > 0)) return std::nullopt;
  return report::Statement{"input-rate"}.with("samples_per_second", timed_as->input_rate);
}

}  // namespace dadsim::study
