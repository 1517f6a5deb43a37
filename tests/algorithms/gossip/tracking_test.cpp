// Tests D² and gradient tracking on sites with different data. At a constant rate they reach the common minimum, while
// D-PSGD keeps moving around it.
#include <gtest/gtest.h>

#include <boost/random/bernoulli_distribution.hpp>
#include <cstdio>

#include "algorithms/gossip/sites_evaluation.hpp"
#include "algorithms/learning/learners.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/run_of.hpp"
#include "models/data/generated.hpp"
#include "support/random.hpp"

namespace dadsim::algorithms {
namespace {

/// Consensus distance, and length of the mean's last move, after steps of logistic regression. In each step, every site
/// uses all its samples.
struct Settled {
  double apart = 0, moved = 0;
  models::Matrix mean;
};

/// `chance`: probability that a site takes part in a step.
Settled settle(const std::string& algorithm, double chance = 1, std::int64_t steps = 400) {
  models::Dataset data;
  data.train = models::draw_digits(0, 80, 3);
  data.test = models::draw_digits(80, 10, 3);
  data.shape = {28, 28, 1};
  data.classes = 10;
  const models::Partition partition = models::split_over_sites(
      {.kind = spec::SplitSpec::Kind::shards, .alpha = 0, .shards = 2, .sizes = {}}, data.train, 10, 8, 3);
  LearningProblem problem{data, partition, {}, {}, 3};
  problem.model.layers = {spec::DenseSpec{10, spec::Activation::identity, true}};
  problem.training.batch = 10;
  problem.training.epochs = 10000;
  problem.training.optimizer.kind = spec::OptimizerSpec::Kind::sgd;
  problem.training.optimizer.momentum = 0;
  problem.training.optimizer.weight_decay = 0.5;  // so that there is exactly one minimum
  spec::RunSpec run = test::run_of(algorithm, spec::ExchangeMode::peer);
  run.decentralised = true;
  const auto learners = make_learners(run, problem);
  const Batch all(partition.begin(), partition.end());
  const auto mean = [&] {
    models::Matrix sum = learners->networks()[0]->layer(0).weight;
    for (std::size_t i = 1; i < 8; ++i) sum += learners->networks()[i]->layer(0).weight;
    return models::Matrix(sum / 8.0F);
  };
  const std::vector<std::int64_t> rows(8, 10);
  const auto train = [&](std::int64_t step) {
    Attendance::Present present;
    RandomStream random(11, Purpose::test, 0, static_cast<std::uint32_t>(step));
    const boost::random::bernoulli_distribution<double> is_there(chance);
    for (std::int32_t site = 0; site < 8; ++site) {
      if (chance == 1 || is_there(random)) present.sites.push_back(site);
    }
    if (present.sites.empty()) present.sites.push_back(static_cast<std::int32_t>(step % 8));
    const Attendees attendees{present.sites, 8, factors_of(present, rows, {})};
    learners->train(step, 0.05, all, chance == 1 ? nullptr : &attendees);
  };
  for (std::int64_t step = 0; step < steps; ++step) train(step);
  const models::Matrix before = mean();
  train(steps);
  const Settled settled{evaluate_sites(learners->networks(), {}, data.test).consensus_distance,
                        static_cast<double>((mean() - before).norm()), mean()};
  std::printf("[ figure ] %s: consensus distance %.3g, last move %.3g\n", algorithm.c_str(), settled.apart,
              settled.moved);
  return settled;
}

TEST(Tracking, ComesToTheCommonMinimumWhereDPsgdDoesNot) {
  const Settled plain = settle("d-psgd");
  for (const char* algorithm : {"d2", "gradient-tracking"}) {
    const Settled tracked = settle(algorithm);
    EXPECT_LT(tracked.apart, 1e-3 * plain.apart) << algorithm;
    EXPECT_LT(tracked.moved, 1e-4) << algorithm;
  }
}

// D-PSGD's step stays as long as with all sites present, not eight times as long if seven sites are absent. D-PSGD
// still learns if few sites are present at a time.
TEST(Tracking, DPsgdStaysNearTheMinimumWhereFewSitesAreThere) {
  const Settled all = settle("d-psgd", 1, 300);
  const Settled few = settle("d-psgd", 0.2, 1500);
  EXPECT_LT((few.mean - all.mean).norm(), 0.5 * all.mean.norm());
}

// The direction contains the last gradients of absent sites, so gradient tracking reaches the minimum of all sites.
// D-PSGD moves with the sites that are present.
TEST(Tracking, GoesToTheMinimumOfAllWhoeverIsAway) {
  const Settled all = settle("gradient-tracking");
  for (const char* algorithm : {"d2", "gradient-tracking"}) {
    const Settled without = settle(algorithm, 0.6, 700);
    EXPECT_LT((without.mean - all.mean).norm(), 1e-3 * all.mean.norm()) << algorithm;
    EXPECT_LT(without.moved, 1e-4) << algorithm;
  }
  const Settled plain = settle("d-psgd", 0.6, 400);
  EXPECT_GT((plain.mean - all.mean).norm(), 0.03 * all.mean.norm());
}

}  // namespace
}  // namespace dadsim::algorithms
