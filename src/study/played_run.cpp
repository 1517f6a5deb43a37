#include "study/played_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "protocols/registry.hpp"
#include "scenario/print.hpp"
#include "sim/platform.hpp"
#include "sim/world.hpp"
#include "study/evaluation.hpp"
#include "support/diagnostics.hpp"
#include "support/interrupt.hpp"
#include "support/pattern.hpp"
#include "world/outages.hpp"
#include "world/play.hpp"

namespace dadsim::study {
namespace {

using protocols::Tally;
using report::PlayedResult;

std::vector<std::string> node_names(const scenario::Scenario& scenario) {
  std::vector<std::string> names;
  for (const spec::Placement& worker : scenario.workers) names.push_back(worker.host);
  if (scenario.aggregator) names.push_back(scenario.aggregator->host);
  return names;
}

template <class Get>
double sum_over(const std::vector<world::PlayLog::NodeUse>& nodes, std::size_t count, const Get& get) {
  return std::accumulate(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(count), 0.0,
                         [&](double sum, const world::PlayLog::NodeUse& node) { return sum + get(node); });
}

std::vector<PlayedResult::Worker> workers_of(const Tally& tally, const world::PlayLog& log, std::size_t count) {
  std::vector<PlayedResult::Worker> workers(count);
  for (std::size_t i = 0; i < count; ++i) {
    const world::PlayLog::NodeUse& use = log.nodes[i];
    workers[i] = {.busy = use.busy, .down = use.down, .sent = use.sent, .received = use.received};
    if (i < tally.took_part.size()) workers[i].used = tally.took_part[i];
  }
  for (const Tally::Part& part : tally.parts) {
    if (part.client < 0 || static_cast<std::size_t>(part.client) >= count) continue;
    PlayedResult::Worker& worker = workers[static_cast<std::size_t>(part.client)];
    worker.late += part.end == Tally::Part::End::late ? 1 : 0;
    worker.failed += part.end == Tally::Part::End::failed ? 1 : 0;
  }
  return workers;
}

PlayedResult played_result(const Tally& tally, const world::PlayLog& log, std::size_t workers) {
  using NodeUse = world::PlayLog::NodeUse;
  PlayedResult played;
  played.updates = tally.updates;
  played.samples = tally.samples;
  played.asked = tally.asked;
  played.answered = tally.answered;
  played.late = tally.late;
  played.failed = tally.failed;
  played.retried = tally.retried;
  played.restored = tally.restored;
  played.lost_work = tally.lost_work;
  played.staleness = tally.staleness;
  const std::size_t all = log.nodes.size();
  played.wasted_seconds = tally.wasted_seconds + sum_over(log.nodes, all, [](const NodeUse& n) { return n.cut_short; });
  played.bytes_lost = sum_over(log.nodes, all, [](const NodeUse& n) { return n.lost; });
  played.wasted_bytes = tally.wasted_bytes + played.bytes_lost;
  played.bytes_sent = sum_over(log.nodes, all, [](const NodeUse& n) { return n.sent; });
  played.bytes_received = sum_over(log.nodes, all, [](const NodeUse& n) { return n.received; });
  played.busy_seconds = sum_over(log.nodes, workers, [](const NodeUse& n) { return n.busy; });
  played.down_seconds = sum_over(log.nodes, workers, [](const NodeUse& n) { return n.down; });
  played.idle_seconds = static_cast<double>(workers) * log.seconds - played.busy_seconds - played.down_seconds;
  for (const NodeUse& node : log.nodes) {
    played.outages += node.outages;
    played.restored += node.restored;
    played.lost_work += node.lost_work;
  }
  played.link_outages = log.link_outages;
  played.facts = tally.facts;
  played.workers = workers_of(tally, log, workers);
  for (const Tally::Part& part : tally.parts) {
    played.parts.push_back(
        {part.round, part.client, part.asked, part.ended, static_cast<PlayedResult::Part::End>(part.end)});
  }
  for (const world::PlayLog::Outage& outage : log.outages) {
    played.host_outages.push_back({outage.node, outage.begin, outage.end});
  }
  for (const world::PlayLog::Span& span : log.spans) {
    played.spans.push_back({static_cast<PlayedResult::Span::Kind>(span.kind), span.node, span.peer, span.begin,
                            span.end, span.bytes, span.number, span.what, span.failed});
  }
  played.spans_left_out = log.spans_left_out;
  played.events = log.events;
  return played;
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

/// What is told of every run, where a step is an update of the model.
void summarise_play(const Tally& tally, const world::PlayLog& log, std::size_t workers, report::RunResult& told) {
  told.steps = tally.updates;
  told.workers = workers;
  told.total_seconds = log.seconds;
  const auto updates = static_cast<double>(std::max<std::int64_t>(1, tally.updates));
  const auto count = static_cast<double>(workers);
  using NodeUse = world::PlayLog::NodeUse;
  told.total_bytes = sum_over(log.nodes, log.nodes.size(), [](const NodeUse& n) { return n.sent; });
  told.bytes_up_per_worker = sum_over(log.nodes, workers, [](const NodeUse& n) { return n.sent; }) / updates / count;
  told.bytes_down_per_worker =
      sum_over(log.nodes, workers, [](const NodeUse& n) { return n.received; }) / updates / count;
  told.step_seconds = log.seconds / updates;
  told.first_step_seconds = tally.first_update_at < 0 ? log.seconds : tally.first_update_at;
  told.compute_seconds = sum_over(log.nodes, workers, [](const NodeUse& n) { return n.busy; }) / updates / count;
  told.exposed_seconds = told.step_seconds - told.compute_seconds;
  // It is not told what of these is for compressing, and for others.
  told.compression_seconds = told.waiting_seconds = std::numeric_limits<double>::quiet_NaN();
  for (const NodeUse& node : log.nodes) told.busy_seconds.push_back(node.busy / updates);
  // The simulation has counted the bytes of the whole play.
  for (step::LinkUse& use : told.network.link_use) use.bytes_per_step /= updates;
}

void find_target(double target, report::RunResult& told) {
  const auto reached =
      std::ranges::find_if(told.curve, [&](const report::CurvePoint& point) { return point.accuracy >= target; });
  told.target_reached = reached != told.curve.end();
  if (told.target_reached) {
    told.target_step = reached->step;
    told.target_seconds = reached->seconds;
  }
  told.final_accuracy = told.curve.back().accuracy;
  told.final_auc = told.curve.back().auc;
  told.best_accuracy = std::ranges::max_element(told.curve, {}, &report::CurvePoint::accuracy)->accuracy;
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

report::RunResult play_run(const scenario::Scenario& scenario, const spec::RunSpec& run, const TimedAs& timed,
                           const sim::Cluster& cluster, Playground& playground, const PlayOptions& options) {
  const std::shared_ptr<const Problem> problem = playground.problem(scenario, scenario.seed);
  const algorithms::LearningProblem asked{problem->data,     problem->partition, scenario.model,
                                          scenario.training, scenario.seed,      &problem->drift};
  world::History history(scenario::learning_problem_hash_of(scenario, scenario.seed), &playground.histories());
  if (!options.learns) history.learn_nothing();
  protocols::Learning learning(asked, history);
  const protocols::Sizing sizing(asked, run.compress, {timed.shape, timed.sample_scale, timed.precision});
  Tally tally;
  report::RunResult told;
  told.spec = run;
  told.steps_per_epoch = learning.steps_per_epoch();
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
    told.network = simulated->finish();
    told.played = played_result(tally, play.log(), workers);
    told.played->link_outages = unreliable.link_outages();
    told.played->hosts = node_names(scenario);
    summarise_play(tally, play.log(), workers, told);
    if (options.learns) {
      std::vector<world::Value> wanted;
      for (const Tally::Version& version : tally.versions) wanted.push_back(version.quality);
      world::Value tried;
      if (scenario.evaluation && tally.last) {
        tried = shift_evaluation(learning, tally.last, *scenario.evaluation);
        wanted.push_back(tried);
      }
      history.work_out(wanted, options.learning, &interrupted());
      if (tried) told.evaluation = told_of(tried, learning, *scenario.evaluation);
    }
    told.curve = curve_of(tally, samples_of(asked.partition), options.learns);
    find_target(scenario.training.target_accuracy, told);
  } catch (const std::invalid_argument& wrong) {
    throw sim::SimulationError(run.label + ": " + wrong.what());
  } catch (const world::Stuck& stuck) {
    throw sim::SimulationError(run.label + ": " + stuck.what());
  } catch (const world::NothingLearned&) {
    throw InputError(Diagnostic{
        scenario.file, 0, fmt::format("'{}' decides by numbers that are learned, and nothing is learned", run.label),
        "no --timing-only"});
  }
  told.played->learned = history.counts().learned;
  told.played->found = history.counts().found;
  return told;
}

std::vector<std::string> assumptions_of_plays(const scenario::Scenario& scenario) {
  std::string labels;
  for (const spec::RunSpec& run : scenario.runs) {
    if (run.event_driven) labels += fmt::format("{}'{}'", labels.empty() ? "" : ", ", run.label);
  }
  if (labels.empty()) return {};
  return {
      fmt::format("Played from the beginning to the end, with all that is under way at the same time sharing links "
                  "and devices: {}. A step of these is a round, or an update of the model; what is said per step is "
                  "a mean over them. Their times are those of the clock of whoever holds the model: it is there "
                  "when its last computation has ended. Evaluation and start-up are not charged.",
                  labels),
      "In these runs both ends of a connection learn at once that a host or a link of it went down, and that it is "
      "up again; finding that out by silence takes no time here."};
}

}  // namespace dadsim::study
