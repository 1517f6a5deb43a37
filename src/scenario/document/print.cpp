#include "scenario/document/print.hpp"

#include <fmt/format.h>

#include "scenario/document/load.hpp"
#include "scenario/elements/elements.hpp"
#include "scenario/elements/host_list.hpp"
#include "scenario/elements/print_parts.hpp"
#include "scenario/xml/files.hpp"
#include "scenario/xml/xml_writer.hpp"
#include "support/fingerprint.hpp"

namespace dadsim::scenario {
namespace {

using Open = XmlWriter::Open;

void write_workers(XmlWriter& xml, const Scenario& scenario) {
  constexpr std::size_t kHostsPerElement = 100;
  const std::vector<spec::Placement>& devices = scenario.all_devices();
  Open workers(xml, "workers");
  workers_table().print_attributes(workers, scenario, {});
  for (std::size_t i = 0; i < devices.size();) {
    const spec::Placement& one = devices[i];
    std::string hosts;
    for (const std::size_t first = i; i < devices.size() && i < first + kHostsPerElement; ++i) {
      const spec::Placement& next = devices[i];
      if (next.device != one.device || next.speed_spread != one.speed_spread || next.speed != one.speed) break;
      hosts += (hosts.empty() ? "" : " ") + in_host_list(next.host);
    }
    Open element(xml, "worker");
    element.set("hosts", hosts).set("device", one.device);
    worker_table().print_attributes(element, one, {});
  }
  if (scenario.aggregator)
    Open(xml, "aggregator")
        .set("host", in_host_list(scenario.aggregator->host))
        .set("device", scenario.aggregator->device);
}

std::string contents_of(const std::string& path) { return fmt::format("{:016x}", fingerprint_file(path)); }

}  // namespace

std::string write_scenario(const Scenario& scenario, const PathText& file, bool with_questions) {
  XmlWriter xml;
  {
    Open root(xml, "scenario");
    scenario_table().print_attributes(root, scenario, file);
    if (!scenario.description.empty()) Open(xml, "description").content(scenario.description);
    write_platform(xml, scenario.platform, file);
    network_table().print(xml, scenario.network, file);
    if (scenario.framework != spec::FrameworkSpec{}) framework_table().print(xml, scenario.framework, file);
    write_failures(xml, scenario.failures, file);
    write_devices(xml, scenario.devices);
    write_workers(xml, scenario);
    if (scenario.stand_in) {
      timing_only_table().print(xml, scenario.payload, file);
      write_optimizer(xml, scenario.training.optimizer);
    } else {
      write_data(xml, scenario.data, file);
      write_model(xml, scenario.model);
      write_training(xml, scenario.training);
    }
    if (scenario.timed_as) timed_as_table().print(xml, *scenario.timed_as, file);
    if (!scenario.ladder.empty()) ladder_table().print(xml, scenario, file);
    write_runs(xml, scenario.runs, file);
    if (scenario.evaluation) evaluation_table().print(xml, *scenario.evaluation, file);
    if (scenario.costs) write_costs(xml, *scenario.costs);
    if (scenario.goal && with_questions) write_goal(xml, *scenario.goal);
    if (scenario.sweep && with_questions) write_sweep(xml, *scenario.sweep);
    if (scenario.scale_study && with_questions) write_scale_study(xml, *scenario.scale_study);
  }
  return xml.finish();
}

std::uint64_t hash_of(const Scenario& scenario) {
  std::uint64_t hash = fingerprint(write_scenario(scenario, contents_of, false));
  for (const std::string& file : scenario.platform_files) hash = fingerprint(contents_of(file), hash);
  return hash;
}

std::uint64_t problem_hash_of(const Scenario& scenario, std::uint64_t seed) {
  XmlWriter xml;
  {
    Open root(xml, "problem");
    root.set("seed", seed).set("workers", static_cast<std::int64_t>(scenario.workers.size()));
    write_data(xml, scenario.data, contents_of);
    write_model(xml, scenario.model);
  }
  return fingerprint(xml.finish());
}

std::uint64_t learning_problem_hash_of(const Scenario& scenario, std::uint64_t seed) {
  // Leaves out the length of training and the dates of evaluations, which do not change an operation's result.
  spec::TrainingSpec training = scenario.training;
  training.seeds = 1;
  training.target_accuracy = 0;
  training.further_targets.clear();
  training.stop = spec::TrainingSpec::Stop::budget;
  training.evaluate_every = 0;
  // Leaves out the dates of data drift: the drifted data are part of each operation's name.
  Scenario timeless = scenario;
  for (spec::DriftSpec& drift : timeless.data.drifts) drift.at = 0;
  XmlWriter xml;
  {
    Open root(xml, "problem");
    root.set("seed", problem_hash_of(timeless, seed));
    write_training(xml, training);
  }
  return fingerprint(xml.finish());
}

std::uint64_t learning_hash_of(const Scenario& scenario, const spec::RunSpec& run, const spec::TrainingSpec& training,
                               std::uint64_t seed) {
  spec::TrainingSpec learned = training;
  learned.seeds = 1;
  learned.exact_once = false;  // otherwise runs that are learned together would have a key of both
  if (learned.evaluate_every > 0) {
    learned.target_accuracy = learned.stop == spec::TrainingSpec::Stop::budget ? 0 : learned.last_target();
    learned.further_targets.clear();
  }
  XmlWriter xml;
  {
    Open root(xml, "learning");
    if (scenario.timing_only) root.set("timing-only", true);
    root.set("seed", seed).set("workers", static_cast<std::int64_t>(scenario.workers.size()));
    write_data(xml, scenario.data, contents_of);
    write_model(xml, scenario.model);
    write_training(xml, learned);
    Open element(xml, "run");
    element.set("algorithm", run.algorithm);
    if (run.communicates) element.set("exchange", to_string(run.exchange));
    if (run.weights != spec::SiteWeights::published) element.set("weights", to_string(run.weights));
    write_parameters(element, run, contents_of);
    write_compress(xml, run.compress);
    write_share(xml, run);
  }
  return fingerprint(xml.finish());
}

std::string print_scenario(const Scenario& scenario) {
  return write_scenario(scenario, [](const std::string& path) { return path; });
}

}  // namespace dadsim::scenario
