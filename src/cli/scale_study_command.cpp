#include "cli/scale_study_command.hpp"

#include <string>

#include "cli/arguments.hpp"
#include "cli/dask_client.hpp"
#include "cli/print.hpp"
#include "cli/study_files.hpp"
#include "cli/study_options.hpp"
#include "cli/usage_words.hpp"
#include "report/html/scale_study.hpp"
#include "study/scale_study/scale_study.hpp"
#include "support/thread_limit.hpp"

namespace dadsim::cli {
namespace {

namespace po = boost::program_options;

po::options_description scale_study_options() {
  po::options_description options("Options");
  StudyFiles::add_options(options, "scale-study.md", "write the same as JSON, which <ladder> reads",
                          "every slope, and why relative steps are missing, too");
  options.add_options()("on", po::value<std::string>()->value_name("ADDRESS"),
                        "let the workers of Dask learn whose scheduler is there, e.g. tcp://10.0.0.1:8786 "
                        "(docs/many-machines.md)");
  add_study_options(options);
  return options;
}

}  // namespace

std::string usage_of_scale_study() {
  return "dadsim scale-study [options] scenario.xml\n"
         "learns the family of networks of the <scale-study> of a scenario, fits how relative steps move with size,\n"
         "tests the fit on the largest, and says what to expect of the workload (docs/scale-study.md).\n\n" +
         words_of_options(scale_study_options());
}

void run_scale_study_command(const std::vector<std::string>& arguments) {
  const po::variables_map values = read_arguments(arguments, scale_study_options());
  if (values.contains("help")) return print(usage_of_scale_study());
  const StudyOptions options = study_options_of(values, "scale-study");
  const StudyFiles files(values, options);

  const scenario::ScenarioSource source(options.scenario);
  const ThreadLimit limit(threads_to_use(options.threads));
  TasksElsewhere tasks(text_of(values, "on"), options.scenario);
  const auto on_read = [&] {
    files.check_against_inputs();
    tasks.start();
  };
  const report::ScaleStudyReport report =
      study::scale_study(source, options.overrides, !options.quiet, on_read, tasks.queue());
  files.write(report, report::About{.scenario = source.text(), .set = options.overrides});
}

}  // namespace dadsim::cli
