#include "study/setting/scale_setting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "algorithms/registry.hpp"
#include "spec/workload.hpp"
#include "study/setting/network_size.hpp"
#include "support/parse_whole.hpp"
#include "support/whole_file.hpp"

namespace dadsim::study {
namespace {

constexpr const char* kLadder = "use a file written by `dadsim scale-study scenario.xml --json FILE`";

/// Returns the number of steps to the target that the scenario itself gives; none if it gives none.
std::optional<estimate::KnownSteps> own_steps(const spec::TimedAsSpec& timed, std::int64_t batch,
                                              std::int64_t dataset_size) {
  estimate::KnownSteps known;
  known.batch = batch;
  known.target = timed.target;
  if (timed.steps) {
    known.steps = *timed.steps;
    known.source = report::Statement{"steps-as-said"}.with("steps", known.steps);
  } else if (timed.epochs) {
    known.steps = std::ceil(*timed.epochs * static_cast<double>(dataset_size) / static_cast<double>(batch));
    known.source = report::Statement{"steps-as-said"}
                       .with("epochs", *timed.epochs)
                       .with("samples_per_epoch", static_cast<double>(dataset_size));
  } else if (timed.samples || timed.tokens) {
    const double sample = timed.samples ? 1 : tokens_per_sample(timed).value();
    const double budget = timed.samples ? *timed.samples : *timed.tokens;
    known.steps = std::ceil(budget / (static_cast<double>(batch) * sample));
    known.source = report::Statement{"budget-as-said"}.with(timed.samples ? "samples" : "tokens", budget);
  } else {
    return std::nullopt;
  }
  known.fewest = known.most = known.steps;
  return known;
}

}  // namespace

spec::ParameterValues settings_of(const spec::RunSpec& run) {
  spec::ParameterValues settings = run.parameters;
  settings["compress"] = run.compress.method;
  for (const auto& [name, value] : run.compress.parameters) settings["compress." + name] = value;
  if (run.compress.method != "none") settings["compress.memory"] = run.compress.memory ? "true" : "false";
  return settings;
}

report::LadderFile read_ladder(const std::string& path) {
  constexpr InputLimit kMost{std::size_t{16} << 20U, kLadder};
  const std::string text = read_input(path, kLadder, kMost);
  try {
    return report::parse_ladder(text);
  } catch (const std::runtime_error& error) {
    throw InputError({path, 0, error.what(), kLadder});
  }
}

std::optional<Fault> fault_of_ladder(const std::string& path) {
  try {
    read_ladder(path);
    return std::nullopt;
  } catch (const InputError& error) {
    const Diagnostic& first = error.diagnostics().front();
    return Fault{fmt::format("{} ('{}')", first.what, path), first.remedy};
  }
}

spec::RunSpec reference_run() {
  spec::RunSpec run;
  run.algorithm = run.label = algorithms::baseline().name;
  run.exchange = spec::ExchangeMode::peer;
  return run;
}

std::optional<std::size_t> reference_run_of(const std::vector<spec::RunSpec>& runs) {
  const auto run = std::ranges::find_if(runs, [](const spec::RunSpec& one) {
    return one.algorithm == algorithms::baseline().name && one.compress.method == "none";
  });
  if (run == runs.end()) return std::nullopt;
  return static_cast<std::size_t>(run - runs.begin());
}

bool needs_reference(const scenario::Scenario& scenario) {
  const bool compared =
      scenario.scale_study || std::ranges::any_of(scenario.runs, [](const auto& run) { return !run.event_driven; });
  return compared && !reference_run_of(scenario.runs);
}

std::optional<report::ScaleSetting> scale_setting(const scenario::Scenario& scenario) {
  const bool other = scenario.timed_as && scenario.timed_as->of_other_network();
  if (!other && scenario.training.seeds == 1 && scenario.training.further_targets.empty()) return std::nullopt;
  report::ScaleSetting setting;
  setting.seeds = scenario.training.seeds;
  const auto workers = static_cast<std::int64_t>(scenario.workers.size());
  setting.batch = (scenario.timed_as ? scenario.timed_as->batch : scenario.training.batch) * workers;
  if (!other) {
    setting.why_not = report::Statement{"own-network-timed"};
    return setting;
  }
  const spec::TimedAsSpec& timed = *scenario.timed_as;
  setting.charges = {timed.evaluation_every, timed.evaluation_seconds, timed.start_up};
  const spec::Workload* workload = timed.file.empty() ? spec::workload_registry().find(timed.workload) : nullptr;
  setting.workload = workload != nullptr ? workload->name : timed.own_shape.name;
  setting.known =
      own_steps(timed, setting.batch, workload != nullptr ? workload->dataset_size : timed.own_dataset_size);
  if (setting.known) return setting;
  if (workload == nullptr) {
    setting.why_not = report::Statement{"own-workload"};
    return setting;
  }
  const auto sequence = timed.sizes.find("sequence");
  estimate::KnownStepsAnswer answer = estimate::published_steps(
      *workload, setting.batch,
      {.adapters = timed.adapters > 0,
       .sequence = sequence == timed.sizes.end() ? 0 : parse_whole<std::int64_t>(sequence->second, 0).value_or(0)});
  setting.known = std::move(answer.known);
  setting.why_not = std::move(answer.why_not);
  return setting;
}

}  // namespace dadsim::study
