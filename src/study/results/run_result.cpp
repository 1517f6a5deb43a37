#include "study/results/run_result.hpp"

#include <limits>
#include <utility>

#include "algorithms/registry.hpp"
#include "report/run/divergence.hpp"
#include "study/layer_choices/layer_choices.hpp"
#include "study/results/arrivals.hpp"
#include "study/results/costs.hpp"
#include "study/results/notes.hpp"
#include "study/results/throughput.hpp"
#include "study/results/time_at_scale.hpp"
#include "study/results/time_bands.hpp"
#include "study/results/transfer.hpp"

namespace dadsim::study {
namespace {

/// The timelines with the dates of their steps.
std::vector<report::TracedStep> traced_steps(const TimedSteps& run) {
  std::vector<report::TracedStep> traced;
  double date = 0;
  std::int64_t done = 0;
  auto timeline = run.timings.timelines.begin();
  for (const std::int64_t step : existing_steps(run.trajectory, run.traced_steps)) {
    for (; done < step - 1; ++done) {
      const auto index = static_cast<std::size_t>(run.trajectory.steps[static_cast<std::size_t>(done)]);
      date += (done == 0 && run.timings.first ? *run.timings.first : run.timings.steps[index]).seconds;
    }
    traced.push_back(
        {step, step == 1 && run.timings.first, date, step == 1 ? run.timings.first_timeline : *timeline++});
  }
  return traced;
}

/// Of a run that was learned first: also where its evaluations are finite still.
std::optional<report::Divergence> divergence_of(const step::Trajectory& trajectory,
                                                const std::vector<report::CurvePoint>& curve) {
  if (trajectory.diverged_at == 0) return report::divergence_of(curve);
  return report::Divergence{trajectory.diverged_at, curve.front().loss, std::numeric_limits<double>::quiet_NaN()};
}

/// Devices that the run is timed on.
std::size_t devices_of(const ResultContext& context, const spec::RunSpec& run) {
  const bool pooled = algorithms::algorithm_registry().at(run.algorithm).sharing == algorithms::Sharing::pooled;
  return pooled ? static_cast<std::size_t>(context.timed.parallelism.devices()) : context.scenario.all_devices().size();
}

void add_memory(const RunMemory& memory, report::RunResult& result) {
  result.memory = memory.use;
  result.device_memory = memory.available;
}

}  // namespace

std::vector<std::int64_t> existing_steps(const step::Trajectory& trajectory, const std::vector<std::int64_t>& steps) {
  std::vector<std::int64_t> existing = steps;
  std::erase_if(existing, [&](std::int64_t step) { return step > static_cast<std::int64_t>(trajectory.steps.size()); });
  return existing;
}

report::RunResult result_of_steps(const ResultContext& context, std::size_t i, const TimedSteps& run) {
  const auto& [scenario, learned, timed, cluster, memory, time_another] = context;
  const step::Trajectory& trajectory = learned.runs[i]->trajectory;
  report::RunResult result =
      report::summarise(scenario.runs[i], run.trajectory, run.timings.steps, devices_of(context, scenario.runs[i]),
                        scenario.training.target_accuracy, run.timings.first, run.timings.stand_for);
  result.network = run.timings.network;
  result.traced = traced_steps(run);
  result.statistics = statistics_of(trajectory, run.assignment, timed.shape);
  result.first_steps = run.timings.first_steps;
  if (!learned.nothing) {
    result.divergence = divergence_of(trajectory, result.curve);
    annotate_transfer(scenario, learned, i, timed, result);
  }
  add_memory(memory[i], result);
  return result;
}

report::RunResult result_of_events(const ResultContext& context, std::size_t i, report::EventDrivenRun run) {
  report::RunResult result =
      report::summarise(context.scenario.runs[i], std::move(run), context.scenario.training.target_accuracy);
  if (!context.learned.nothing) result.divergence = report::divergence_of(result.curve);
  add_memory(context.memory[i], result);
  return result;
}

void complete(const ResultContext& context, const std::optional<report::ScaleSetting>& scale, report::Result& result) {
  const auto& [scenario, learned, timed, cluster, memory, time_another] = context;
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    add_band(scenario, timed, cluster, result.runs[i]);
    result.runs[i].is_baseline = result.runs[i].spec.algorithm == algorithms::baseline().name;
    result.runs[i].exact = learns_the_pooled_gradient(result.runs[i].spec);
    result.runs[i].seed_scatter = seed_scatter_of(result.runs[i].spec, result.runs[i].exact);
    if (!learned.nothing) add_arrivals(learned, i, scenario.training.target_accuracy, result.runs[i]);
  }
  if (scale && learned.nothing) add_scale_by_definition(scenario, *scale, result);
  if (scale && !learned.nothing) add_scale(scenario, *scale, learned, result);
  add_throughput(scenario, learned, timed, time_another, result);
  add_costs(scenario, result);
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    result.runs[i].notes = notes_of({result.runs[i], *learned.runs[i], timed, result.timed_as_other, learned.nothing});
  }
}

}  // namespace dadsim::study
