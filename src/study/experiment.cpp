#include "study/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>

#include "algorithms/registry.hpp"
#include "report/divergence.hpp"
#include "report/trace.hpp"
#include "sim/platform.hpp"
#include "study/alternatives.hpp"
#include "study/arrivals.hpp"
#include "study/assumptions.hpp"
#include "study/carry_over.hpp"
#include "study/costs.hpp"
#include "study/input_limit.hpp"
#include "study/memory_check.hpp"
#include "study/notes.hpp"
#include "study/played_run.hpp"
#include "study/scale.hpp"
#include "study/schedule_memory.hpp"
#include "study/throughput.hpp"
#include "study/time_bands.hpp"
#include "study/timed_as.hpp"
#include "support/human.hpp"
#include "support/interrupt.hpp"
#include "support/progress.hpp"
#include "support/version.hpp"

namespace dadsim::study {
namespace {

/// The steps that are asked for, without those that the run does not have.
std::vector<std::int64_t> steps_of(const step::Trajectory& trajectory, const TraceRequest& trace) {
  std::vector<std::int64_t> steps = trace.steps;
  std::erase_if(steps, [&](std::int64_t step) { return step > static_cast<std::int64_t>(trajectory.steps.size()); });
  return steps;
}

sim::TimedRun time_run(std::span<const step::Schedule> schedules, const step::StepKinds* kinds,
                       const step::Trajectory& trajectory, const sim::Cluster& cluster, const TraceRequest& trace,
                       std::size_t most_spans, const std::function<void(std::size_t)>& progress) {
  sim::TimingRequest request;
  request.kinds = kinds;
  request.occurrences.resize(schedules.size());
  for (const std::int32_t step : trajectory.steps) ++request.occurrences[static_cast<std::size_t>(step)];
  for (const std::int64_t step : steps_of(trajectory, trace)) {
    if (step == 1) {
      request.trace_first = true;
    } else {
      request.trace.push_back(static_cast<std::size_t>(trajectory.steps[static_cast<std::size_t>(step - 1)]));
    }
  }
  request.most_spans = most_spans;
  return time_schedules(cluster, schedules, progress, request);
}

/// The timelines with the dates of their steps.
std::vector<report::TracedStep> traced_steps(const step::Trajectory& trajectory, const sim::TimedRun& timings,
                                             const TraceRequest& trace) {
  std::vector<report::TracedStep> traced;
  double date = 0;
  std::int64_t done = 0;
  auto timeline = timings.timelines.begin();
  for (const std::int64_t step : steps_of(trajectory, trace)) {
    for (; done < step - 1; ++done) {
      const auto index = static_cast<std::size_t>(trajectory.steps[static_cast<std::size_t>(done)]);
      date += (done == 0 && timings.first ? *timings.first : timings.steps[index]).seconds;
    }
    traced.push_back({step, step == 1 && timings.first, date, step == 1 ? timings.first_timeline : *timeline++});
  }
  return traced;
}

/// Of a run that was learned first: also where its evaluations are finite still.
std::optional<report::Divergence> divergence_of(const step::Trajectory& trajectory,
                                                const std::vector<report::CurvePoint>& curve) {
  if (trajectory.diverged_at == 0) return report::divergence_of(curve);
  return report::Divergence{trajectory.diverged_at, curve.front().loss, std::numeric_limits<double>::quiet_NaN()};
}

/// Every training step by itself, so that each is timed at its own date.
step::Trajectory unfolded(const step::Trajectory& trajectory) {
  step::Trajectory result = trajectory;
  result.distinct_steps.clear();
  for (const std::int32_t index : trajectory.steps)
    result.distinct_steps.push_back(trajectory.distinct_steps[static_cast<std::size_t>(index)]);
  std::iota(result.steps.begin(), result.steps.end(), 0);
  return result;
}

std::vector<step::Schedule> unfolded(const std::vector<step::Schedule>& schedules, const step::Trajectory& trajectory) {
  std::vector<step::Schedule> result;
  result.reserve(trajectory.steps.size());
  for (const std::int32_t index : trajectory.steps) result.push_back(schedules[static_cast<std::size_t>(index)]);
  return result;
}

/// A play of which is told how far it is.
PlayOptions watched_by(Progress& progress, const std::string& label) {
  PlayOptions options;
  options.playing = [&progress, &label](double seconds, std::int64_t updates) {
    progress.say([&] {
      return fmt::format("playing {}: {} updates in {} of simulated time", label, human_count(updates),
                         human_seconds(seconds));
    });
  };
  options.learning = [&progress, &label, start = std::optional<std::chrono::steady_clock::time_point>()](
                         std::int64_t done, std::int64_t all) mutable {
    const auto now = std::chrono::steady_clock::now();
    if (!start) start = now;
    const double elapsed = std::chrono::duration<double>(now - *start).count();
    progress.say([&] {
      return fmt::format("learning {}: {} of {} operations, about {} left", label, human_count(done), human_count(all),
                         human_seconds(elapsed * static_cast<double>(all - done) / static_cast<double>(done)));
    });
  };
  return options;
}

/// All that holds for every run.
report::Result preamble(const scenario::Scenario& scenario, const LearnedRun& learned, const TimedAs& timed,
                        const std::vector<RunMemory>& memory, bool steps_known) {
  report::Result result;
  result.version = kVersion;
  result.simgrid = sim::simgrid_version();
  result.network_model = sim::network_model_description();
  result.scenario_name = scenario.name;
  result.seed = scenario.seed;
  result.hash = scenario.hash;
  result.target_accuracy = scenario.training.target_accuracy;
  result.timing_only = scenario.timing_only;
  result.stand_in = scenario.stand_in;
  if (!result.stand_in) {
    result.learned_on = fmt::format(
        "{} on {}", describe_network(learned.shape.name, learned.shape, scenario.training.batch), learned.data);
  }
  result.timed_as_other = scenario.timed_as && scenario.timed_as->of_other_network();
  result.timed_as = scenario.timed_as ? timed.description : result.learned_on;
  for (const spec::LayerShape& layer : learned.shape.layers) {
    if (layer.has_outer_product()) result.layer_names.push_back(layer.name);
  }
  result.assumptions = assumptions_of(scenario, result, steps_known);
  if (learned.has_batch_statistics) {
    result.assumptions.emplace_back(
        "Batch norms use the statistics of each site's own batch, as data parallelism does; pooled uses those of all, "
        "and so its gradient differs. Running statistics are averaged over sites when the network is evaluated, which "
        "is not charged.");
  }
  for (std::string& sentence : memory_assumptions(scenario, memory)) result.assumptions.push_back(std::move(sentence));
  if (std::string sentence = input_assumption(scenario); !sentence.empty())
    result.assumptions.push_back(std::move(sentence));
  if (timed.search_share > 0) {
    result.assumptions.emplace_back(
        "Loss scaling: before each update all gradients are searched for infinities, one pass over them; none is "
        "found, "
        "and no step is left out.");
  }
  if (scenario.timed_as && scenario.timed_as->attention == spec::Attention::flash) {
    result.assumptions.emplace_back(
        "Flash attention: scores of pairs of tokens are neither written nor kept, the backward pass takes five "
        "products "
        "instead of four, and causal attention does half of them (blocks above the diagonal are skipped).");
  }
  if (has_master_copies(timed.precision)) {
    result.assumptions.push_back(fmt::format(
        "In {} gradients, activations and factors take two bytes in memory and on the wire; the optimizer works on "
        "fp32 masters.{}",
        to_string(timed.precision), scenario.timing_only ? "" : " Learning was in fp32."));
  }
  return result;
}

}  // namespace

report::Result untimed_result(const scenario::Scenario& scenario, const Learned& learned) {
  const LearnedRun& any = *learned.runs.front();
  const TimedAs timed = timed_as_of(scenario, any.shape);
  const std::optional<report::ScaleSetting> scale = scale_setting(scenario);
  report::Result result = preamble(scenario, any, timed, memory_of_runs(scenario, any.shape), scale && scale->known);
  result.learning_wall_seconds = learned.wall_seconds;
  if (!learned.other_seeds.empty()) {
    result.assumptions.push_back(fmt::format(
        "Learned with {} seeds, of which the first is timed: a step of the others is taken to last as long.",
        learned.other_seeds.size() + 1));
  }
  return result;
}

report::Result time_scenario(const scenario::Scenario& scenario, const Learned& learned, const sim::Cluster& cluster,
                             bool show_progress, const TraceRequest& trace) {
  const auto start = std::chrono::steady_clock::now();
  const LearnedRun& any = *learned.runs.front();
  const TimedAs timed = timed_as_of(scenario, any.shape);
  const std::vector<RunMemory> memory = memory_of_runs(scenario, any.shape);
  const std::optional<report::ScaleSetting> scale = scale_setting(scenario);
  report::Result result = untimed_result(scenario, learned);
  result.trace_steps = trace.steps;
  const std::size_t traced = std::max<std::size_t>(1, scenario.runs.size() * trace.steps.size());
  const std::size_t most_spans = report::kMostTraceSpans / traced;
  const bool in_order = every_step_differs(cluster);
  Progress progress("timing", scenario.runs.size(), show_progress);
  for (std::size_t i = 0; i < scenario.runs.size(); ++i) {
    const LearnedRun& run = *learned.runs[i];
    if (scenario.runs[i].event_driven) {
      PlayOptions options = watched_by(progress, scenario.runs[i].label);
      options.learns = !learned.nothing;
      if (!trace.steps.empty()) options.most_spans = report::kMostTraceSpans / scenario.runs.size();
      report::RunResult told = play_run(scenario, scenario.runs[i], timed, cluster, *learned.playground, options);
      if (!learned.nothing) told.divergence = report::divergence_of(told.curve);
      told.memory = memory[i].use;
      told.device_memory = memory[i].available;
      result.runs.push_back(std::move(told));
      continue;
    }
    const std::vector<step::Taken> taken =
        choose_alternatives(scenario.runs[i], run.trajectory, run.shape, timed, cluster);
    const ScheduleMemory::Pointer known =
        learned.schedules->of(scenario.runs[i], {learned.runs[i], &run.trajectory}, run.shape, timed, taken);
    std::optional<step::Trajectory> every_step;
    std::vector<step::Schedule> every_schedule;
    if (in_order) every_step = unfolded(run.trajectory);
    if (in_order) every_schedule = unfolded(known->schedules, run.trajectory);
    const step::Trajectory& trajectory = in_order ? *every_step : run.trajectory;
    const auto on_progress = [&](std::size_t done) {
      if (interrupted().load()) throw Cancelled();
      progress.update(i, static_cast<std::int64_t>(done), static_cast<std::int64_t>(trajectory.distinct_steps.size()));
    };
    sim::TimedRun timings =
        in_order ? time_run(every_schedule, nullptr, trajectory, cluster, trace, most_spans, on_progress)
                 : time_run(known->schedules, &known->kinds, trajectory, cluster, trace, most_spans, on_progress);
    if (interrupted().load()) throw Cancelled();
    limit_by_input(timed, trajectory, timings);
    const bool pooled =
        algorithms::algorithm_registry().at(scenario.runs[i].algorithm).sharing == algorithms::Sharing::pooled;
    const auto devices_of_pooled = static_cast<std::size_t>(timed.parallelism.devices());
    report::RunResult told = report::summarise(scenario.runs[i], trajectory, timings.steps,
                                               pooled ? devices_of_pooled : scenario.all_devices().size(),
                                               scenario.training.target_accuracy, timings.first, timings.stand_for);
    told.network = timings.network;
    told.traced = traced_steps(trajectory, timings, trace);
    if (!learned.nothing) told.divergence = divergence_of(run.trajectory, told.curve);
    told.statistics = statistics_of(run.trajectory, taken, timed.shape);
    told.first_steps = timings.first_steps;
    if (!learned.nothing) tell_what_carries_over(scenario, learned, i, timed, told);
    told.memory = memory[i].use;
    told.device_memory = memory[i].available;
    result.runs.push_back(std::move(told));
  }
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    add_band(scenario, timed, cluster, result.runs[i]);
    result.runs[i].exact = learns_the_pooled_gradient(result.runs[i].spec);
    if (!learned.nothing) add_arrivals(learned, i, scenario.training.target_accuracy, result.runs[i]);
  }
  if (scale && learned.nothing) add_scale_by_definition(scenario, *scale, result);
  if (scale && !learned.nothing) add_scale(scenario, *scale, learned, result);
  add_throughput(scenario, learned, timed, result);
  add_costs(scenario, result);
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    result.runs[i].notes = notes_of({result.runs[i], *learned.runs[i], timed, result.timed_as_other, learned.nothing});
  }
  result.timing_wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

report::Result run_experiment(const scenario::Scenario& scenario, bool show_progress, const TraceRequest& trace) {
  return time_scenario(scenario, learn_scenario(scenario, nullptr, show_progress), cluster_of(scenario), show_progress,
                       trace);
}

}  // namespace dadsim::study
