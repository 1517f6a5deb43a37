#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "report/run/result.hpp"
#include "report/run/sum_over.hpp"

namespace dadsim::report {
namespace {

double mean_of_first(const std::vector<double>& values, std::size_t count) {
  const auto end = values.begin() + static_cast<std::ptrdiff_t>(count);
  return std::accumulate(values.begin(), end, 0.0) / static_cast<double>(count);
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

void check(const step::Trajectory& trajectory, const std::vector<step::StepTiming>& timings, std::size_t workers,
           const std::vector<double>& stand_for) {
  if (workers == 0) throw std::logic_error("a run without workers cannot be summarised");
  if (!stand_for.empty() && stand_for.size() != timings.size()) {
    throw std::logic_error(fmt::format("{} weights for {} timings", stand_for.size(), timings.size()));
  }
  if (timings.size() != trajectory.distinct_steps.size()) {
    throw std::logic_error(
        fmt::format("{} timings for {} distinct steps", timings.size(), trajectory.distinct_steps.size()));
  }
  for (const std::int32_t step : trajectory.steps) {
    if (step < 0 || static_cast<std::size_t>(step) >= timings.size()) {
      throw std::logic_error(fmt::format("step refers to distinct step {} of {}", step, timings.size()));
    }
  }
  for (const step::StepTiming& timing : timings) {
    if (timing.bytes_sent.size() < workers || timing.bytes_received.size() < workers) {
      throw std::logic_error(fmt::format("a timing has {} nodes for {} workers", timing.bytes_sent.size(), workers));
    }
  }
  if (trajectory.curve.empty()) throw std::logic_error("a run without evaluations cannot be summarised");
  const auto not_rising = [](const step::Evaluation& a, const step::Evaluation& b) { return a.step >= b.step; };
  if (std::adjacent_find(trajectory.curve.begin(), trajectory.curve.end(), not_rising) != trajectory.curve.end()) {
    throw std::logic_error("the evaluations of a run are not in the order of their steps");
  }
  if (trajectory.curve.front().step < 0 ||
      trajectory.curve.back().step > static_cast<std::int64_t>(trajectory.steps.size())) {
    throw std::logic_error("an evaluation lies outside the run");
  }
}

/// Converts the dates of the leak's points, which are counted in steps, to seconds.
void date_leak(const step::Trajectory& trajectory, const std::vector<step::StepTiming>& timings,
               const std::optional<step::StepTiming>& first, RunResult& run) {
  if (!run.leak) return;
  std::vector<double> ends{0.0};
  for (std::size_t done = 0; done < trajectory.steps.size(); ++done) {
    const step::StepTiming& timing =
        done == 0 && first ? *first : timings[static_cast<std::size_t>(trajectory.steps[done])];
    ends.push_back(ends.back() + timing.seconds);
  }
  for (step::AdversaryLeak& one : run.leak->adversaries) {
    for (step::LeakPoint& point : one.curve) point.seconds = ends.at(static_cast<std::size_t>(point.step));
  }
}

/// Adds time and bytes to the points of the curve, in one pass over the steps.
void follow_curve(const step::Trajectory& trajectory, const std::vector<step::StepTiming>& timings,
                  const std::optional<step::StepTiming>& first, RunResult& run) {
  std::size_t done = 0;
  double seconds = 0;
  double bytes = 0;
  std::vector<double> each;
  const auto advance_to = [&](std::size_t step) {
    for (; done < step; ++done) {
      const step::StepTiming& timing =
          done == 0 && first ? *first : timings[static_cast<std::size_t>(trajectory.steps[done])];
      seconds += timing.seconds;
      run.slowest_step_seconds = std::fmax(run.slowest_step_seconds, timing.seconds);
      each.push_back(timing.seconds);
      bytes += sum(timing.bytes_sent);
    }
  };
  for (const step::Evaluation& at : trajectory.curve) {
    advance_to(static_cast<std::size_t>(at.step));
    run.curve.push_back({at.step, seconds, at.loss, at.accuracy, at.auc, bytes, {}, at.sites});
  }
  advance_to(trajectory.steps.size());
  run.total_seconds = seconds;
  run.total_bytes = bytes;
  std::ranges::sort(each);
  // Nearest-rank quantile: the least time that so many steps do not exceed.
  const auto percentile = [&](std::size_t percent) { return each[(each.size() * percent + 99) / 100 - 1]; };
  if (each.empty()) return;
  run.step_seconds_p95 = percentile(95);
  run.step_seconds_p99 = percentile(99);
}

/// Averages over the steps. Every distinct timing counts as often as its step occurred; the parts of its time count as
/// often as `stand_for` states, if given.
void average_steps(const step::Trajectory& trajectory, const std::vector<step::StepTiming>& timings,
                   const std::optional<step::StepTiming>& first, const std::vector<double>& stand_for, RunResult& run) {
  if (trajectory.steps.empty()) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    run.step_seconds = run.compute_seconds = run.exposed_seconds = run.first_step_seconds = none;
    run.bytes_up_per_worker = run.bytes_down_per_worker = none;
    run.compression_seconds = run.waiting_seconds = none;
    return;
  }
  std::vector<double> occurrences(timings.size());
  for (const std::int32_t step : trajectory.steps) ++occurrences[static_cast<std::size_t>(step)];
  std::vector<double> weights = stand_for.empty() ? occurrences : stand_for;

  const auto steps = static_cast<double>(trajectory.steps.size());
  std::map<std::array<std::string, 3>, double> path;  // (resource, kind, device) → seconds
  const auto add_bytes = [&](const step::StepTiming& timing, double weight) {
    run.bytes_up_per_worker += weight * mean_of_first(timing.bytes_sent, run.workers);
    run.bytes_down_per_worker += weight * mean_of_first(timing.bytes_received, run.workers);
  };
  const auto add_parts = [&](const step::StepTiming& timing, double weight) {
    run.compute_seconds += weight * timing.compute_seconds;
    run.exposed_seconds += weight * timing.exposed_seconds;
    run.compression_seconds += weight * timing.compression_seconds;
    run.waiting_seconds += weight * timing.waiting_seconds;
    run.busy_seconds.resize(timing.busy_seconds.size());
    for (std::size_t node = 0; node < timing.busy_seconds.size(); ++node)
      run.busy_seconds[node] += weight * timing.busy_seconds[node];
    for (const step::Bound& bound : timing.bounds)
      path[{bound.resource, bound.kind, bound.device}] += weight * bound.seconds;
  };
  if (first) {
    --occurrences[static_cast<std::size_t>(trajectory.steps.front())];
    --weights[static_cast<std::size_t>(trajectory.steps.front())];
    add_bytes(*first, 1 / steps);
    add_parts(*first, 1 / steps);
  }
  for (std::size_t i = 0; i < timings.size(); ++i) {
    if (occurrences[i] > 0) add_bytes(timings[i], occurrences[i] / steps);
    if (weights[i] > 0) add_parts(timings[i], weights[i] / steps);
  }
  run.step_seconds = run.total_seconds / steps;
  run.first_step_seconds = first ? first->seconds : timings[static_cast<std::size_t>(trajectory.steps.front())].seconds;

  for (const auto& [name, seconds] : path) {
    run.bounds.push_back({name[0], name[1], seconds, seconds / run.step_seconds, name[2]});
  }
  std::sort(run.bounds.begin(), run.bounds.end(), [](const step::Bound& a, const step::Bound& b) {
    return std::tie(b.seconds, a.resource, a.kind, a.device) < std::tie(a.seconds, b.resource, b.kind, b.device);
  });
}

/// Averages over the model updates; figures of workers over those that participate in an update.
void average_updates(const EventDrivenResult& event_driven, RunResult& run) {
  const auto updates = static_cast<double>(std::max<std::int64_t>(1, run.steps));
  const auto mean = [&](double step::EventLog::NodeUse::*what) {
    return sum_over(event_driven.log, run.workers, what) / updates / event_driven.taking_part();
  };
  run.bytes_up_per_worker = mean(&step::EventLog::NodeUse::sent);
  run.bytes_down_per_worker = mean(&step::EventLog::NodeUse::received);
  run.step_seconds = run.total_seconds / updates;
  const double first = event_driven.participation.first_update_at;
  run.first_step_seconds = first < 0 ? run.total_seconds : first;
  run.compute_seconds = mean(&step::EventLog::NodeUse::busy);
  run.exposed_seconds = run.step_seconds - run.compute_seconds;
  // The simulation does not separate compression, or waiting for others.
  run.compression_seconds = run.waiting_seconds = std::numeric_limits<double>::quiet_NaN();
  for (const step::EventLog::NodeUse& node : event_driven.log.nodes) run.busy_seconds.push_back(node.busy / updates);
  for (step::LinkUse& use : run.network.link_use) use.bytes_per_step /= updates;
}

/// Fills in when the curve reaches the target, and its best and last accuracy.
void follow_accuracy(double target_accuracy, RunResult& run) {
  const auto reached =
      std::ranges::find_if(run.curve, [&](const CurvePoint& point) { return point.accuracy >= target_accuracy; });
  run.target_reached = reached != run.curve.end();
  if (run.target_reached) {
    run.target_step = reached->step;
    run.target_seconds = reached->seconds;
  }
  run.final_accuracy = run.curve.back().accuracy;
  run.final_auc = run.curve.back().auc;
  run.best_accuracy = std::ranges::max_element(run.curve, {}, &CurvePoint::accuracy)->accuracy;
}

}  // namespace

double RunResult::epochs_at(const CurvePoint& point) const {
  if (point.epochs) return *point.epochs;
  if (steps_per_epoch == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(point.step) / static_cast<double>(steps_per_epoch);
}

std::optional<estimate::Arrival> RunResult::arrival() const {
  if (!target_reached) return std::nullopt;
  const auto reached = std::ranges::find_if(
      curve, [&](const CurvePoint& point) { return point.step == target_step && point.seconds == target_seconds; });
  return estimate::Arrival{reached == curve.begin() ? 0 : std::prev(reached)->seconds, target_seconds,
                           static_cast<double>(target_step)};
}

std::optional<estimate::Band> RunResult::factors() const {
  if (!step_band || !(step_seconds > 0)) return std::nullopt;
  return estimate::Band{step_band->low / step_seconds, step_band->high / step_seconds};
}

RunResult summarise(const spec::RunSpec& spec, const step::Trajectory& trajectory,
                    const std::vector<step::StepTiming>& timings, std::size_t workers, double target_accuracy,
                    const std::optional<step::StepTiming>& first, const std::vector<double>& stand_for) {
  check(trajectory, timings, workers, stand_for);
  RunResult run;
  run.spec = spec;
  run.steps = static_cast<std::int64_t>(trajectory.steps.size());
  run.steps_per_epoch = trajectory.steps_per_epoch;
  run.workers = workers;
  run.ranks = trajectory.ranks;
  run.leak = trajectory.leak;

  follow_curve(trajectory, timings, first, run);
  date_leak(trajectory, timings, first, run);
  average_steps(trajectory, timings, first, stand_for, run);
  follow_accuracy(target_accuracy, run);
  return run;
}

RunResult summarise(const spec::RunSpec& spec, EventDrivenRun from, double target_accuracy) {
  if (from.curve.empty()) throw std::logic_error("a run without evaluations cannot be summarised");
  RunResult run;
  run.spec = spec;
  run.steps_per_epoch = from.steps_per_epoch;
  run.network = std::move(from.network);
  run.curve = std::move(from.curve);
  run.event_driven = std::move(from.event_driven);
  run.evaluation = std::move(from.evaluation);
  run.leak = std::move(from.leak);
  const EventDrivenResult& event_driven = *run.event_driven;
  run.steps = event_driven.participation.updates;
  run.workers = event_driven.workers;
  run.total_seconds = event_driven.log.seconds;
  run.total_bytes = event_driven.bytes_sent();
  average_updates(event_driven, run);
  follow_accuracy(target_accuracy, run);
  return run;
}

}  // namespace dadsim::report
