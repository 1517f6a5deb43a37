#include "cli/commands.hpp"
#include "cli/study_options.hpp"
#include "study/planning/plan_scenario.hpp"

namespace dadsim::cli {
namespace {

po::options_description plan_options() {
  po::options_description options("Options");
  StudyFiles::add_options(options, "plan.md");
  add_plots_option(options);
  add_on_option(options);
  add_study_options(options);
  return options;
}

void run_plan(const po::variables_map& values) {
  run_learning_study(
      values, "plan", [](const auto& source, const StudyOptions& options, const auto& on_read, auto* queue) {
        return document_of(study::plan_scenario(source, options.overrides, !options.quiet, on_read, queue));
      });
}

}  // namespace

Command plan_command() {
  return {
      "plan",
      "scenario.xml",
      "how to reach its <goal> (docs/plan.md)",
      Command::Operand::scenario,
      "dadsim plan [options] scenario.xml\nsearches how to reach the <goal> of a scenario with the allowed changes. "
      "Each answer comes from a full timing\nrun, next to the nearest setting that misses the goal (docs/plan.md).\n\n",
      plan_options,
      run_plan};
}

}  // namespace dadsim::cli
