#include "cli/plan_command.hpp"

#include "cli/arguments.hpp"
#include "cli/output_files.hpp"
#include "cli/print.hpp"
#include "cli/study_options.hpp"
#include "cli/usage_words.hpp"
#include "report/html/plan.hpp"
#include "study/planning/plan_scenario.hpp"
#include "support/atomic_file.hpp"
#include "support/progress.hpp"
#include "support/thread_limit.hpp"

namespace dadsim::cli {
namespace {

namespace po = boost::program_options;

po::options_description plan_options() {
  po::options_description options("Options");
  options.add_options()  //
      ("json", po::value<std::string>()->value_name("FILE"),
       "write the same as JSON (docs/plan.md); - is standard output")  //
      ("report", po::value<std::string>()->value_name("FILE"),
       "write the same as a page for a browser (docs/plan.md); - is standard output")  //
      ("verbose", "all assumptions, too");
  add_study_options(options);
  return options;
}

}  // namespace

std::string usage_of_plan() {
  return "dadsim plan [options] scenario.xml\n"
         "finds how the <goal> of a scenario can be reached with the changes that it allows, each answer by a full\n"
         "timing run, with the neighbour that misses it (docs/plan.md).\n\n" +
         words_of_options(plan_options());
}

void run_plan_command(const std::vector<std::string>& arguments) {
  const po::variables_map values = read_arguments(arguments, plan_options());
  if (values.contains("help")) return print(usage_of_plan());
  const StudyOptions options = study_options_of(values, "plan");
  const std::string json = text_of(values, "json");
  const std::string page = text_of(values, "report");
  const OutputFiles outputs({{"--json", json}, {"--report", page}}, {{"the scenario", options.scenario}});
  outputs.check_writable();

  const scenario::ScenarioSource source(options.scenario);
  const ThreadLimit limit(threads_to_use(options.threads));
  const report::PlanReport report =
      study::plan_scenario(source, options.overrides, !options.quiet && standard_error_is_terminal(),
                           [&] { outputs.check_against_inputs(); });
  outputs.check_against_inputs();  // what the changes that the goal allows named besides
  if (!json.empty()) write_file_atomically(json, to_json(report));
  if (!page.empty()) {
    const report::About about{.scenario = source.text(), .set = options.overrides};
    write_file_atomically(page, report::to_html(report, about));
  }
  if (!options.quiet && !outputs.take_standard_output()) print(summary_of(report, values.contains("verbose")));
}

}  // namespace dadsim::cli
