#include "study/event_driven/played_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "protocols/registry.hpp"
#include "scenario/print.hpp"
#include "sim/platform.hpp"
#include "sim/world.hpp"
#include "study/event_driven/evaluation.hpp"
#include "support/diagnostics.hpp"
#include "support/interrupt.hpp"
#include "support/pattern.hpp"
#include "world/outages.hpp"
#include "world/play.hpp"

namespace dadsim::study {
namespace {

using protocols::Tally;

std::vector<std::string> node_names(const scenario::Scenario& scenario) {
  std::vector<std::string> names;
  for (const spec::Placement& worker : scenario.workers) names.push_back(worker.host);
  if (scenario.aggregator) names.push_back(scenario.aggregator->host);
  return names;
}

world::Outages outages_of(const scenario::Scenario& scenario, sim::SimulatedWorld& simulated) {
  world::Outages outages{.what = scenario.failures,
                         .profiles = sim::state_profiles(scenario.platform),
                         .hosts = node_names(scenario),
                         .links = {},
                         .seed = scenario.seed};
  const auto of_links = [](const auto& rule) { return rule.links; };
  if (std::ranges::any_of(outages.what.random, of_links) || std::ranges::any_of(outages.what.outages, of_links) ||
      std::ranges::any_of(outages.profiles, of_links)) {
    outages.links = simulated.links();
  }
  return outages;
}

/// Of every node by the first rule that fits it.
void set_checkpoints(const spec::FailureSpec& failures, world::Play& play) {
  for (world::Node node = 0; node < static_cast<world::Node>(play.nodes()); ++node) {
    const auto rule = std::ranges::find_if(
        failures.checkpoints, [&](const spec::CheckpointSpec& one) { return fits(one.hosts, play.name(node)); });
    if (rule == failures.checkpoints.end()) continue;
    const double seconds = rule->bytes / rule->storage;
    play.set_checkpoints(node, {.every = rule->every, .write = seconds, .restore = rule->restore + seconds});
  }
}

/// Points of the curve: of versions, in the order in which they came to be. `trained` are the samples of all sites.
std::vector<report::CurvePoint> curve_of(const Tally& tally, double trained, bool learns) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<report::CurvePoint> curve;
  for (const Tally::Version& version : tally.versions) {
    report::CurvePoint point{version.updates, version.at, kUnknown, kUnknown, kUnknown, version.bytes};
    point.epochs = version.samples / trained;
    if (learns) {
      const world::DatumPtr quality = world::History::datum_of(version.quality);
      point.loss = quality->scalars[0];
      point.accuracy = quality->scalars[1];
      point.auc = quality->scalars[2];
    }
    curve.push_back(point);
  }
  return curve;
}

double samples_of(const models::Partition& partition) {
  double samples = 0;
  for (const auto& site : partition) samples += static_cast<double>(site.size());
  return samples;
}

/// Everything of a play that lives as long as it does.
world::Play::Limits limits_of(const Tally& tally, const PlayOptions& options) {
  world::Play::Limits limits;
  limits.most_spans = options.most_spans;
  limits.each_event = [&tally, &options](const world::Play& play) {
    if (interrupted().load(std::memory_order_relaxed)) throw Cancelled();
    if (options.playing) options.playing(play.now(), tally.updates);
  };
  return limits;
}

}  // namespace

report::PlayedRun play_run(const scenario::Scenario& scenario, const spec::RunSpec& run, const TimedAs& timed,
                           const sim::Cluster& cluster, SharedCache& shared_cache, const PlayOptions& options) {
  const std::shared_ptr<const Problem> problem = shared_cache.problem(scenario, scenario.seed);
  const algorithms::LearningProblem asked{problem->data,     problem->partition, scenario.model,
                                          scenario.training, scenario.seed,      &problem->drift};
  world::History history(scenario::learning_problem_hash_of(scenario, scenario.seed), &shared_cache.histories());
  if (!options.learns) history.learn_nothing();
  protocols::Learning learning(asked, history);
  const protocols::Sizing sizing(asked, run.compress, {timed.shape, timed.sample_scale, timed.precision});
  Tally tally;
  report::PlayedRun played;
  played.steps_per_epoch = learning.steps_per_epoch();
  const std::size_t workers = scenario.workers.size();
  try {
    const std::unique_ptr<sim::SimulatedWorld> simulated = sim::simulate_world(cluster);
    world::UnreliableWorld unreliable(*simulated, outages_of(scenario, *simulated));
    world::Play play(unreliable, node_names(scenario), limits_of(tally, options));
    set_checkpoints(scenario.failures, play);
    const protocols::Setting setting{.play = play,
                                     .learning = learning,
                                     .sizing = sizing,
                                     .run = run,
                                     .sites = workers,
                                     .server = scenario.aggregator ? static_cast<world::Node>(workers) : -1,
                                     .tally = tally};
    const std::unique_ptr<protocols::Protocol> protocol =
        protocols::protocol_registry().at(run.algorithm).make(setting);
    protocol->begin();
    play.run();
    played.network = simulated->finish();
    played.played = {.participation = tally, .log = play.log(), .hosts = node_names(scenario), .workers = workers};
    played.played.log.link_outages = unreliable.link_outages();
    if (options.learns) {
      std::vector<world::Value> wanted;
      for (const Tally::Version& version : tally.versions) wanted.push_back(version.quality);
      world::Value tried;
      if (scenario.evaluation && tally.last) {
        tried = shift_evaluation(learning, tally.last, *scenario.evaluation);
        wanted.push_back(tried);
      }
      history.work_out(wanted, options.learning, &interrupted());
      if (tried) played.evaluation = told_of(tried, learning, *scenario.evaluation);
    }
    played.curve = curve_of(tally, samples_of(asked.partition), options.learns);
  } catch (const std::invalid_argument& wrong) {
    throw sim::SimulationError(run.label + ": " + wrong.what());
  } catch (const world::Stuck& stuck) {
    throw sim::SimulationError(run.label + ": " + stuck.what());
  } catch (const world::NothingLearned&) {
    throw InputError(Diagnostic{
        scenario.file, 0, fmt::format("'{}' decides by numbers that are learned, and nothing is learned", run.label),
        "no --timing-only"});
  }
  played.played.learned = history.counts().learned;
  played.played.found = history.counts().found;
  return played;
}

}  // namespace dadsim::study
