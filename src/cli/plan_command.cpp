#include "cli/commands.hpp"
#include "cli/study_options.hpp"
#include "study/planning/plan_scenario.hpp"

namespace dadsim::cli {
void run_plan(const po::variables_map& values) {
  run_learning_study(
      values, "plan", [](const auto& source, const StudyOptions& options, const auto& on_read, auto* queue) {
        return document_of(study::plan_scenario(source, options.overrides, !options.quiet, on_read, queue));
      });
}

}  // namespace dadsim::cli
