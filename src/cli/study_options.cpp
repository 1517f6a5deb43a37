#include "cli/study_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "cli/arguments.hpp"
#include "cli/dask_client.hpp"
#include "support/atomic_file.hpp"
#include "support/thread_limit.hpp"

namespace dadsim::cli {

namespace {

std::vector<OutputFiles::Named> all_of(std::vector<OutputFiles::Named> outputs,
                                       const std::vector<OutputFiles::Named>& written) {
  outputs.insert(outputs.end(), written.begin(), written.end());
  return outputs;
}

}  // namespace

StudyFiles::StudyFiles(const po::variables_map& values, std::vector<OutputFiles::Named> read,
                       const std::vector<OutputFiles::Named>& written)
    : json_(text_of(values, "json")),
      csv_(text_of(values, "csv")),
      page_(text_of(values, "report")),
      plots_(text_of(values, "plots")),
      verbose_(values.contains("verbose")),
      quiet_(values.contains("quiet")),
      outputs_(all_of({{"--json", json_}, {"--csv", csv_}, {"--report", page_}}, written), std::move(read)) {
  outputs_.check_writable();
  OutputFiles::check_folder(plots_);
}

void StudyFiles::write(const report::Document& document, const report::About& about) const {
  if (!json_.empty()) write_file_atomically(json_, to_json(document));
  if (!csv_.empty()) write_file_atomically(csv_, to_csv(document));
  if (!page_.empty()) write_file_atomically(page_, to_html(document, about));
  if (!plots_.empty()) outputs_.write_into("--plots", plots_, plots_of(document));
  if (!quiet_ && !outputs_.take_standard_output()) print(summary_of(document, verbose_));
}

std::size_t threads_of(const po::variables_map& values) {
  return static_cast<std::size_t>(
      value_of<std::int64_t>(values, "threads", scenario::integer(1, kMostThreads)).value_or(0));
}

std::size_t threads_to_use(std::size_t asked) {
  return asked > 0 ? asked : std::max(1U, std::thread::hardware_concurrency());
}

std::vector<std::string> overrides_of(const po::variables_map& values) {
  std::vector<std::string> overrides;
  if (values.contains("set")) overrides = values["set"].as<std::vector<std::string>>();
  if (const auto seed = value_of<std::uint64_t>(values, "seed", scenario::seed()))
    overrides.push_back(fmt::format("seed={}", *seed));
  return overrides;
}

StudyOptions study_options_of(const po::variables_map& values, const std::string& command, std::size_t most_operands) {
  const std::vector<std::string> operands = operands_of(values, most_operands, "name one scenario at a time");
  if (operands.empty()) {
    throw UsageError(fmt::format("no scenario is named; dadsim {0} scenario.xml, or see dadsim {0} --help", command));
  }
  StudyOptions options;
  options.scenario = operands[0];
  options.overrides = overrides_of(values);
  options.threads = threads_of(values);
  options.quiet = values.contains("quiet");
  return options;
}

void run_learning_study(const po::variables_map& values, const std::string& command, const LearningStudy& study) {
  const StudyOptions options = study_options_of(values, command);
  const StudyFiles files(values, {{"the scenario", options.scenario}});
  const scenario::ScenarioSource source(options.scenario);
  const ThreadLimit limit(threads_to_use(options.threads));
  TasksElsewhere tasks(text_of(values, "on"), options.scenario);
  const auto on_read = [&] {
    files.check_against_inputs();
    tasks.start();
  };
  const report::Document found = study(source, options, on_read, tasks.queue());
  files.check_against_inputs();  // also files that changes of the study name
  files.write(found, report::About{.scenario = source.text(), .set = options.overrides});
}

}  // namespace dadsim::cli
