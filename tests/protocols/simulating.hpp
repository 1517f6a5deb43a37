#pragma once

#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "models/data/dataset.hpp"
#include "protocols/registry.hpp"
#include "world/closed_form_world.hpp"

// Provides parts of several protocol tests: a small problem, a World of formulas, and functions with a known minimum in
// place of a network.

namespace dadsim::test {

using protocols::Learning;
using world::History;
using world::Value;

/// A network of one dense layer on drawn digits, which are dealt to sites.
struct SmallProblem {
  explicit SmallProblem(std::size_t sites, std::int64_t samples = 200, double learning_rate = 0.1) {
    spec::DataSpec spec;
    spec.source = spec::DigitsSource{.train = samples, .test = 100};
    data = models::load_dataset(spec, 1);
    partition.resize(sites);
    for (std::int64_t i = 0; i < samples; ++i) {
      partition[static_cast<std::size_t>(i) % sites].push_back(static_cast<std::int32_t>(i));
    }
    model.layers.push_back(spec::DenseSpec{.units = 10});
    training.batch = 10;
    training.epochs = 2;
    training.optimizer = {.kind = spec::OptimizerSpec::Kind::sgd, .learning_rate = learning_rate};
  }
  algorithms::LearningProblem problem() const { return {data, partition, model, training, 1}; }

  models::Dataset data;
  models::Partition partition;
  spec::ModelSpec model;
  spec::TrainingSpec training;
};

/// Returns a small problem whose sites have these numbers of samples.
inline SmallProblem unequal_problem(const std::vector<std::int64_t>& samples) {
  SmallProblem small(samples.size(), std::accumulate(samples.begin(), samples.end(), std::int64_t{0}));
  std::int32_t next = 0;
  for (std::size_t site = 0; site < samples.size(); ++site) {
    small.partition[site].resize(static_cast<std::size_t>(samples[site]));
    for (std::int32_t& sample : small.partition[site]) sample = next++;
  }
  return small;
}

/// Replaces a network: site i has the loss ½ a_i (x − b_i)² in every coordinate. Training is plain SGD at the problem's
/// scheduled rate, and an epoch is one step of synchronous training. "accuracy" is the first coordinate.
class Quadratics final : public Learning {
 public:
  struct Site {
    double curvature = 1, minimum = 0;
  };
  Quadratics(const algorithms::LearningProblem& problem, History& history, std::vector<Site> sites, double start,
             std::size_t coordinates = 1)
      : Learning(problem, history, coordinates), sites_(std::move(sites)), start_(start) {}

  Value initial() override {
    return history().make("initial", {}, [this](History::Inputs) {
      return world::Datum{std::vector<float>(parameters(), static_cast<float>(start_)), {}};
    });
  }
  Value initial_with_state() override { return initial(); }
  Value without_state(const Value& weights) override { return weights; }
  Value gradient(const Value& weights, std::size_t site, protocols::SiteBatches::How, std::int64_t) override {
    return history().make("gradient of " + std::to_string(site), {weights}, [this, site](History::Inputs in) {
      world::Datum result = *in[0];
      for (float& x : result.numbers) x = slope(site, x);
      return result;
    });
  }
  Value train(const Value& weights, const protocols::LocalTraining& how, const Value& correction) override {
    std::vector<Value> inputs = {weights};
    if (correction) inputs.push_back(correction);
    const bool constant = problem().training.schedule.kind == spec::ScheduleSpec::Kind::constant;
    return history().make("train " + std::to_string(how.site) + " " + std::to_string(how.steps) + " " +
                              std::to_string(how.proximal) +
                              (constant ? "" : " from " + std::to_string(how.schedule_step)),
                          inputs, [this, how](History::Inputs in) {
                            world::Datum result = *in[0];
                            for (std::int64_t step = 0; step < how.steps; ++step) {
                              for (std::size_t k = 0; k < result.numbers.size(); ++k) {
                                float& x = result.numbers[k];
                                float g = slope(how.site, x);
                                if (in.size() > 1) g += in[1]->numbers[k];
                                g += static_cast<float>(how.proximal) * (x - in[0]->numbers[k]);
                                x -= static_cast<float>(rate(how.schedule_step + step) * how.rate_factor) * g;
                              }
                            }
                            return result;
                          });
  }
  Value apply(const Value& weights, const Value& gradient, double rate_now) override {
    return weighted_sum({weights, gradient}, {1, -rate_now});
  }
  Value evaluate(const Value& weights) override {
    return history().make("evaluate", {weights}, [](History::Inputs in) {
      return world::Datum{{}, {0, static_cast<double>(in[0]->numbers[0]), 0}};
    });
  }

 private:
  float slope(std::size_t site, float x) const {
    return static_cast<float>(sites_.at(site).curvature * (x - sites_.at(site).minimum));
  }
  std::vector<Site> sites_;
  double start_;
};

/// Returns a run of the protocol with default parameters, except those in `changed`.
inline spec::RunSpec run_of(const std::string& protocol, const spec::ParameterValues& changed = {}) {
  spec::RunSpec run;
  run.algorithm = run.label = protocol;
  run.event_driven = true;
  for (const spec::ParameterSpec& parameter : protocols::protocol_registry().at(protocol).parameters) {
    run.parameters[parameter.name] = parameter.default_value;
  }
  for (const auto& [name, value] : changed) run.parameters.at(name) = value;
  return run;
}

struct Simulated {
  protocols::ProtocolLog protocol_log;
  step::EventLog log;
  /// loss, accuracy and AUC of every evaluation
  std::vector<std::vector<double>> qualities;
};

/// A host or a link that goes down or comes up at a date.
struct Fate {
  double at = 0;  ///< seconds
  world::Node node = -1;
  bool up = false;
  std::string link = {};  ///< name of a link; empty: a node
};

inline world::Task<> bring_about(world::EventLoop& loop, world::World& world, world::Node me, std::vector<Fate> fates) {
  for (const Fate& fate : fates) {
    co_await loop.sleep(me, fate.at - loop.now());
    if (fate.link.empty()) {
      world.set_host(fate.node, fate.up);
    } else {
      world.set_link(fate.link, fate.up);
    }
  }
}

/// Simulates a protocol in a World of sites followed by the server. `join` adds participants to the protocol's own,
/// also at `others` nodes after the server. `regions` are the sites' regions.
inline Simulated simulate(world::World& world, const SmallProblem& small, Learning& learning, const spec::RunSpec& run,
                          world::EventLoop::Limits limits = {}, const std::function<void(world::EventLoop&)>& join = {},
                          const std::vector<std::string>& others = {}, const std::vector<std::size_t>& regions = {}) {
  const std::size_t sites = small.partition.size();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < sites; ++i) names.push_back("site-" + std::to_string(i));
  names.emplace_back("server");
  names.insert(names.end(), others.begin(), others.end());
  Simulated simulated;
  simulated.protocol_log = protocols::ProtocolLog(sites);
  const algorithms::LearningProblem problem = small.problem();
  const models::Network network(problem.data.shape, problem.model, problem.seed);
  const protocols::Sizing sizing(problem, run.compress, {.shape = network.shape()});
  world::EventLoop stage(world, names, limits);
  const protocols::Setting setting{.loop = stage,
                                   .learning = learning,
                                   .sizing = sizing,
                                   .run = run,
                                   .sites = sites,
                                   .server = static_cast<world::Node>(sites),
                                   .log = simulated.protocol_log,
                                   .regions = regions};
  const auto protocol = protocols::protocol_registry().at(run.algorithm).make(setting);
  protocol->begin();
  if (join) join(stage);
  stage.run();
  protocol->end();
  simulated.log = stage.log();
  for (const protocols::ProtocolLog::Version& version : simulated.protocol_log.versions) {
    simulated.qualities.push_back(learning.history().get(version.quality)->scalars);
  }
  return simulated;
}

/// Simulates with these outages, in the order of their dates.
inline Simulated simulate(world::World& world, const SmallProblem& small, Learning& learning, const spec::RunSpec& run,
                          world::EventLoop::Limits limits, const std::vector<Fate>& fates,
                          const std::vector<std::size_t>& regions = {}) {
  if (fates.empty()) return simulate(world, small, learning, run, limits, {}, {}, regions);
  const auto nobody = static_cast<world::Node>(small.partition.size() + 1);
  return simulate(
      world, small, learning, run, limits,
      [&](world::EventLoop& stage) {
        stage.join(nobody, "fate", [&] { return bring_about(stage, world, nobody, fates); });
      },
      {"fate"}, regions);
}

/// Returns a World without contention. Every computation of a worker takes `seconds`, those of the server take no time,
/// and messages take latency + bytes ÷ bandwidth.
inline world::ClosedFormWorld closed_form(std::size_t sites, std::function<double(world::Node)> seconds,
                                          world::ClosedFormWorld::SiteLine line = {}) {
  const auto server = static_cast<world::Node>(sites);
  return world::ClosedFormWorld({.nodes = sites + 1,
                                 .line = [line](world::Node, world::Node) { return line; },
                                 .seconds =
                                     [seconds = std::move(seconds), server](world::Node node, const world::Work& work) {
                                       return node == server ? 0 : seconds(node) * static_cast<double>(work.steps);
                                     },
                                 .link = nullptr});
}

}  // namespace dadsim::test
