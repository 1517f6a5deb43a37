#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/study_options.hpp"
#include "report/explain/comparison.hpp"
#include "scenario/document/load.hpp"
#include "study/explain/explain.hpp"
#include "study/setting/catalog.hpp"
#include "support/thread_limit.hpp"

namespace dadsim::cli {
namespace {

/// Returns for example "nic=200Gbps" of "platform.gpu-cluster.nic=200Gbps".
std::string end_of_path(const std::string& change) {
  const std::size_t equals = std::min(change.find('='), change.size());
  const std::size_t dot = change.rfind('.', equals);
  return dot == std::string::npos ? change : change.substr(dot + 1);
}

}  // namespace

void run_compare(const po::variables_map& values) {
  const std::vector<std::string> operands = operands_of(values, 2, "two scenarios");
  std::vector<std::string> against;
  if (values.contains("against")) against = values["against"].as<std::vector<std::string>>();
  if (operands.empty()) throw UsageError("no scenario is named; dadsim compare a.xml b.xml, or see --help");
  if (operands.size() == 1 && against.empty())
    throw UsageError("nothing to compare with; add a second scenario, or --against PATH=VALUE");
  const StudyOptions options = study_options_of(values, "compare", 2);
  std::vector<OutputFiles::Named> inputs;
  for (const std::string& operand : operands) inputs.push_back({"a scenario", operand});
  const StudyFiles files(values, inputs);

  const auto load = [&](const std::string& path, const std::vector<std::string>& overrides) {
    const bool timing_only = values.contains("timing-only");
    scenario::Scenario scenario = scenario::load_scenario(
        path, overrides, timing_only ? study::make_catalog_without_learning() : study::make_catalog());
    scenario.timing_only = scenario.timing_only || timing_only;
    return scenario;
  };
  const scenario::Scenario before = load(operands.front(), options.overrides);
  std::vector<std::string> overrides = options.overrides;
  for (const std::string& one : against) overrides.push_back("--against " + one);
  const scenario::Scenario after = load(operands.back(), overrides);
  files.check_against_inputs();
  std::vector<std::string> names;
  if (operands.size() == 2) names.push_back(operands.back());
  for (const std::string& change : against) names.push_back(end_of_path(change));

  const ThreadLimit limit(threads_to_use(options.threads));
  const report::Comparison comparison =
      study::compare_scenarios(before, after, fmt::format("{}", fmt::join(names, ", ")), !options.quiet);
  files.write(document_of(comparison));
}

}  // namespace dadsim::cli
