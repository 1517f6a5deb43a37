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
