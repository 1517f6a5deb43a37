#include "study/event_driven/event_driven_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "models/distribution_correction.hpp"
#include "models/flat.hpp"
#include "protocols/learning.hpp"
#include "protocols/message_leak.hpp"
#include "protocols/registry.hpp"
#include "scenario/document/print.hpp"
#include "sim/world.hpp"
#include "spec/evaluation_specification.hpp"
#include "study/event_driven/islands.hpp"
#include "study/setting/outages_of.hpp"
#include "study/setting/problem_of_run.hpp"
#include "support/diagnostics.hpp"
#include "support/fingerprint.hpp"
#include "support/interrupt.hpp"
#include "support/pattern.hpp"
#include "world/event_loop.hpp"
#include "world/framework_world.hpp"
#include "world/outages.hpp"

namespace dadsim::study {
namespace {

using models::Correction;

/// Largest number of a site's samples for the quantiles, to limit memory; more samples hardly change the quantiles.
constexpr std::size_t kMostSourceSamples = 2000;

struct Arm {
  const char* name;
  Correction correction;
  bool of_norms;  ///< true: needs batch norms
};
constexpr std::array<Arm, 4> kArms = {{{"source", Correction::source, false},
                                       {"batch statistics", Correction::batch_statistics, true},
                                       {"DMC on norms", Correction::norms, true},
                                       {"DMC on inputs", Correction::inputs, false}}};

std::vector<Arm> arms_of(const models::Network& network) {
  const bool norms = !network.batch_norms().empty();
  std::vector<Arm> arms;
  for (const Arm& arm : kArms) {
    if (norms || !arm.of_norms) arms.push_back(arm);
  }
  return arms;
}

/// One kind of held-back data: a corruption and its severity, or a label shift.
struct HeldBackKind {
  spec::Corruption corruption = spec::Corruption::none;
  std::int64_t severity = 1;
  double label_alpha = 0;
};

std::vector<HeldBackKind> kinds_of(const spec::EvaluationSpec& asked) {
  std::vector<double> alphas = {0};
  if (asked.label_alpha > 0) alphas.push_back(asked.label_alpha);
  std::vector<HeldBackKind> kinds;
  for (const double alpha : alphas) {
    kinds.push_back({.label_alpha = alpha});
    for (const spec::EvaluationSpec::SiteShift& shift : asked.shifts) {
      for (const std::int64_t severity : shift.severities) kinds.push_back({shift.corruption, severity, alpha});
    }
  }
  return kinds;
}

models::SourceQuantiles source_of(const models::Network& network, const algorithms::LearningProblem& problem,
                                  std::int64_t quantiles) {
  std::vector<models::UnitQuantiles> inputs;
  std::vector<std::vector<models::UnitQuantiles>> norms(network.batch_norms().size());
  for (const auto& site : problem.partition) {
    if (site.empty()) continue;
    // Samples are in random order, so an evenly spaced subset represents all.
    const std::size_t count = std::min(site.size(), kMostSourceSamples);
    models::Matrix features(static_cast<Eigen::Index>(count), problem.data.train.features.cols());
    for (std::size_t i = 0; i < count; ++i) {
      features.row(static_cast<Eigen::Index>(i)) = problem.data.train.features.row(site[i * site.size() / count]);
    }
    models::SourceQuantiles own = models::source_quantiles(network, features, quantiles);
    inputs.push_back(std::move(own.inputs));
    for (std::size_t n = 0; n < norms.size(); ++n) norms[n].push_back(std::move(own.norms[n]));
  }
  models::SourceQuantiles mean{models::barycentre(inputs), {}};
  for (const auto& norm : norms) mean.norms.push_back(models::barycentre(norm));
  return mean;
}

/// Returns, per arm, the share of correct predictions over all sites' samples. `batch`: samples that are corrected
/// together.
std::vector<double> accuracies_of(const models::Network& network, const std::vector<Arm>& arms,
                                  const std::vector<models::Samples>& sites, std::int64_t batch,
                                  const models::SourceQuantiles& source) {
  std::vector<double> accuracies;
  for (const Arm& arm : arms) {
    double right = 0;
    double all = 0;
    for (const models::Samples& samples : sites) {
      if (samples.size() == 0) continue;
      const auto count = static_cast<double>(samples.size());
      right += count * models::evaluate_corrected(network, samples, batch, arm.correction, source).accuracy;
      all += count;
    }
    accuracies.push_back(right / all);
  }
  return accuracies;
}

/// Returns the name of the evaluation in the history; it covers all inputs except the weights and the problem.
std::string operation_name(const spec::EvaluationSpec& asked) {
  std::string name = fmt::format("shifts quantiles {} alpha {} batch {}", asked.quantiles, asked.label_alpha,
                                 fmt::join(asked.batches, " "));
  for (const spec::EvaluationSpec::SiteShift& shift : asked.shifts) {
    name += fmt::format(" {} {}", to_string(shift.corruption), fmt::join(shift.severities, " "));
  }
  return name;
}

/// Returns an evaluation of the network with these weights on shifted data, computed on demand. Its scalars, in order:
/// the accuracy of each arm, for each row of report::ShiftEvaluation; the bytes of the quantiles of features; the bytes
/// of the quantiles of the inputs of batch norms; the fewest and the most held-back samples of a site. Each site's test
/// batches are corrected separately. Training quantiles are the barycentre of the sites' quantiles, each from a subset
/// of the site's samples. `learning` must outlive the computation.
world::Value shift_evaluation(protocols::Learning& learning, const world::Value& weights,
                              const spec::EvaluationSpec& asked) {
  return learning.history().make(
      operation_name(asked), {weights},
      [&learning, asked](world::History::Inputs in) {
        const algorithms::LearningProblem& problem = learning.problem();
        models::Network network(problem.data.shape, problem.model, problem.seed);
        models::set_flat_state(network, std::span(in[0]->numbers).first(learning.state()));
        const models::SourceQuantiles source = source_of(network, problem, asked.quantiles);
        const std::vector<Arm> arms = arms_of(network);
        world::Datum result;
        std::vector<Eigen::Index> sizes;
        for (const HeldBackKind& kind : kinds_of(asked)) {
          const std::vector<models::Samples> sites = models::held_back_of_sites(
              kind.corruption, kind.severity, kind.label_alpha, problem.data, problem.partition, problem.seed);
          sizes.clear();
          for (const models::Samples& samples : sites) sizes.push_back(samples.size());
          for (const std::int64_t batch : asked.batches) {
            const std::vector<double> accuracies = accuracies_of(network, arms, sites, batch, source);
            result.scalars.insert(result.scalars.end(), accuracies.begin(), accuracies.end());
          }
        }
        const double input_bytes = 4 * static_cast<double>(source.inputs.values.size());
        result.scalars.push_back(input_bytes);
        result.scalars.push_back(source.bytes() - input_bytes);
        const auto [fewest, most] = std::ranges::minmax(sizes);
        result.scalars.push_back(static_cast<double>(fewest));
        result.scalars.push_back(static_cast<double>(most));
        return result;
      },
      true);
}

/// Returns the evaluation to report, from the computed value.
report::ShiftEvaluation told_of(const world::Value& accuracies, const protocols::Learning& learning,
                                const spec::EvaluationSpec& asked) {
  const algorithms::LearningProblem& problem = learning.problem();
  const world::DatumPtr datum = world::History::datum_of(accuracies);
  report::ShiftEvaluation told;
  for (const Arm& arm : arms_of(models::Network(problem.data.shape, problem.model, problem.seed))) {
    told.arms.emplace_back(arm.name);
  }
  auto next = datum->scalars.begin();
  for (const HeldBackKind& kind : kinds_of(asked)) {
    const bool corrupted = kind.corruption != spec::Corruption::none;
    for (const std::int64_t batch : asked.batches) {
      report::ShiftEvaluation::Row row{
          to_string(kind.corruption), corrupted ? kind.severity : 0, kind.label_alpha, batch, {}};
      for (std::size_t arm = 0; arm < told.arms.size(); ++arm) row.accuracies.push_back(*next++);
      told.rows.push_back(std::move(row));
    }
  }
  told.input_bytes = *next++;
  told.norm_bytes = *next++;
  told.quantiles = asked.quantiles;
  told.fewest = static_cast<std::int64_t>(*next++);
  told.most = static_cast<std::int64_t>(*next++);
  told.samples = problem.data.test.size();
  return told;
}

using protocols::ProtocolLog;

/// Sets the checkpoints of every node by the first rule that fits it.
void set_checkpoints(const spec::FailureSpec& failures, world::EventLoop& loop) {
  for (world::Node node = 0; node < static_cast<world::Node>(loop.nodes()); ++node) {
    const auto rule = std::ranges::find_if(
        failures.checkpoints, [&](const spec::CheckpointSpec& one) { return fits(one.hosts, loop.name(node)); });
    if (rule == failures.checkpoints.end()) continue;
    const double seconds = rule->bytes / rule->storage;
    loop.set_checkpoints(node, {.every = rule->every, .write = seconds, .restore = rule->restore + seconds});
  }
}

/// Returns the points of the curve, one per evaluated version of the model, in order of creation. `trained`: samples of
/// all sites.
std::vector<report::CurvePoint> curve_of(const ProtocolLog& log, double trained, bool learns) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<report::CurvePoint> curve;
  for (const ProtocolLog::Version& version : log.versions) {
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

/// Adds the framework's busy time and cut connections to the result.
void add_use_of(const world::FrameworkWorld& framework, world::Node server, report::EventDrivenResult& result) {
  auto& nodes = result.log.nodes;
  double of_clients = 0;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    nodes[node].framework = framework.busy(static_cast<world::Node>(node));
    if (static_cast<world::Node>(node) != server) of_clients += nodes[node].framework;
  }
  auto& facts = result.participation.facts;
  facts["seconds of the framework, mean of clients"] =
      of_clients / static_cast<double>(std::max<std::size_t>(1, result.workers));
  if (server >= 0) facts["seconds of the framework at the server"] = nodes[static_cast<std::size_t>(server)].framework;
  if (framework.cut_connections() > 0)
    facts["idle connections that were cut"] = static_cast<double>(framework.cut_connections());
}

double samples_of(const models::Partition& partition) {
  double samples = 0;
  for (const auto& site : partition) samples += static_cast<double>(site.size());
  return samples;
}

/// Adds the devices and replicas of an island, and its shortest and longest step, to the facts of the run.
void add_islands(IslandSteps& islands, report::EventDrivenResult& result) {
  auto& facts = result.participation.facts;
  facts["devices of a participant"] = static_cast<double>(islands.devices());
  facts["replicas of a participant"] = static_cast<double>(islands.replicas());
  const auto [least, most] = islands.range();
  if (most == 0) return;
  facts["seconds of a local step, the shortest"] = least;
  facts["seconds of a local step, the longest"] = most;
}

/// Returns the limits and callbacks of the event loop. The arguments must outlive the loop.
world::EventLoop::Limits limits_of(const ProtocolLog& log, const EventDrivenOptions& options,
                                   protocols::MessageLeak& leak) {
  world::EventLoop::Limits limits;
  limits.most_spans = options.most_spans;
  limits.each_event = [&log, &options](const world::EventLoop& loop) {
    if (interrupted().load(std::memory_order_relaxed)) throw Cancelled();
    if (options.simulating) options.simulating(loop.now(), log.updates);
  };
  if (options.learns) limits.each_send = [&leak](const world::Parcel& parcel) { leak.sent(parcel); };
  return limits;
}

/// Simulates until the end, or until failures leave no participant able to continue. Returns a statement in the latter
/// case, else none. Throws Deadlock if no failure is the cause.
std::optional<report::Statement> run_until_stopped(world::EventLoop& loop, const world::UnreliableWorld& world) {
  using Cause = world::Deadlock::DeadlockCause;
  try {
    loop.run();
    return std::nullopt;
  } catch (const world::Deadlock& deadlock) {
    const auto went_down = [](const step::EventLog::NodeUse& node) { return node.outages > 0 || node.down > 0; };
    const bool something_failed =
        std::ranges::any_of(loop.log().nodes, went_down) || world.calendar().link_outages() > 0;
    const bool is_to_blame =
        deadlock.cause == Cause::nothing_under_way ? !world.calendar().is_whole() : something_failed;
    if (!is_to_blame || deadlock.cause == Cause::livelock || deadlock.cause == Cause::slow_message) throw;
    return report::Statement{"stopped"}.with("seconds", loop.now()).with("fault", std::string(deadlock.what()));
  }
}

}  // namespace

report::EventDrivenRun run_event_driven(const scenario::Scenario& scenario, const spec::RunSpec& run,
                                        const TimedAs& timed, const sim::Cluster& cluster, SharedCache& shared_cache,
                                        const EventDrivenOptions& options, std::vector<report::Statement>* remarks) {
  const std::shared_ptr<const Problem> problem = shared_cache.problem(scenario, scenario.seed);
  const std::size_t workers = scenario::participants_of(scenario, run);
  const std::size_t replicas = scenario::replicas_of_participant(scenario, run);
  const ProblemOfRun own(scenario, run, problem->data, problem->partition, scenario.training, scenario.seed,
                         &problem->drift);
  const algorithms::LearningProblem& asked = own.asked();
  std::uint64_t question = scenario::learning_problem_hash_of(scenario, scenario.seed);
  if (replicas > 1) question = fingerprint(fmt::format("{} islands", workers), question);
  world::History history(question, &shared_cache.histories());
  if (!options.learns) history.set_dry_run();
  // Remote processes hold the data of workers, not of islands.
  if (options.learns && options.remote != nullptr && replicas == 1) history.set_remote(*options.remote);
  protocols::Learning learning(asked, history);
  // Clients with local passes take the batch size of <training>; others take their rows of a common step.
  const bool passes = run.parameters.contains("local-epochs");
  const double batches = static_cast<double>(timed.batch) / static_cast<double>(scenario.training.batch);
  protocols::TimedNetwork network{.shape = timed.shape,
                                  .sample_scale = passes ? batches : timed.sample_scale,
                                  .precision = timed.precision,
                                  .step_seconds = timed.step_seconds,
                                  .saved_numbers = timed.saved_numbers,
                                  .passes = timed.parallelism};
  std::optional<IslandSteps> islands;
  if (has_islands(scenario, run)) {
    islands.emplace(scenario, run, asked, timed, network.sample_scale, cluster, shared_cache.islands());
    if (scenario.timed_as) {
      const TimedAs whole =
          whole_network(scenario, timed, models::Network(problem->data.shape, scenario.model, scenario.seed).shape());
      network.shape = whole.shape;
      network.saved_numbers = whole.saved_numbers;
    }
    network.passes = {};
  }
  const protocols::Sizing sizing(asked, run.compress, network);
  ProtocolLog log(workers);
  report::EventDrivenRun event_driven;
  event_driven.steps_per_epoch = learning.steps_per_epoch();
  const auto secure = run.parameters.find("secure");
  protocols::MessageLeak leak(learning, {.server = scenario.aggregator ? static_cast<world::Node>(workers) : -1,
                                         .masked = secure != run.parameters.end() && secure->second == "yes",
                                         .every = scenario.training.leak_every});
  if (options.learns) learning.set_observer(&leak);
  try {
    const std::unique_ptr<sim::SimulatedWorld> simulated =
        sim::simulate_world(islands ? outside_of_islands(scenario, run, cluster) : cluster);
    std::optional<IslandWorld> with_islands;
    if (islands) with_islands.emplace(*simulated, *islands);
    world::World& whole = islands ? static_cast<world::World&>(*with_islands) : *simulated;
    const std::vector<std::string> names = node_names(scenario, run);
    world::UnreliableWorld unreliable(whole,
                                      outages_of_participants(scenario, run, [&] { return simulated->links(); }));
    const world::Node server = scenario.aggregator ? static_cast<world::Node>(workers) : -1;
    std::optional<world::FrameworkWorld> framework;
    if (!cluster.framework.none())
      framework.emplace(unreliable, cluster.framework, names.size(), server, sizing.plain_bytes());
    world::World& served = framework ? static_cast<world::World&>(*framework) : unreliable;
    world::EventLoop::Limits limits = limits_of(log, options, leak);
    limits.link_outages = [&unreliable] { return unreliable.calendar().link_outages(); };
    limits.failing_links = unreliable.calendar().failing_links();
    world::EventLoop loop(served, names, std::move(limits));
    set_checkpoints(run.conditions.failures_of(scenario.failures), loop);
    const protocols::Setting setting{.loop = loop,
                                     .learning = learning,
                                     .sizing = sizing,
                                     .run = run,
                                     .sites = workers,
                                     .server = server,
                                     .log = log,
                                     .clients_evaluate = cluster.framework.evaluates,
                                     .regions = regions_of(scenario, run)};
    const std::unique_ptr<protocols::Protocol> protocol =
        protocols::protocol_registry().at(run.algorithm).make(setting);
    protocol->begin();
    event_driven.event_driven.stopped = run_until_stopped(loop, unreliable);
    protocol->end();
    // Without any present node no model was made; record the initial one.
    if (log.versions.empty()) static_cast<void>(setting.new_version(learning.initial(), 1));
    if (remarks != nullptr) {
      for (const std::string& text : log.remarks) remarks->push_back(report::Statement{"remark"}.with("text", text));
    }
    event_driven.network = simulated->finish();
    event_driven.event_driven.participation = log;
    event_driven.event_driven.log = loop.log();
    event_driven.event_driven.hosts = names;
    event_driven.event_driven.workers = workers;
    event_driven.event_driven.log.link_outages = unreliable.calendar().link_outages();
    if (framework) add_use_of(*framework, server, event_driven.event_driven);
    if (islands) add_islands(*islands, event_driven.event_driven);
    if (options.learns) {
      std::vector<world::Value> wanted;
      for (const ProtocolLog::Version& version : log.versions) wanted.push_back(version.quality);
      world::Value tried;
      if (scenario.evaluation && log.last) {
        tried = shift_evaluation(learning, log.last, *scenario.evaluation);
        wanted.push_back(tried);
      }
      for (const world::Value& reading : leak.values()) wanted.push_back(reading);
      history.work_out(wanted, options.learning, &interrupted());
      event_driven.leak = leak.result();
      if (log.privacy) add_privacy(*log.privacy, *event_driven.leak);
      if (tried) event_driven.evaluation = told_of(tried, learning, *scenario.evaluation);
    }
    event_driven.curve = curve_of(log, samples_of(asked.partition), options.learns);
  } catch (const std::invalid_argument& wrong) {
    throw sim::SimulationError(run.label + ": " + wrong.what());
  } catch (const world::Deadlock& deadlock) {
    throw sim::SimulationError(run.label + ": " + deadlock.what());
  } catch (const world::DryRunError&) {
    throw InputError(Diagnostic{scenario.file, 0,
                                fmt::format("'{}' needs learned numbers, which a dry run does not have", run.label),
                                "remove --timing-only"});
  }
  event_driven.event_driven.learned = history.counts().learned;
  event_driven.event_driven.found = history.counts().found;
  return event_driven;
}

}  // namespace dadsim::study
