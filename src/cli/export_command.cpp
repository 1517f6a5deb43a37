#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/study_options.hpp"
#include "report/export/operations.hpp"
#include "scenario/document/load.hpp"
#include "scenario/scenario.hpp"
#include "sim/operations.hpp"
#include "sim/simulator.hpp"
#include "step/operations.hpp"
#include "study/layer_choices/layer_choices.hpp"
#include "study/learning/learned.hpp"
#include "study/setting/catalog.hpp"
#include "study/setting/cluster_of.hpp"
#include "study/setting/outages_of.hpp"
#include "study/setting/timed_as.hpp"
#include "support/atomic_file.hpp"
#include "support/diagnostics.hpp"
#include "support/thread_limit.hpp"

namespace dadsim::cli {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000'000'000;

std::size_t run_named(const scenario::Scenario& scenario, const std::string& label) {
  std::vector<std::string> labels;
  for (const spec::RunSpec& run : scenario.runs) labels.push_back(run.label);
  if (label.empty()) {
    if (labels.size() == 1) return 0;
    throw UsageError(fmt::format("--run is missing, and there are {} runs; {}", labels.size(), suggestion("", labels)));
  }
  const auto found = std::ranges::find(labels, label);
  if (found == labels.end()) {
    throw UsageError(fmt::format("--run: there is no '{}'; {}", label, suggestion(label, labels)));
  }
  return static_cast<std::size_t>(found - labels.begin());
}

/// Returns the path of the file with groups.
std::string groups_of(const std::string& chakra) { return chakra + ".groups.json"; }
/// Returns the path of a node's file.
std::string trace_of(const std::string& chakra, std::size_t node) { return fmt::format("{}.{}.et", chakra, node); }

OutputFiles outputs_of(const StudyOptions& options, const std::string& goal, const std::string& chakra,
                       std::size_t nodes) {
  std::vector<OutputFiles::Named> outputs{{"--goal", goal}};
  for (std::size_t node = 0; !chakra.empty() && node < nodes; ++node)
    outputs.push_back({"--chakra", trace_of(chakra, node)});
  if (!chakra.empty()) outputs.push_back({"--chakra", groups_of(chakra)});
  return {std::move(outputs), {{"the scenario", options.scenario}}};
}

/// Returns the operations of step `number` (from 1) of run `run` (from 0) on each node of the cluster. Throws
/// InputError if the run is event-driven or has no such step, SimulationError.
step::StepOperations operations_of_step(const scenario::Scenario& scenario, const study::Learned& learned,
                                        const sim::Cluster& cluster, std::size_t run, std::int64_t number) {
  const spec::RunSpec& asked = scenario.runs.at(run);
  if (asked.event_driven) {
    throw InputError({scenario.file, 0, fmt::format("run '{}' is event-driven and has no steps", asked.label),
                      "choose a run that takes steps"});
  }
  if (study::learns_on_cluster(scenario, asked)) {
    throw InputError({scenario.file, 0,
                      fmt::format("run '{}' goes on without absent sites, so the participants of a step depend on time",
                                  asked.label),
                      "set absent=\"wait\", or failures=\"none\" and availability=\"none\""});
  }
  if (study::has_islands(scenario, asked)) {
    throw InputError({scenario.file, 0,
                      fmt::format("run '{}' has islands, whose devices are simulated apart", asked.label),
                      "choose a run without islands, among peers"});
  }
  const study::LearnedRunPtr& known = learned.runs.at(run);
  const auto steps = static_cast<std::int64_t>(known->trajectory.steps.size());
  if (number < 1 || number > steps) {
    throw InputError({scenario.file, 0, fmt::format("run '{}' has no step {}", asked.label, number),
                      fmt::format("use a step from 1 to {}", steps)});
  }
  const study::TimedAs timed = study::timed_as_of(scenario, learned.runs.front()->shape, learned.runs.front()->rows);
  const std::vector<step::Assignment> assignment =
      study::choose_alternatives(asked, known->trajectory, known->shape, timed, cluster);
  const study::ScheduleMemory::Pointer schedules =
      learned.schedules->of(asked, {known, &known->trajectory}, known->shape, timed, assignment);
  const auto index = static_cast<std::size_t>(known->trajectory.steps[static_cast<std::size_t>(number - 1)]);
  return sim::operations_of(cluster, schedules->schedules[index]);
}

}  // namespace

void run_export(const po::variables_map& values) {
  const StudyOptions options = study_options_of(values, "export");
  const std::string goal = text_of(values, "goal");
  const std::string chakra = text_of(values, "chakra");
  if (goal.empty() && chakra.empty()) throw UsageError("no output is named; add --goal FILE, --chakra NAME or both");
  const std::int64_t step = value_of<std::int64_t>(values, "step", scenario::integer(1, kMostSteps)).value_or(1);
  static_cast<void>(outputs_of(options, goal, chakra, 1));

  scenario::Scenario scenario = scenario::load_scenario(options.scenario, options.overrides, study::make_catalog());
  const std::size_t nodes = scenario.all_devices().size() + (scenario.aggregator ? 1 : 0);
  const OutputFiles outputs = outputs_of(options, goal, chakra, nodes);
  outputs.check_writable();
  scenario.runs = {scenario.runs[run_named(scenario, text_of(values, "run"))]};
  const ThreadLimit limit(threads_to_use(options.threads));
  const bool show_progress = !options.quiet;
  const study::Learned learned = study::learn_scenario(scenario, nullptr, show_progress);
  const step::StepOperations operations = operations_of_step(scenario, learned, study::cluster_of(scenario), 0, step);
  if (operations.nodes.size() > nodes) throw std::logic_error("the step has more nodes than the scenario");
  if (!goal.empty()) write_file_atomically(goal, report::to_goal(operations));
  if (!chakra.empty()) {
    for (std::size_t node = 0; node < operations.nodes.size(); ++node) {
      write_file_atomically(trace_of(chakra, node), report::to_chakra(operations, node));
    }
    if (!report::chakra_groups(operations).empty())
      write_file_atomically(groups_of(chakra), report::to_chakra_groups(operations));
  }
  if (options.quiet || outputs.take_standard_output()) return;
  std::size_t count = 0;
  for (const step::StepOperations::Node& node : operations.nodes) count += node.operations.size();
  print(fmt::format("Step {} of '{}': {} nodes, {} operations.\n", step, scenario.runs[0].label,
                    operations.nodes.size(), count));
}

}  // namespace dadsim::cli
