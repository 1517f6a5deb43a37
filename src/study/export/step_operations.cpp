#include "study/export/step_operations.hpp"

#include <fmt/format.h>

#include "sim/operations.hpp"
#include "study/layer_choices/layer_choices.hpp"
#include "study/setting/outages_of.hpp"
#include "study/setting/timed_as.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {

step::StepOperations operations_of_step(const scenario::Scenario& scenario, const Learned& learned,
                                        const sim::Cluster& cluster, std::size_t run, std::int64_t number) {
  const spec::RunSpec& asked = scenario.runs.at(run);
  if (asked.event_driven) {
    throw InputError({scenario.file, 0, fmt::format("run '{}' is event-driven and has no steps", asked.label),
                      "choose a run that takes steps"});
  }
  if (learns_on_cluster(scenario, asked)) {
    throw InputError({scenario.file, 0,
                      fmt::format("run '{}' goes on without absent sites, so the participants of a step depend on time",
                                  asked.label),
                      "set absent=\"wait\", or failures=\"none\" and availability=\"none\""});
  }
  if (has_islands(scenario, asked)) {
    throw InputError({scenario.file, 0,
                      fmt::format("run '{}' has islands, whose devices are simulated apart", asked.label),
                      "choose a run without islands, among peers"});
  }
  const LearnedRunPtr& known = learned.runs.at(run);
  const auto steps = static_cast<std::int64_t>(known->trajectory.steps.size());
  if (number < 1 || number > steps) {
    throw InputError({scenario.file, 0, fmt::format("run '{}' has no step {}", asked.label, number),
                      fmt::format("use a step from 1 to {}", steps)});
  }
  const TimedAs timed = timed_as_of(scenario, learned.runs.front()->shape, learned.runs.front()->rows);
  const std::vector<step::Assignment> assignment =
      choose_alternatives(asked, known->trajectory, known->shape, timed, cluster);
  const ScheduleMemory::Pointer schedules =
      learned.schedules->of(asked, {known, &known->trajectory}, known->shape, timed, assignment);
  const auto index = static_cast<std::size_t>(known->trajectory.steps[static_cast<std::size_t>(number - 1)]);
  return sim::operations_of(cluster, schedules->schedules[index]);
}

}  // namespace dadsim::study
