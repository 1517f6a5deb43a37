#include "study/results/assumptions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "protocols/registry.hpp"
#include "sim/device.hpp"
#include "sim/platform.hpp"
#include "study/results/throughput.hpp"
#include "study/setting/device_lookup.hpp"
#include "study/setting/outages_of.hpp"

namespace dadsim::study {
namespace {

/// Of event-driven runs.
std::vector<report::Statement> assumptions_of_events(const std::vector<spec::RunSpec>& runs) {
  report::Statement statement{"event-driven"};
  for (const spec::RunSpec& run : runs) {
    if (run.event_driven) statement.subjects.push_back(run.label);
  }
  if (statement.subjects.empty()) return {};
  return {std::move(statement)};
}

/// What is taken for the framework of runs that exchange something by one: event-driven ones always, others where the
/// scenario names it.
std::optional<report::Statement> framework_of(const spec::FrameworkSpec& framework,
                                              const std::vector<spec::RunSpec>& runs) {
  const bool none = framework.none() && framework.computing == 1;
  const auto uses = [&](const spec::RunSpec& run) { return run.event_driven || (!none && run.communicates); };
  if (std::ranges::none_of(runs, uses)) return std::nullopt;
  report::Statement statement{"framework", {none ? "none" : framework.in_words()}};
  const spec::FrameworkFacts* facts = spec::find_framework(framework.name, framework.version);
  if (facts != nullptr) statement = statement.with("date", facts->date).with("source", facts->source);
  return statement;
}

/// What runs minimise, where sites have unequal samples and that makes a difference.
std::optional<report::Statement> objectives(const scenario::Scenario& scenario, const models::Partition* partition) {
  if (partition == nullptr || partition->size() < 2) return std::nullopt;
  const auto [least, most] = std::ranges::minmax(*partition, {}, [](const auto& site) { return site.size(); });
  if (least.size() == most.size()) return std::nullopt;
  std::vector<std::string> said;
  for (const auto& [objective, runs] : objectives_of(scenario.runs, scenario.training))
    said.push_back(fmt::format("{} ({})", objective, fmt::join(runs, ", ")));
  return report::Statement{"objectives-differ"}
      .with("objectives", std::move(said))
      .with("least", static_cast<double>(least.size()))
      .with("most", static_cast<double>(most.size()));
}

}  // namespace

std::map<std::string, std::vector<std::string>> objectives_of(const std::vector<spec::RunSpec>& runs,
                                                              const spec::TrainingSpec& training) {
  std::map<std::string, std::vector<std::string>> labels;
  for (const spec::RunSpec& run : runs) {
    const methods::MethodInfo* info = protocols::find_method(run.algorithm);
    if (info == nullptr || !info->communicates() || info->one_objective != nullptr) continue;
    labels[objective_in_words(*info, run, training)].push_back(run.label);
  }
  return labels;
}

std::vector<report::Statement> assumptions_of(const scenario::Scenario& scenario, const report::Result& result,
                                              bool steps_known, const models::Partition* partition) {
  std::vector<report::Statement> assumptions;
  const auto say = [&](report::Statement statement) { assumptions.push_back(std::move(statement)); };
  if (result.timing_only) {
    say(scenario.recorded ? report::Statement{"as-recorded", {scenario.timed_as->own_shape.name}}
                          : recording_of(result));
  } else if (result.timed_as_other) {
    say(report::Statement{"timed-as-other"}
            .with("learned_on", result.learned_on)
            .with("timed_as", result.timed_as)
            .with("steps_known", steps_known));
  }
  const auto gossips = [](const spec::RunSpec& run) { return run.decentralised; };
  const auto learned_first = [](const spec::RunSpec& run) { return !run.event_driven; };
  const auto in_steps = [&](const spec::RunSpec& run) { return !gossips(run) && learned_first(run); };
  if (std::ranges::any_of(scenario.runs, in_steps)) say({"barrier"});
  if (std::ranges::any_of(scenario.runs, gossips)) say({"no-barrier-runs"});
  for (report::Statement& statement : assumptions_of_events(scenario.runs)) say(std::move(statement));
  if (std::optional<report::Statement> statement = framework_of(scenario.framework, scenario.runs))
    say(*std::move(statement));
  if (const spec::JitterSpec& jitter = scenario.network.jitter; !(jitter == spec::JitterSpec{}))
    say(report::Statement{"jitter"}.with("spatial", jitter.spatial).with("temporal", jitter.temporal));
  const auto spreads = [](const spec::Placement& worker) { return worker.speed_spread > 0; };
  if (std::ranges::any_of(scenario.all_devices(), spreads)) say({"speed-spread"});
  const auto misses = [&](const spec::RunSpec& run) { return may_be_absent(scenario, run); };
  const bool missed = std::ranges::any_of(scenario.runs, misses);
  if (missed || std::ranges::any_of(scenario.runs, &spec::RunSpec::event_driven)) say({"outages-are-seen"});
  if (missed) say({"broken-steps"});
  if (std::optional<report::Statement> statement = objectives(scenario, partition)) say(*std::move(statement));
  const bool failing = !scenario.failures.none() || !sim::state_profiles(scenario.platform).empty();
  if (failing && std::ranges::any_of(scenario.runs, [](const spec::RunSpec& run) { return !run.communicates; })) {
    say({"failures-of-others"});
  }
  if (scenario.evaluation && std::ranges::any_of(scenario.runs, learned_first)) say({"corrections"});
  if (scenario.network.rendezvous) say({"rendezvous"});
  if (spec::has_goodput_lines(scenario.platform)) {
    say(report::Statement{"goodput"}
            .with("window", scenario.network.window)
            .with("streams", static_cast<double>(scenario.network.streams)));
  }
  std::set<std::string> used;
  for (const spec::Placement& worker : scenario.all_devices()) used.insert(worker.device);
  if (scenario.aggregator) used.insert(scenario.aggregator->device);
  const spec::Precision precision = scenario.timed_as ? scenario.timed_as->precision : spec::Precision::fp32;
  for (const std::string& name : used) {
    const spec::DeviceSpec& device = find_device(scenario.devices, name);
    if (scenario.recorded && !(device.step_seconds > 0)) continue;
    say(device.step_seconds > 0
            ? report::Statement{"measured-device", {name}}.with("step_seconds", device.step_seconds)
            : report::Statement{"roofline", {name}}.with("rates", rates_in_words(device, precision)));
  }
  return assumptions;
}

}  // namespace dadsim::study
