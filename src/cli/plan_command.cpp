#include <string>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/dask_client.hpp"
#include "cli/print.hpp"
#include "cli/study_options.hpp"
#include "study/planning/plan_scenario.hpp"
#include "support/thread_limit.hpp"

namespace dadsim::cli {
namespace {

namespace po = boost::program_options;

po::options_description plan_options() {
  po::options_description options("Options");
  StudyFiles::add_options(options, "plan.md");
  options.add_options()("on", po::value<std::string>()->value_name("ADDRESS"),
                        "let the workers of Dask learn whose scheduler is there, e.g. tcp://10.0.0.1:8786 "
                        "(docs/many-machines.md)");
  add_study_options(options);
  return options;
}

void run_plan(const po::variables_map& values) {
  const StudyOptions options = study_options_of(values, "plan");
  const StudyFiles files(values, options);

  const scenario::ScenarioSource source(options.scenario);
  const ThreadLimit limit(threads_to_use(options.threads));
  TasksElsewhere tasks(text_of(values, "on"), options.scenario);
  const auto on_read = [&] {
    files.check_against_inputs();
    tasks.start();
  };
  const report::PlanReport report =
      study::plan_scenario(source, options.overrides, !options.quiet, on_read, tasks.queue());
  files.check_against_inputs();  // what the changes that the goal allows named besides
  files.write(document_of(report), report::About{.scenario = source.text(), .set = options.overrides});
}

}  // namespace

Command plan_command() {
  return {"plan",
          "scenario.xml",
          "how its <goal> can be reached (docs/plan.md)",
          Command::Operand::scenario,
          "dadsim plan [options] scenario.xml\n"
          "finds how the <goal> of a scenario can be reached with the changes that it allows, each answer by a full\n"
          "timing run, with the neighbour that misses it (docs/plan.md).\n\n",
          plan_options,
          run_plan};
}

}  // namespace dadsim::cli
