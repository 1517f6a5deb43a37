#include "study/diagnose/measurement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "scenario/document/load.hpp"
#include "study/measured/collective_times.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "support/human.hpp"

namespace dadsim::study {
namespace {

constexpr double kLeastBytes = 1 << 20;
constexpr std::size_t kMostSizes = 4;

/// Returns the largest number of ranks, up to `devices`, among the tables of a test. Throws InputError if every table
/// has more ranks.
std::size_t ranks_of(const CollectiveLog& log, const std::string& file, const std::string& test, std::size_t devices) {
  std::size_t ranks = 0;
  std::size_t least = 0;
  for (const CollectiveLog::LoggedTable& table : log.tables) {
    if (!test.empty() && !table.test.empty() && table.test != test) continue;
    const std::size_t own = table.ranks.value_or(devices);
    if (own <= devices) ranks = std::max(ranks, own);
    least = least == 0 ? own : std::min(least, own);
  }
  if (ranks == 0 && least > 0)
    throw InputError({file, 0, fmt::format("has {} ranks, but the scenario has {} devices", least, devices),
                      "use a scenario with as many devices as measured ranks"});
  return ranks == 0 ? devices : ranks;
}

}  // namespace

StepWork work_of_step(const report::RunResult& run) {
  StepWork work{.seconds = run.step_seconds};
  if (!run.throughput) return work;
  const auto in_step = [&](double rate) { return rate * work.seconds; };
  work.samples = in_step(run.throughput->samples);
  if (run.throughput->tokens) work.tokens = in_step(*run.throughput->tokens);
  if (const auto& share = run.throughput->model_flops_utilisation) work.seconds_at_peak = in_step(*share);
  return work;
}

double seconds_of(const MeasuredStep& measured, std::int64_t devices, const StepWork& expected,
                  const Diagnostic& unknown, const std::string& source) {
  const auto divided = [&](const std::optional<double>& done, double rate, const char* what) {
    if (!done || !(*done > 0))
      throw InputError({unknown.file, unknown.line, fmt::format("the timed step has no {}", what), unknown.remedy});
    return *done / rate;
  };
  if (measured.step_seconds) return *measured.step_seconds;
  if (measured.tokens_per_second) return divided(expected.tokens, *measured.tokens_per_second, "tokens");
  if (measured.tokens_per_second_per_device)
    return divided(expected.tokens, *measured.tokens_per_second_per_device * static_cast<double>(devices), "tokens");
  if (measured.samples_per_second) return divided(expected.samples, *measured.samples_per_second, "samples a second");
  if (!measured.utilisation) throw InputError({source, 0, "lacks the time of a step", "add --step"});
  return divided(expected.seconds_at_peak, *measured.utilisation, "known utilisation");
}

std::vector<Diagnostic> take_collectives(Measurement& measured, std::optional<report::Operation> operation,
                                         std::size_t devices) {
  if (operation) measured.operation = *operation;
  if (!measured.collective_log) return {};
  const CollectiveLog log = *std::exchange(measured.collective_log, std::nullopt);
  const std::string test = operation ? test_of(*operation) : std::string();
  measured.ranks = ranks_of(log, measured.source, test, devices);
  const CollectiveTimes times = times_of(log, measured.source, test, measured.ranks);
  const auto measures = operation_of_test(times.test);
  if (!measures && !times.test.empty())
    throw InputError({measured.source, 0, fmt::format("measures {}, which is not simulated", times.test),
                      fmt::format("use a log of {}", fmt::join(names_of_tests(), ", "))});
  if (measures) measured.operation = *measures;
  std::vector<CollectiveLog::LoggedRow> rows;
  std::ranges::copy_if(times.rows, std::back_inserter(rows), [](const auto& row) { return row.size >= kLeastBytes; });
  if (rows.empty()) rows = times.rows;
  const std::size_t count = std::min(kMostSizes, rows.size());
  for (std::size_t i = 0; i < count; ++i) {
    const CollectiveLog::LoggedRow& row = rows[count == 1 ? rows.size() - 1 : i * (rows.size() - 1) / (count - 1)];
    measured.collectives.push_back({.bytes = row.size, .seconds = row.seconds});
  }
  std::vector<Diagnostic> told = times.warnings;
  if (times.test.empty())
    told.push_back(
        {measured.source, 0, "does not name its collective", "all-reduce is assumed; name another with --test"});
  return told;
}

FittedSpeed fit_speed(const std::string& file, const MeasuredStep& measured) {
  constexpr int kMostSteps = 8;
  constexpr double kClose = 5e-4;  // share of the measured step
  constexpr double kMostMessages =
      0.5;  // largest share of messages in a step; above it the devices' speed cannot be fitted
  scenario::Scenario scenario = scenario::ScenarioSource(file).load({}, make_catalog_without_learning());
  scenario.timing_only = true;
  const auto refuse = [&](const std::string& what, const std::string& remedy) {
    return InputError({file, 0, what, remedy});
  };
  if (std::ranges::any_of(scenario.workers, [](const spec::Placement& one) { return one.speed != 1; }))
    throw refuse("sets the speed of workers, which the fit determines", "remove speed from <worker>");
  const auto run_at = [&](double speed) {
    for (spec::Placement& worker : scenario.workers) worker.speed = speed;
    return run_experiment(scenario, false).runs.front();
  };
  FittedSpeed fit;
  report::RunResult run = run_at(1);
  fit.predicted = fit.fitted = run.step_seconds;
  fit.measured = seconds_of(measured, 0, work_of_step(run), {file, 0, "", "use the time of a step"}, "--row");
  fit.band = run.factors().value_or(estimate::Band{});
  if (run.step_seconds - run.compute_seconds > kMostMessages * run.step_seconds)
    throw refuse("has a step that mostly waits for messages and computes too little to fit a speed",
                 "use a scenario with fewer devices, and its measured step");
  for (int i = 0; i < kMostSteps && std::abs(std::log(fit.fitted / fit.measured)) > kClose; ++i) {
    const double beside = run.step_seconds - run.compute_seconds;
    if (!(fit.measured > beside))
      throw refuse(fmt::format("has messages of {}, longer than the measured step of {}", human_seconds(beside),
                               human_seconds(fit.measured)),
                   "describe the measured network, or give the time of the same step");
    fit.speed *= run.compute_seconds / (fit.measured - beside);
    if (!(fit.speed >= 0.01 && fit.speed <= 100))
      throw refuse("needs workers over 100 times slower or faster than their device",
                   "name the measured device, and give the time of one step");
    run = run_at(fit.speed);
    fit.fitted = run.step_seconds;
  }
  if (run.step_band) fit.own_band = estimate::band_of(estimate::with_own_step(run.step_band->parts));
  return fit;
}

}  // namespace dadsim::study
