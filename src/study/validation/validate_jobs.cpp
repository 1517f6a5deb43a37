#include "study/validation/validate_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "estimate/bands.hpp"
#include "scenario/document/load.hpp"
#include "scenario/elements/read_parallelism.hpp"
#include "sim/simulator.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "study/trials/outcome.hpp"
#include "support/build.hpp"
#include "support/diagnostics.hpp"
#include "support/progress.hpp"
#include "support/version.hpp"

namespace dadsim::study {
namespace {

constexpr std::size_t kFaultsOfJobs = 20;  // largest number of faults listed

/// Returns the division that a row of a table describes; all other attributes have their defaults.
spec::ParallelismSpec division_of(const MeasuredJob& job) {
  spec::TimedAsSpec timed;
  scenario::Findings findings(job.file);
  for (const char* name : {"micro-batch", "pipeline"}) {
    if (const auto found = job.timed_as.find(name); found != job.timed_as.end())
      scenario::read_timed_as_attribute(name, name, found->second, timed, findings);
  }
  return timed.parallelism;
}

struct PredictedStep {
  StepWork work;
  estimate::Band band, own_band;
  std::string category, network;
};

class JobPredictor {
 public:
  scenario::Scenario load(const MeasuredJob& job, std::int64_t batch) const {
    if (!job.scenario.empty() && !std::filesystem::is_regular_file(job.scenario))
      throw InputError({job.file, job.line, fmt::format("no scenario '{}'", job.scenario),
                        "give a path relative to the folder of this file"});
    try {
      if (!job.scenario.empty()) {
        scenario::Scenario scenario = scenario::ScenarioSource(job.scenario).load_point(job.settings, catalog_);
        scenario.timing_only = true;
        return scenario;
      }
      return scenario::ScenarioSource(job.file, scenario_text_of(job, batch)).load(job.settings, catalog_);
    } catch (const InputError& error) {
      if (!job.scenario.empty()) throw;
      // The fault is in the row, not in the scenario made from it.
      std::vector<Diagnostic> of_row = error.diagnostics();
      for (Diagnostic& one : of_row) {
        one.file = job.file;
        one.line = job.line;
      }
      throw InputError(std::move(of_row));
    }
  }

  /// Predicts a step with many micro-batches from two shorter ones. Once the pipeline is full, each further round of
  /// one micro-batch per stage takes as long as the one before. tests/validation checks this.
  PredictedStep predict(const MeasuredJob& job) {
    const spec::ParallelismSpec how = division_of(job);
    const std::int64_t stages = how.pipeline;
    const std::int64_t first = 2 * stages;
    const std::int64_t micro = how.micro_batch;
    const std::int64_t count = micro > 0 ? job.batch / micro : 1;
    if (!job.scenario.empty() || count <= first + stages) return predict_batch(job, job.batch);
    const double less = predict_batch(job, first * micro).work.seconds;
    PredictedStep step = predict_batch(job, (first + stages) * micro);
    const auto rounds = static_cast<double>(count - first) / static_cast<double>(stages);
    const double more = static_cast<double>(count) / static_cast<double>(first + stages);
    step.work.seconds = less + rounds * (step.work.seconds - less);
    for (std::optional<double>* done : {&step.work.tokens, &step.work.samples, &step.work.seconds_at_peak}) {
      if (*done) **done *= more;
    }
    return step;
  }

 private:
  /// Rows with several measurements of one job are predicted once.
  PredictedStep predict_batch(const MeasuredJob& job, std::int64_t batch) {
    MeasuredJob nameless = job;
    nameless.name = "job";
    std::vector<std::string> asked{job.scenario.empty() ? scenario_text_of(nameless, batch) : job.scenario};
    asked.insert(asked.end(), job.settings.begin(), job.settings.end());
    const Outcome<PredictedStep>& outcome = trials_.outcome_of(asked, [&] {
      const scenario::Scenario scenario = load(job, batch);
      const report::Result result = run_experiment(scenario, false);
      const report::RunResult& run = result.runs.front();
      PredictedStep step{work_of_step(run), run.factors().value_or(estimate::Band{}), {}, {}, {}};
      if (scenario.timed_as) step.network = scenario.timed_as->workload;
      if (run.step_band) step.own_band = estimate::band_of(estimate::with_own_step(run.step_band->parts));
      if (run.step_band && !run.step_band->parts.empty())
        step.category = std::ranges::max(run.step_band->parts, {}, &estimate::TimePart::seconds).category;
      return step;
    });
    if (!outcome.result)
      throw InputError(
          Diagnostic{job.file, job.line, outcome.fault.what, outcome.fault.remedy, outcome.fault.not_built, true});
    return *outcome.result;
  }

  scenario::Catalog catalog_ = make_catalog_without_learning();
  Trials<PredictedStep> trials_;
};

report::ValidatedRow validate_row(JobPredictor& predictor, const MeasuredJob& job) {
  report::ValidatedRow row{.name = job.name, .line = job.line, .devices = job.scenario.empty() ? job.gpus : 0};
  try {
    const PredictedStep step = predictor.predict(job);
    row.predicted = step.work.seconds;
    row.band = step.band;
    row.own_band = step.own_band;
    row.network = step.network;
    row.category = step.category;
    row.measured =
        seconds_of(job.measured, job.gpus, step.work, {job.file, job.line, "", "use the time of a step"}, job.file);
  } catch (const InputError& error) {
    if (!error.is_infeasible()) throw;
    row.refused = Fault{error.diagnostics().front().what, error.diagnostics().front().remedy};
  }
  return row;
}

}  // namespace

report::Validation validate_jobs(const std::vector<MeasuredJob>& jobs, bool show_progress,
                                 const std::function<void()>& on_read) {
  report::Validation validation;
  validation.version = kVersion;
  validation.build = build();
  validation.simgrid = sim::simgrid_version();
  JobPredictor predictor;
  std::vector<Diagnostic> wrong;
  for (const MeasuredJob& job : jobs) {
    if (wrong.size() >= kFaultsOfJobs) break;
    try {
      static_cast<void>(predictor.load(job, job.batch));
    } catch (const InputError& error) {
      if (!error.is_infeasible()) wrong.insert(wrong.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  }
  if (!wrong.empty()) throw InputError(std::move(wrong));
  if (on_read) on_read();

  Progress progress("predicting", 1, show_progress);
  std::int64_t done = 0;
  for (const MeasuredJob& job : jobs) {
    progress.update(0, done++, static_cast<std::int64_t>(jobs.size()));
    auto table = std::ranges::find(validation.tables, job.table, &report::ValidatedTable::name);
    if (table == validation.tables.end()) {
      validation.tables.push_back({.name = job.table, .source = job.file});
      table = validation.tables.end() - 1;
    }
    table->rows.push_back(validate_row(predictor, job));
  }
  return validation;
}

}  // namespace dadsim::study
