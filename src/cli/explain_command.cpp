#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/study_options.hpp"
#include "report/explain/explanation.hpp"
#include "scenario/document/load.hpp"
#include "study/explain/explain.hpp"
#include "study/setting/catalog.hpp"
#include "support/thread_limit.hpp"

namespace dadsim::cli {
void run_explain(const po::variables_map& values) {
  const StudyOptions options = study_options_of(values, "explain");
  const StudyFiles files(values, {{"the scenario", options.scenario}});

  const scenario::ScenarioSource source(options.scenario);
  const scenario::Scenario asked = source.load(options.overrides, study::make_catalog());
  const scenario::Scenario scenario = study::as_explained(asked);
  files.check_against_inputs();
  const ThreadLimit limit(threads_to_use(options.threads));
  const bool show_progress = !options.quiet;
  const study::Learned learned = study::learn_scenario(scenario, nullptr, show_progress);
  report::Explanation explanation = study::explain_scenario(scenario, learned, show_progress);
  if (asked.training.stop != scenario.training.stop && !scenario.timing_only) {
    explanation.notes.push_back({"learned-until-target"});
  }
  if (asked.training.seeds > 1 && scenario.training.seeds == 1 && !scenario.timing_only)
    explanation.notes.push_back(
        report::Statement{"first-seed-explained"}.with("seeds", static_cast<double>(asked.training.seeds)));
  files.write(
      document_of(explanation),
      report::About{
          .description = asked.description, .scenario = source.text(), .set = options.overrides, .classes = {}});
}

}  // namespace dadsim::cli
