#include <string>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/dask_client.hpp"
#include "cli/print.hpp"
#include "cli/study_options.hpp"
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

void run_scale_study(const po::variables_map& values) {
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
  files.write(document_of(report), report::About{.scenario = source.text(), .set = options.overrides});
}

}  // namespace

Command scale_study_command() {
  return {"scale-study",
          "scenario.xml",
          "how relative steps move with the size of a network (docs/scale-study.md)",
          Command::Operand::scenario,
          "dadsim scale-study [options] scenario.xml\n"
          "learns the family of networks of the <scale-study> of a scenario, fits how relative steps move with size,\n"
          "tests the fit on the largest, and says what to expect of the workload (docs/scale-study.md).\n\n",
          scale_study_options,
          run_scale_study};
}

}  // namespace dadsim::cli
