#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/exact/local_gradient.hpp"
#include "algorithms/step/training_step.hpp"
#include "models/metrics.hpp"
#include "protocols/simulating.hpp"
#include "sim/star.hpp"
#include "sim/world.hpp"

// Tests FedAvg with clients of equal speed. Learning it first, round by round, and timing it as a schedule gives the
// result of the World program.

namespace dadsim::study {
namespace {

constexpr std::size_t kSites = 3;
constexpr std::int64_t kRounds = 6, kSteps = 4;

/// Returns the loss after every round; trains the clients' networks one after the other.
std::vector<double> learned_first(const test::SmallProblem& small) {
  const algorithms::LearningProblem problem = small.problem();
  models::Network global(problem.data.shape, problem.model, problem.seed);
  std::vector<double> losses = {models::evaluate(global, problem.data.test).loss};
  for (std::int64_t round = 0; round < kRounds; ++round) {
    std::vector<models::Network> locals(kSites, global);
    double all = 0;
    for (std::size_t site = 0; site < kSites; ++site) {
      models::Network& local = locals[site];
      const auto optimizer = make_optimizer(problem.training.optimizer, local);
      algorithms::TrainingStep step(local, spec::ExchangeMode::peer, problem.seed);
      protocols::SiteBatches batches(protocols::SiteBatches::How::passes, problem.training, problem.partition, site,
                                     problem.seed);
      for (std::int64_t i = 0; i < kSteps; ++i) {
        const std::int64_t number = round * kSteps + i;
        step.begin(number, problem.data.train, {batches[number]});
        step.set_sharing(false);
        algorithms::LocalGradient().run(step);
        step.finish();
        step.recorder().take();
        optimizer->update(local, step.gradient(), problem.training.optimizer.learning_rate);
      }
      all += static_cast<double>(problem.partition[site].size());
    }
    for (std::size_t l = 0; l < global.layers(); ++l) {
      models::MatrixOf<double> weight = models::MatrixOf<double>::Zero(global.layer(l).out(), global.layer(l).in());
      models::VectorOf<double> bias = models::VectorOf<double>::Zero(global.layer(l).bias.size());
      for (std::size_t site = 0; site < kSites; ++site) {
        const double share = static_cast<double>(problem.partition[site].size()) / all;
        weight += share * locals[site].layer(l).weight.cast<double>();
        bias += share * locals[site].layer(l).bias.cast<double>();
      }
      global.layer(l).weight = weight.cast<float>();
      global.layer(l).bias = bias.cast<float>();
    }
    losses.push_back(models::evaluate(global, problem.data.test).loss);
  }
  return losses;
}

/// Returns a round as a schedule: local steps, gather, sum, broadcast.
schedule::Schedule round_as_schedule(const protocols::Sizing& sizing) {
  schedule::Schedule schedule;
  schedule.workers = kSites;
  schedule.uses_aggregator = true;
  const std::vector<std::int64_t> samples(kSteps, 10);
  const world::Work training = sizing.training(samples, 0);
  for (std::int64_t i = 0; i < kSteps; ++i) {
    for (const schedule::Task& task : training.pieces.front().schedule->tasks) schedule.tasks.push_back(task);
  }
  const auto add = [&](schedule::Task task) {
    schedule.tasks.push_back(std::move(task));
    return static_cast<std::int32_t>(schedule.tasks.size() - 1);
  };
  const schedule::PerWorker bytes({sizing.plain_bytes()});
  const std::int32_t up = add({"all", schedule::CollectiveTask{.kind = step::CollectiveKind::gather, .bytes = bytes}});
  add({"all", schedule::WaitTask{step::Role::aggregator, up}});
  const world::Work sum = sizing.sum(step::Role::aggregator, kSites);
  for (const schedule::Task& task : sum.pieces.front().schedule->tasks) add(task);
  const std::int32_t down =
      add({"all", schedule::CollectiveTask{.kind = step::CollectiveKind::broadcast, .bytes = bytes}});
  add({"all", schedule::WaitTask{step::Role::workers, down}});
  return schedule;
}

TEST(Seam, FedAvgOfAllClientsHasTheNumbersAndTheTimesOfItsLearnedFirstForm) {
  test::SmallProblem small(kSites, 210);
  for (int i = 0; i < 10; ++i) {  // shares are unequal, but each site's batches have ten samples
    small.partition[0].push_back(small.partition[1].back());
    small.partition[1].pop_back();
  }
  const test::TemporaryFile platform(test::Star{.workers = kSites, .rate = 2e5, .latency = 0.004}.xml());
  spec::DeviceSpec device;
  device.name = "slow";
  device.peak_flops = 1e8;
  device.memory_bandwidth = 1e9;
  device.matrix_efficiency = device.memory_efficiency = 1;
  sim::Cluster cluster;
  cluster.platform.what = spec::PlatformFileSpec{platform.path(), spec::Transport::tcp};
  for (std::size_t site = 0; site < kSites; ++site) {
    cluster.hosts.push_back("w" + std::to_string(site));
    cluster.devices.push_back(device);
  }
  cluster.aggregator_host = "hub";
  cluster.aggregator_device = device;

  const algorithms::LearningProblem problem = small.problem();
  const models::Network network(problem.data.shape, problem.model, problem.seed);
  const protocols::Sizing sizing(problem, {}, {.shape = network.shape()});
  const schedule::Schedule round = round_as_schedule(sizing);
  const sim::TimedRun timed = sim::time_schedules(cluster, std::span(&round, 1));
  const std::vector<double> losses = learned_first(small);

  world::History history(1, nullptr);
  protocols::Learning learning(problem, history);
  const auto world = sim::simulate_world(cluster);
  const test::Simulated event_driven = test::simulate(*world, small, learning,
                                                      test::run_of("fedavg", {{"rounds", std::to_string(kRounds)},
                                                                              {"local-steps", std::to_string(kSteps)},
                                                                              {"initial", "in-place"}}));
  ASSERT_EQ(event_driven.qualities.size(), losses.size());
  for (std::size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(event_driven.qualities[i][0] / losses[i], 1, 1e-6);
  // Two models of the server are one whole round apart, which begins with the model's download. The first two rounds
  // are left out, as they open new connections.
  const auto& versions = event_driven.protocol_log.versions;
  for (std::size_t i = 3; i < versions.size(); ++i) {
    EXPECT_NEAR((versions[i].at - versions[i - 1].at) / timed.steps.front().seconds, 1, 1e-9);
  }
}

}  // namespace
}  // namespace dadsim::study
