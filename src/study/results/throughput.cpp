#include "study/results/throughput.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <variant>

#include "algorithms/registry.hpp"
#include "scenario/document/print.hpp"
#include "scenario/elements/stand_in.hpp"
#include "schedule/op_sizing.hpp"
#include "sim/device.hpp"
#include "sim/simulator.hpp"
#include "spec/timed_workload.hpp"
#include "spec/workload.hpp"
#include "study/setting/cluster_of.hpp"
#include "study/setting/for_each_link.hpp"
#include "study/setting/network_size.hpp"
#include "study/store/memory_store.hpp"

namespace dadsim::study {
namespace {

scenario::Scenario first_alone(const scenario::Scenario& scenario) {
  scenario::Scenario alone = scenario;
  const spec::ParallelismSpec how = scenario.timed_as ? scenario.timed_as->parallelism : spec::ParallelismSpec{};
  const auto kept = static_cast<std::size_t>(std::max(1, how.experts * how.expert_tensor / (how.tensor * how.context)));
  alone.workers.resize(kept);
  if (alone.timed_as) alone.timed_as->parallelism.sharding_group = 0;
  if (!scenario.devices_of_workers.empty()) {
    // Device t of part c in stage p of worker d is number t + T (c + C (d + D p)).
    const auto wide = static_cast<std::size_t>(how.tensor * how.context);
    alone.devices_of_workers.clear();
    for (std::size_t p = 0; p < static_cast<std::size_t>(how.pipeline); ++p) {
      for (std::size_t t = 0; t < wide * kept; ++t)
        alone.devices_of_workers.push_back(scenario.devices_of_workers.at(t + wide * scenario.workers.size() * p));
    }
  }
  if (auto* digits = std::get_if<spec::DigitsSource>(&alone.data.source))
    digits->train = static_cast<std::int64_t>(kept);
  spec::RunSpec run;
  run.algorithm = run.label = algorithms::first_of(algorithms::Sharing::no_sharing).name;
  run.communicates = false;
  alone.runs = {run};
  alone.costs.reset();
  return alone;
}

/// Returns whether the links have the platform's own numbers: no distribution or profile changes them.
bool are_fixed(const spec::PlatformSpec& platform) {
  if (!platform.changes.empty() || !platform.profiles.empty()) return false;
  const auto* federation = std::get_if<spec::FederationSpec>(&platform.what);
  if (federation != nullptr) {
    return std::ranges::all_of(federation->sites,
                               [](const spec::FederationSpec::Sites& sites) { return sites.bandwidth_spread == 0; });
  }
  return std::holds_alternative<spec::GpuClusterSpec>(platform.what) ||
         std::holds_alternative<spec::WanSpec>(platform.what);
}

/// Gives all lines above kQuick the same rate, for the timing of a lone worker, which sends nothing. Keeps slower
/// lines: their rate makes SimGrid merge dates that are otherwise separate.
void forget_quickness(spec::PlatformSpec& platform) {
  constexpr double kQuick = 1e6;  // byte/s, well above the rates that merge dates
  for_each_link(
      platform,
      [](spec::LinkSpec& link) {
        if (link.bandwidth < kQuick) return;
        link.bandwidth = kQuick;
        link.latency = 0;
        link.queue_bytes = 0;  // by default it follows from the bandwidth
      },
      [](spec::WanSpec::Pair& pair) {
        if (pair.bandwidth < kQuick) return;
        pair.bandwidth = kQuick;
        pair.round_trip = 0;
        pair.queue_bytes = 0;
      });
}

/// Returns a hash of all inputs of the step of `alone`.
std::string question_of(scenario::Scenario alone) {
  if (alone.all_devices().size() == 1 && are_fixed(alone.platform)) forget_quickness(alone.platform);
  return fmt::format("{:016x}", scenario::hash_of(alone));
}

/// Returns the undivided network, with whole sequences and all experts. `whole`: with plain attention in place of the
/// timed one.
spec::ModelShape undivided_shape(const std::optional<spec::TimedAsSpec>& timed_as, const TimedAs& timed, bool whole) {
  if (!timed_as || timed_as->workload.empty()) return timed.shape;
  spec::TimedAsSpec asked = *timed_as;
  if (whole) asked.attention = spec::Attention::plain;
  return spec::shape_of_workload(asked);
}

/// Returns the flop/s of all devices that a run uses; none if one does not support the precision.
std::optional<double> peak_of(const scenario::Scenario& scenario, std::size_t devices, spec::Precision precision) {
  double peak = 0;
  for (std::size_t i = 0; i < std::min(devices, scenario.all_devices().size()); ++i) {
    const double own = find_device(scenario.devices, scenario.all_devices()[i].device).peak(precision);
    if (!(own > 0)) return std::nullopt;
    peak += own;
  }
  return peak;
}

/// Returns the reason why devices exceed their peak for the counted work.
report::Statement why_above_peak(const scenario::Scenario& scenario, std::size_t devices, const TimedAs& timed) {
  for (std::size_t i = 0; i < std::min(devices, scenario.all_devices().size()); ++i) {
    const spec::DeviceSpec& device = find_device(scenario.devices, scenario.all_devices()[i].device);
    if (device.step_seconds > 0) return {"measured-step-is-shorter", {device.name}};
    if (std::ranges::any_of(timed.shape.layers, [&](const spec::LayerShape& layer) {
          return sim::filters_minimally(device, layer, timed.precision);
        })) {
      return report::Statement{"fewer-multiplications"}.with("share", device.winograd_share);
    }
  }
  return {"fewer-passes"};
}

/// Explains why a worker's step takes longer alone than with others that it has to wait for.
report::Statement why_above_linear(const std::optional<spec::TimedAsSpec>& timed_as, const StepAlone& alone,
                                   const report::RunResult& run) {
  constexpr double kAsMuch = 0.999;
  if (run.compute_seconds >= kAsMuch * alone.compute_seconds) {
    return report::Statement{"waits-less"}
        .with("alone_seconds", alone.step_seconds - alone.compute_seconds)
        .with("exposed_seconds", run.exposed_seconds);
  }
  const bool sharded = timed_as && timed_as->parallelism.sharding != spec::Sharding::none;
  return report::Statement{sharded ? "update-is-divided" : "computes-less"}
      .with("alone_seconds", alone.compute_seconds)
      .with("compute_seconds", run.compute_seconds);
}

/// Returns the rows of all participants together per step, in samples of the timed workload: the mean over the steps
/// taken.
double mean_rows(const step::Trajectory& trajectory, double sample_scale) {
  std::vector<double> rows;
  for (const step::Step& step : trajectory.distinct_steps) {
    const step::StepSizes sizes = schedule::scale_samples(step.sizes, sample_scale);
    rows.push_back(std::accumulate(sizes.samples.begin(), sizes.samples.end(), 0.0));
  }
  double all = 0;
  for (const std::int32_t step : trajectory.steps) all += rows[static_cast<std::size_t>(step)];
  return all / static_cast<double>(trajectory.steps.size());
}

bool are_alike(const std::vector<spec::Placement>& devices) {
  return std::ranges::all_of(devices, [&](const spec::Placement& one) {
    return one.device == devices.front().device && one.speed == devices.front().speed && one.speed_spread == 0;
  });
}

}  // namespace

StepAlone time_step_alone(const scenario::Scenario& scenario, const TimeAnother& time_another) {
  static AnswerMemory<StepAlone> memory;
  const scenario::Scenario alone = first_alone(scenario);
  return memory.answer(question_of(alone), [&] {
    const report::Result result = time_another(alone);
    return StepAlone{result.runs.front().step_seconds, result.runs.front().compute_seconds};
  });
}

report::Statement recording_of(const report::Result& result) {
  const auto steps = static_cast<double>(scenario::kRecordedSteps);
  if (!result.stand_in) return report::Statement{"recorded-steps"}.with("steps", steps);
  return report::Statement{"stand-in", {result.timed_as}}.with("steps", steps);
}

double model_flops(const spec::ModelShape& shape, double samples) {
  constexpr double kPasses = 3;  // one forward product, two backward products
  double macs = 0;
  for (const spec::LayerShape& layer : shape.layers) macs += layer.forward_macs_per_sample;
  return 2 * kPasses * macs * samples;
}

void add_throughput(const scenario::Scenario& scenario, const Learned& learned, const TimedAs& timed,
                    const TimeAnother& time_another, report::Result& result) {
  const std::optional<double> tokens = scenario.timed_as ? tokens_per_sample(*scenario.timed_as) : std::nullopt;
  const double flops = model_flops(undivided_shape(scenario.timed_as, timed, true), 1);  // per sample
  const double masked = model_flops(undivided_shape(scenario.timed_as, timed, false), 1);
  std::optional<StepAlone> alone;
  // Scenarios in which no run communicates are not timed again: their steps are computing alone.
  const bool some_share = std::ranges::any_of(scenario.runs, &spec::RunSpec::communicates);
  const bool scales =
      some_share && learned.nothing && scenario.stand_in && !timed.recorded && are_alike(scenario.all_devices());
  if (scales && scenario.workers.size() > 1) alone = time_step_alone(scenario, time_another);
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    report::RunResult& run = result.runs[i];
    if (run.spec.event_driven || !(run.step_seconds > 0)) continue;
    report::Throughput& throughput = run.throughput.emplace();
    throughput.samples = mean_rows(learned.runs[i]->trajectory, timed.sample_scale) / run.step_seconds;
    if (tokens) throughput.tokens = *tokens * throughput.samples;
    const bool islands = has_islands(scenario, run.spec);
    const std::size_t devices = islands ? scenario.all_devices().size() : run.workers;
    const std::optional<double> peak = peak_of(scenario, devices, timed.precision);
    if (peak && flops > 0) throughput.model_flops_utilisation = flops * throughput.samples / *peak;
    if (throughput.model_flops_utilisation && masked < flops)
      throughput.masked_flops_utilisation = masked * throughput.samples / *peak;
    const double done = throughput.masked_flops_utilisation.value_or(throughput.model_flops_utilisation.value_or(0));
    if (done > 1) throughput.above_peak = why_above_peak(scenario, devices, timed);
    if (!scales || !run.spec.communicates) continue;
    throughput.scaling_efficiency = alone ? alone->step_seconds / run.step_seconds : 1;
    if (*throughput.scaling_efficiency > 1) throughput.above_linear = why_above_linear(scenario.timed_as, *alone, run);
  }
}

}  // namespace dadsim::study
