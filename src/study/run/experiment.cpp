#include "study/run/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>

#include "report/export/trace.hpp"
#include "sim/platform.hpp"
#include "spec/tiles.hpp"
#include "study/absence/absence_run.hpp"
#include "study/event_driven/event_driven_run.hpp"
#include "study/event_driven/islands.hpp"
#include "study/layer_choices/layer_choices.hpp"
#include "study/learning/shared_cache.hpp"
#include "study/results/notes.hpp"
#include "study/results/run_result.hpp"
#include "study/run/fewer_micro_batches.hpp"
#include "study/setting/memory_check.hpp"
#include "study/setting/outages_of.hpp"
#include "study/setting/problem_of_run.hpp"
#include "study/setting/scale_setting.hpp"
#include "study/setting/schedule_memory.hpp"
#include "study/setting/timed_as.hpp"
#include "support/human.hpp"
#include "support/interrupt.hpp"
#include "support/progress.hpp"
#include "support/version.hpp"

namespace dadsim::study {
namespace {

sim::TimedRun time_run(std::span<const schedule::Schedule> schedules, const schedule::StepKinds* kinds,
                       const step::Trajectory& trajectory, const sim::Cluster& cluster, const TraceRequest& trace,
                       std::size_t most_spans, const std::function<void(std::size_t)>& progress) {
  sim::TimingRequest request;
  request.kinds = kinds;
  request.occurrences.resize(schedules.size());
  for (const std::int32_t step : trajectory.steps) ++request.occurrences[static_cast<std::size_t>(step)];
  for (const std::int64_t step : existing_steps(trajectory, trace.steps)) {
    if (step == 1) {
      request.trace_first = true;
    } else {
      request.trace.push_back(static_cast<std::size_t>(trajectory.steps[static_cast<std::size_t>(step - 1)]));
    }
  }
  request.most_spans = most_spans;
  return time_schedules(cluster, schedules, progress, request);
}

double work_of(const std::vector<schedule::Schedule>& schedules) {
  constexpr double kLeastDevices = 16;  // smaller tasks cost as much to create, read and schedule
  double work = 0;
  for (const schedule::Schedule& one : schedules) {
    work += static_cast<double>(one.tasks.size()) *
            std::max(kLeastDevices, static_cast<double>(one.workers) / static_cast<double>(one.pipeline));
  }
  return work;
}

/// Times a run by extrapolating two shorter steps. Returns nothing if that is impossible or saves nothing. Throws
/// SimulationError if flow refuses or doubts even the longest steps that `work.most` allows.
std::optional<sim::TimedRun> time_shortened(const spec::RunSpec& run, const ScheduleMemory::TrajectoryPtr& trajectory,
                                            const spec::ModelShape& learned, const TimedAs& timed,
                                            const std::vector<step::Assignment>& assignment,
                                            const sim::Cluster& cluster, SimulationWork& work) {
  constexpr double kTimesInDoubt = 4;  // work factor: a step in doubt is timed several times
  constexpr double kSame = 2.5e-3;     // relative difference of micro-batches that count as equally long
  std::string refused;
  double own = 0;  // work of the most recently timed step
  const auto time = [&](std::int64_t micro_batches, std::int64_t all) -> std::optional<sim::TimedRun> {
    TimedAs shorter = timed;
    shorter.micro_batches = micro_batches;
    const ScheduleMemory::Pointer known = ScheduleMemory().of(run, trajectory, learned, shorter, assignment);
    own = work_of(known->schedules);
    work.done += own;
    work.whole = own * static_cast<double>(all) / static_cast<double>(micro_batches);
    try {
      return time_run(known->schedules, &known->kinds, *trajectory, cluster, {}, 0, [](std::size_t) {
        if (interrupted().load()) throw Cancelled();
      });
    } catch (const sim::SimulationError& error) {  // doubts are a larger share of short steps
      refused = error.what();
      return std::nullopt;
    }
  };
  std::optional<FewerMicroBatches> numbers = fewer_micro_batches(timed, cluster);
  std::optional<sim::TimedRun> few = numbers ? time(numbers->few, numbers->all) : std::nullopt;
  std::optional<double> before;  // seconds of a micro-batch in the previous pair of steps
  while (numbers) {
    std::optional<sim::TimedRun> more = time(numbers->more, numbers->all);
    const std::optional<FewerMicroBatches> next = further(*numbers);
    const double again = next ? own * static_cast<double>(next->more) / static_cast<double>(next->few) : work.whole;
    const bool is_last = work.done + kTimesInDoubt * again > work.most;
    if (few && more) {
      const double of_one = (more->steps.front().seconds - few->steps.front().seconds) /
                            static_cast<double>(numbers->more - numbers->few);
      std::optional<double> apart;
      if (before && of_one > 0) apart = std::abs(of_one / *before - 1);
      if (auto all = continued(*numbers, *few, *more, apart && (is_last || *apart <= kSame) ? apart : std::nullopt))
        return all;
      if (is_last && before)
        throw sim::SimulationError("flow reports a possible error for every step that is short enough to simulate");
      before = of_one;
    } else if (is_last) {
      throw sim::SimulationError(refused);
    }
    work.done += (kTimesInDoubt - 1) * own;
    few = std::move(more);
    numbers = next;
  }
  return std::nullopt;
}

/// Returns the trajectory with every training step separate, so that each is timed at its own date.
step::Trajectory unfolded(const step::Trajectory& trajectory) {
  step::Trajectory result = trajectory;
  result.distinct_steps.clear();
  for (const std::int32_t index : trajectory.steps)
    result.distinct_steps.push_back(trajectory.distinct_steps[static_cast<std::size_t>(index)]);
  std::iota(result.steps.begin(), result.steps.end(), 0);
  return result;
}

std::vector<schedule::Schedule> unfolded(const std::vector<schedule::Schedule>& schedules,
                                         const step::Trajectory& trajectory) {
  std::vector<schedule::Schedule> result;
  result.reserve(trajectory.steps.size());
  for (const std::int32_t index : trajectory.steps) result.push_back(schedules[static_cast<std::size_t>(index)]);
  return result;
}

/// Returns options of a simulation that reports its progress.
EventDrivenOptions watched_by(Progress& progress, const std::string& label) {
  EventDrivenOptions options;
  options.simulating = [&progress, &label](double seconds, std::int64_t updates) {
    progress.say([&] {
      return fmt::format("simulating {}: {} updates in {} of simulated time", label, human_count(updates),
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

/// Returns the parts of a result that are common to all runs.
report::Result preamble(const scenario::Scenario& scenario, const LearnedRun& learned, const TimedAs& timed,
                        const std::vector<RunMemory>& memory, bool steps_known, const models::Partition* partition) {
  report::Result result;
  result.version = kVersion;
  result.simgrid = sim::simgrid_version();
  result.network_model = sim::network_model_description();
  result.scenario_name = scenario.name;
  result.seed = scenario.seed;
  result.hash = scenario.hash;
  result.target_accuracy = scenario.training.target_accuracy;
  result.timing_only = scenario.timing_only;
  result.asked_metric = scenario.metric;
  result.stand_in = scenario.stand_in;
  if (!result.stand_in) {
    result.learned_on = fmt::format(
        "{} on {}", describe_network(learned.shape.name, learned.shape, scenario.training.batch), learned.data);
  }
  result.timed_as_other = scenario.timed_as && scenario.timed_as->of_other_network();
  result.timed_as = scenario.timed_as || result.stand_in ? timed.description : result.learned_on;
  for (const spec::LayerShape& layer : learned.shape.layers) {
    if (layer.has_outer_product()) result.layer_names.push_back(layer.name);
  }
  result.assumptions = assumptions_of(scenario, result, steps_known, partition);
  const auto say = [&](report::Statement statement) { result.assumptions.push_back(std::move(statement)); };
  if (learned.has_batch_statistics) say({"batch-statistics"});
  if (std::ranges::any_of(memory, &RunMemory::some_unknown)) say({"memory-unknown"});
  if (std::optional<report::Statement> statement = input_assumption(scenario.timed_as)) say(*std::move(statement));
  if (scenario.timed_as && scenario.timed_as->of_other_network() && !scenario.recorded &&
      scenario.timed_as->program == spec::Program::typical && scenario.all_devices().front().device == "h100-sxm5" &&
      timed.precision == spec::Precision::bf16)
    say({"program-not-named"});
  if (scenario.timed_as && scenario.timed_as->loss_scaling) say({"loss-scaling"});
  if (scenario.timed_as && !spec::writes_scores(scenario.timed_as->attention)) say({"flash-attention"});
  const auto in_parts = std::ranges::find_if(timed.shape.layers, [](const spec::LayerShape& layer) {
    return spec::keeps_softmax(layer) && layer.sequential > 1;
  });
  if (timed.parallelism.loss_parts == 0 && in_parts != timed.shape.layers.end()) {
    say(report::Statement{"loss-in-parts"}
            .with("parts", static_cast<double>(in_parts->sequential))
            .with("scores", in_parts->outputs_per_sample * samples_at_once(timed) / timed.parallelism.tensor));
  }
  if (has_master_copies(timed.precision)) {
    say(report::Statement{"narrow-numbers"}
            .with("precision", std::string(to_string(timed.precision)))
            .with("masters", timed.states.master > 0)
            .with("learned", !scenario.timing_only));
  }
  return result;
}

/// Times a run whose steps may lack sites. Replaces its learned runs in `learned`, including those of further seeds, if
/// outages change or end them.
report::RunResult run_through_outages(const ResultContext& context, std::size_t i, const sim::Cluster& cluster,
                                      Learned& learned, Progress& progress) {
  const scenario::Scenario& scenario = context.scenario;
  const spec::RunSpec& run = scenario.runs[i];
  const AbsenceRun absence = run_with_absence(
      scenario, run, learned.runs[i], context.timed, cluster, *learned.shared_cache, [&](std::int64_t done) {
        progress.say([&] { return fmt::format("{}: {} steps through outages", run.label, human_count(done)); });
      });
  learned.runs[i] = absence.learned;
  const std::size_t taken = absence.timings.steps.size();
  for (std::size_t seed = 0; absence.counted.stopped && seed < learned.other_seeds.size(); ++seed) {
    LearnedRunPtr& other = learned.other_seeds[seed][i];  // has the first seed's times, and its end
    if (run.absence.goes_without() || other->trajectory.steps.size() <= taken) continue;
    other = learn_first_steps(scenario, run, *other, *learned.shared_cache, scenario.seed + seed + 1,
                              static_cast<std::int64_t>(taken));
  }
  for (std::size_t seed = 0; run.absence.goes_without() && seed < learned.other_seeds.size(); ++seed) {
    learned.other_seeds[seed][i] = learn_with_absence(scenario, run, *learned.other_seeds[seed][i], context.timed,
                                                      cluster, *learned.shared_cache, scenario.seed + seed + 1);
  }
  const std::vector<std::int64_t> traced;
  report::RunResult result =
      result_of_steps(context, i, {absence.trajectory, absence.timings, absence.assignment, traced});
  result.event_driven = absence.counted;
  if (absence.counted.stopped) result.total_bytes = absence.counted.bytes_sent();  // includes tries of the last step
  return result;
}

/// Times a run whose sites are groups of devices (islands).
report::RunResult run_among_islands(const ResultContext& context, std::size_t i, const sim::Cluster& cluster,
                                    const Learned& learned, const TraceRequest& trace, std::size_t most_spans) {
  const scenario::Scenario& scenario = context.scenario;
  const spec::RunSpec& run = scenario.runs[i];
  const LearnedRun& known = *learned.runs[i];
  const std::shared_ptr<const Problem> problem = learned.shared_cache->problem(scenario, scenario.seed);
  const ProblemOfRun own(scenario, run, problem->data, problem->partition, scenario.training, scenario.seed);
  IslandSteps islands(scenario, run, own.asked(), context.timed, context.timed.sample_scale, cluster,
                      learned.shared_cache->islands());
  sim::Cluster outside = outside_of_islands(scenario, run, cluster);
  outside.network.jitter = {};  // the islands' own steps already contain jitter
  const bool in_order = every_step_differs(cluster);
  const step::Trajectory trajectory = in_order ? unfolded(known.trajectory) : known.trajectory;
  std::vector<std::size_t> numbers(trajectory.distinct_steps.size());
  for (std::size_t number = trajectory.steps.size(); number-- > 0;)
    numbers.at(static_cast<std::size_t>(trajectory.steps[number])) = number;
  const std::vector<schedule::Schedule> schedules =
      islands.schedules_among(run, trajectory, numbers, whole_network(scenario, context.timed, known.shape), outside);
  sim::TimedRun timings = time_run(schedules, nullptr, trajectory, outside, trace, most_spans, [](std::size_t) {
    if (interrupted().load()) throw Cancelled();
  });
  TimedAs fed = context.timed;
  fed.input_rate *= static_cast<double>(islands.replicas());
  limit_by_input(fed, trajectory, timings);
  return result_of_steps(context, i, {trajectory, timings, {}, trace.steps});
}

report::Result untimed_result(const scenario::Scenario& scenario, const Learned& learned, const TimedAs& timed,
                              const std::vector<RunMemory>& memory, const std::optional<report::ScaleSetting>& scale) {
  // The samples of sites are needed only if something was learned and runs minimise different objectives.
  std::shared_ptr<const Problem> problem;
  if (!learned.nothing && objectives_of(scenario.runs, scenario.training).size() > 1)
    problem = learned.shared_cache->problem(scenario, scenario.seed);
  report::Result result = preamble(scenario, *learned.runs.front(), timed, memory, scale && scale->known,
                                   problem ? &problem->partition : nullptr);
  result.learning_wall_seconds = learned.wall_seconds;
  if (!learned.other_seeds.empty()) {
    result.assumptions.push_back(
        report::Statement{"first-seed-timed"}.with("seeds", static_cast<double>(learned.other_seeds.size() + 1)));
  }
  return result;
}

}  // namespace

report::ClassTable class_table_of(const scenario::Scenario& scenario, const Learned& learned) {
  report::ClassTable table;
  if (learned.nothing) return table;
  const std::shared_ptr<const Problem> problem = learned.shared_cache->problem(scenario, scenario.seed);
  const models::Samples& train = problem->data.train;
  if (train.labels_per_sample != 1) return table;
  const auto classes = static_cast<std::size_t>(problem->data.classes);
  table.too_many = problem->partition.size() * classes > report::ClassTable::kMostNumbers;
  if (table.too_many) return table;
  for (std::size_t site = 0; site < problem->partition.size(); ++site) {
    std::vector<std::int64_t> counts(classes, 0);
    for (const std::int32_t sample : problem->partition[site])
      ++counts.at(static_cast<std::size_t>(train.labels.at(static_cast<std::size_t>(sample))));
    table.sites.push_back(scenario.workers.at(site).host);
    table.samples.push_back(std::move(counts));
  }
  return table;
}

report::Result untimed_result(const scenario::Scenario& scenario, const Learned& learned) {
  const TimedAs timed = timed_as_of(scenario, learned.runs.front()->shape, learned.runs.front()->rows);
  return untimed_result(scenario, learned, timed, memory_of_runs(scenario, timed), scale_setting(scenario));
}

report::Result time_scenario(const scenario::Scenario& scenario, const Learned& learned_first,
                             const sim::Cluster& cluster, bool show_progress, const TraceRequest& trace,
                             SimulationWork* shortens) {
  const auto start = std::chrono::steady_clock::now();
  Learned learned = learned_first;  // completed by learning on the cluster
  const LearnedRun& any = *learned.runs.front();
  const TimedAs timed = timed_as_of(scenario, any.shape, any.rows);
  const std::vector<RunMemory> memory = memory_of_runs(scenario, timed);
  std::optional<report::ScaleSetting> scale = scale_setting(scenario);
  if (scale) scale->batch = std::llround(timed.rows * static_cast<double>(scenario.workers.size()));
  report::Result result = untimed_result(scenario, learned, timed, memory, scale);
  result.trace_steps = trace.steps;
  const auto time_another = [](const scenario::Scenario& other) { return run_experiment(other, false); };
  const ResultContext context{scenario, learned, timed, cluster, memory, time_another};
  const std::size_t traced = std::max<std::size_t>(1, scenario.runs.size() * trace.steps.size());
  const std::size_t most_spans = report::kMostTraceSpans / traced;
  Progress progress("timing", scenario.runs.size(), show_progress);
  for (std::size_t i = 0; i < scenario.runs.size(); ++i) {
    const LearnedRun& run = *learned.runs[i];
    const sim::Cluster own_cluster = cluster_of_run(cluster, scenario.runs[i]);
    const bool in_order = every_step_differs(own_cluster);
    if (scenario.runs[i].event_driven) {
      EventDrivenOptions options = watched_by(progress, scenario.runs[i].label);
      options.learns = !learned.nothing;
      options.remote = learned.shared_cache->remote();
      if (!trace.steps.empty()) options.most_spans = report::kMostTraceSpans / scenario.runs.size();
      auto remarked = std::make_shared<LearnedRun>(run);
      report::EventDrivenRun simulated = run_event_driven(scenario, scenario.runs[i], timed, own_cluster,
                                                          *learned.shared_cache, options, &remarked->remarks);
      learned.runs[i] = std::move(remarked);
      result.runs.push_back(result_of_events(context, i, std::move(simulated)));
      continue;
    }
    if (may_be_absent(scenario, scenario.runs[i])) {
      result.runs.push_back(run_through_outages(context, i, own_cluster, learned, progress));
      continue;
    }
    if (has_islands(scenario, scenario.runs[i])) {
      result.runs.push_back(run_among_islands(context, i, own_cluster, learned, trace, most_spans));
      continue;
    }
    const std::vector<step::Assignment> assignment =
        choose_alternatives(scenario.runs[i], run.trajectory, run.shape, timed, own_cluster);
    const ScheduleMemory::TrajectoryPtr steps{learned.runs[i], &run.trajectory};
    std::optional<sim::TimedRun> shortened;
    if (shortens != nullptr && !in_order)
      shortened = time_shortened(scenario.runs[i], steps, run.shape, timed, assignment, own_cluster, *shortens);
    if (shortened) {
      limit_by_input(timed, run.trajectory, *shortened);
      result.runs.push_back(result_of_steps(context, i, {run.trajectory, *shortened, assignment, trace.steps}));
      continue;
    }
    const ScheduleMemory::Pointer known = learned.schedules->of(scenario.runs[i], steps, run.shape, timed, assignment);
    if (shortens != nullptr) shortens->done += work_of(known->schedules);
    std::optional<step::Trajectory> every_step;
    std::vector<schedule::Schedule> every_schedule;
    if (in_order) every_step = unfolded(run.trajectory);
    if (in_order) every_schedule = unfolded(known->schedules, run.trajectory);
    const step::Trajectory& trajectory = in_order ? *every_step : run.trajectory;
    const auto on_progress = [&](std::size_t done) {
      if (interrupted().load()) throw Cancelled();
      progress.update(i, static_cast<std::int64_t>(done), static_cast<std::int64_t>(trajectory.distinct_steps.size()));
    };
    const auto simulate = [&] {
      return in_order
                 ? time_run(every_schedule, nullptr, trajectory, own_cluster, trace, most_spans, on_progress)
                 : time_run(known->schedules, &known->kinds, trajectory, own_cluster, trace, most_spans, on_progress);
    };
    sim::TimedRun timings =
        learned.timings && trace.steps.empty() ? learned.timings->of(scenario, i, simulate) : simulate();
    if (interrupted().load()) throw Cancelled();
    limit_by_input(timed, trajectory, timings);
    result.runs.push_back(result_of_steps(context, i, {trajectory, timings, assignment, trace.steps}));
  }
  complete(context, scale, result);
  result.timing_wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

report::Result run_experiment(const scenario::Scenario& scenario, bool show_progress, LearningStore* store) {
  return time_scenario(scenario, learn_scenario(scenario, store, show_progress), cluster_of(scenario), show_progress);
}

}  // namespace dadsim::study
