// Tests steps that some sites miss: methods learn from the sites present.
#include "algorithms/attendance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "algorithms/learn.hpp"
#include "algorithms/learning/learners.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/site_weights.hpp"
#include "compress/registry.hpp"
#include "models/data/generated.hpp"
#include "models/flat.hpp"

namespace dadsim::algorithms {
namespace {

/// Four sites with 3, 5, 9 and 14 digits, sorted by class.
struct Sites {
  Sites() {
    data.train = models::draw_digits(0, 31, 5);
    data.test = models::draw_digits(31, 10, 5);
    data.shape = {28, 28, 1};
    data.classes = 10;
    std::vector<std::int32_t> order(31);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::int32_t i) { return data.train.labels[static_cast<std::size_t>(i)]; });
    for (const auto& [from, until] : {std::pair{0, 3}, {3, 8}, {8, 17}, {17, 31}}) {
      partition.emplace_back(order.begin() + from, order.begin() + until);
    }
    problem.model.layers = {spec::DenseSpec{6, spec::Activation::tanh, true},
                            spec::DenseSpec{10, spec::Activation::identity, true}};
    problem.training.batch = 31;
    problem.training.epochs = 100;
    problem.training.optimizer = {.kind = spec::OptimizerSpec::Kind::sgd, .learning_rate = 1};
    problem.training.optimizer.momentum = 0;
  }
  Batch batch() const { return Batch(partition.begin(), partition.end()); }
  std::vector<std::int64_t> rows() const { return {3, 5, 9, 14}; }

  models::Dataset data;
  models::Partition partition;
  LearningProblem problem{data, partition, {}, {}, 5};
};

spec::RunSpec run_among_peers(const SynchronousMethod& method, const spec::ParameterValues& parameters) {
  spec::RunSpec run = run_of(method, parameters);
  run.decentralised = method.decentralised();
  run.exchange = spec::ExchangeMode::peer;
  return run;
}

/// Returns how far the mean of all networks moves in the first step. With plain SGD of rate 1, this is minus the
/// gradient.
std::vector<float> moved(const Sites& sites, const spec::RunSpec& run, const Attendees* attendees) {
  const auto learners = make_learners(run, sites.problem, 10);
  const std::vector<float> before = models::flat_state(*learners->networks().front());
  learners->train(0, 1, sites.batch(), attendees);
  std::vector<float> sum(before.size(), 0);
  const auto networks = learners->networks();
  for (const models::Network* network : networks) {
    const std::vector<float> after = models::flat_state(*network);
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += (after[k] - before[k]) / static_cast<float>(networks.size());
  }
  return sum;
}

/// Returns true for methods that lose nothing with suitable parameters; tests compare these methods up to rounding.
bool is_linear(const SynchronousMethod& method) {
  if (!method.communicates() || !why_no_weights(method).empty()) return false;
  // These two methods take Σ x ÷ Σ w, which is not the mean of x ÷ w.
  if (method.name == "sgp" || method.name == "sparse-push") return false;
  if (method.estimates || method.optimizer == Needs::adam || method.optimizer == Needs::muon) return false;
  return method.decentralised() || method.exact(run_of(method)) || !method.lossless.empty();
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += std::pow(static_cast<double>(a[k] - b[k]), 2);
  return std::sqrt(sum);
}

double length(const std::vector<float>& a) { return distance(a, std::vector<float>(a.size(), 0)); }

// Computes the exact expectation, over all subsets of present sites with their probabilities.
TEST(Attendance, TheExpectedGradientIsThatOfAllWhereEachPartIsWeighedByItsChance) {
  const Sites sites;
  const std::vector<double> chances = {0.9, 0.35, 0.6, 0.5};
  double nobody = 1;
  for (const double chance : chances) nobody *= 1 - chance;
  int methods = 0;
  for (const SynchronousMethod& method : algorithm_registry().all()) {
    if (!is_linear(method) || method.decentralised()) continue;
    ++methods;
    for (const spec::SiteWeights weights : {spec::SiteWeights::published, spec::SiteWeights::uniform}) {
      spec::RunSpec run = run_among_peers(method, method.lossless);
      run.weights = weights;
      const std::vector<float> all = moved(sites, run, nullptr);
      const std::vector<float> worth = site_factors(weights, sites.problem.training, sites.partition);
      std::vector<float> expected(all.size(), 0), present(all.size(), 0);
      for (unsigned there = 1; there < 16; ++there) {
        Attendance::Present who;
        double probability = 1 / (1 - nobody);
        for (std::int32_t site = 0; site < 4; ++site) {
          const double chance = chances[static_cast<std::size_t>(site)];
          const bool here = (there >> static_cast<unsigned>(site) & 1U) != 0;
          probability *= here ? chance : 1 - chance;
          if (!here) continue;
          who.sites.push_back(site);
          who.chances.push_back(chance / (1 - nobody));
        }
        const auto add = [&](std::vector<float>& sum) {
          const Attendees attendees{who.sites, 4, factors_of(who, sites.rows(), worth)};
          const std::vector<float> one = moved(sites, run, &attendees);
          for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += static_cast<float>(probability) * one[k];
        };
        add(expected);
        who.chances.clear();
        add(present);
      }
      // Iterations find low-rank factors only to a tolerance.
      const double rounding = method.exact(run) ? 3e-5 : 1e-3;
      EXPECT_LT(distance(expected, all), rounding * length(all)) << method.name << ", " << to_string(weights);
      EXPECT_GT(distance(present, all), 0.03 * length(all)) << method.name << ": the mean of those there is biased";
    }
  }
  EXPECT_GE(methods, 6);
}

// The step is the mean over the sites present, weighted by samples or equally. Each site's gradient is computed
// separately.
TEST(Attendance, WithoutChancesItIsTheMeanOverThoseThatAreThere) {
  const Sites sites;
  for (const spec::SiteWeights weights : {spec::SiteWeights::published, spec::SiteWeights::uniform}) {
    spec::RunSpec run = run_among_peers(algorithm_registry().at("gradient-sharing"), {});
    run.weights = weights;
    const std::vector<float> worth = site_factors(weights, sites.problem.training, sites.partition);
    const auto moved_by = [&](const std::vector<std::int32_t>& who) {
      const Attendees attendees{who, 4, factors_of({who, {}}, sites.rows(), worth)};
      return moved(sites, run, &attendees);
    };
    for (const std::vector<std::int32_t>& who : {std::vector<std::int32_t>{0, 3}, {1, 2}, {0, 1, 3}}) {
      const auto share = [&](std::int32_t site) {
        return weights == spec::SiteWeights::uniform ? 1.0F
                                                     : static_cast<float>(sites.rows()[static_cast<std::size_t>(site)]);
      };
      std::vector<float> mean(moved_by({0}).size(), 0);
      float all = 0;
      for (const std::int32_t site : who) all += share(site);
      for (const std::int32_t site : who) {
        const std::vector<float> own = moved_by({site});
        for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += share(site) / all * own[k];
      }
      EXPECT_LT(distance(moved_by(who), mean), 3e-5 * length(mean)) << to_string(weights) << ", " << who.size();
    }
  }
}

// With weights of its own, a present site moves as if all sites were present. Moves of single sites therefore add up to
// the move of any set of sites.
TEST(Attendance, ASiteWithItsOwnWeightsTakesItsOwnStepWhoeverIsAway) {
  const Sites sites;
  int methods = 0;
  for (const SynchronousMethod& method : algorithm_registry().all()) {
    if (!method.decentralised()) continue;
    ++methods;
    for (const spec::SiteWeights weights : {spec::SiteWeights::published, spec::SiteWeights::uniform}) {
      if (weights != spec::SiteWeights::published && !why_no_weights(method).empty()) continue;
      spec::RunSpec run = run_among_peers(method, method.lossless);
      run.weights = weights;
      const std::vector<float> worth = site_factors(weights, sites.problem.training, sites.partition);
      const auto moved_by = [&](const std::vector<std::int32_t>& who) {
        const Attendees attendees{who, 4, factors_of({who, {}}, sites.rows(), worth)};
        return moved(sites, run, &attendees);
      };
      const auto sum_of = [&](const std::vector<std::int32_t>& who) {
        std::vector<float> sum(moved_by({0}).size(), 0);
        for (const std::int32_t site : who) {
          const std::vector<float> own = moved_by({site});
          for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += own[k];
        }
        return sum;
      };
      const std::vector<float> all = moved(sites, run, nullptr);
      EXPECT_LT(distance(sum_of({0, 1, 2, 3}), all), 3e-5 * length(all)) << method.name << ", " << to_string(weights);
      if (!is_linear(method)) continue;
      for (const std::vector<std::int32_t>& who : {std::vector<std::int32_t>{0, 1}, {0, 2, 3}}) {
        EXPECT_LT(distance(sum_of(who), moved_by(who)), 3e-5 * length(all))
            << method.name << ", " << to_string(weights);
      }
    }
    spec::RunSpec run = run_among_peers(method, {});
    run.absence = {.does = spec::AbsenceSpec::Does::without, .estimate = spec::AbsenceSpec::Estimate::unbiased};
    const methods::RunFaults faults = methods::faults_of(method, {run, 4});
    const auto told = [](const Fault& fault) {
      return fault.what.find("absent-weights=\"unbiased\" has no effect on") != std::string::npos;
    };
    EXPECT_EQ(std::ranges::count_if(faults, told), 1) << method.name;
  }
  EXPECT_GE(methods, 7);
}

// With all sites present, steps with attendance equal steps without attendance.
TEST(Attendance, WithAllThereNothingIsDifferent) {
  struct All final : Attendance {
    Present next(std::int64_t, const std::vector<std::int64_t>& rows) override {
      Present present;
      for (std::size_t site = 0; site < rows.size(); ++site) present.sites.push_back(static_cast<std::int32_t>(site));
      return present;
    }
    void took(const step::Trajectory&) override { ++steps; }
    std::int64_t steps = 0;
  };
  Sites sites;
  sites.problem.training.batch = 3;
  sites.problem.training.epochs = 3;
  sites.problem.training.evaluate_every = 1;
  sites.problem.training.optimizer.learning_rate = 0.1;
  for (const SynchronousMethod& method : algorithm_registry().all()) {
    if (!method.communicates() || !method.statistics.empty() || method.optimizer == Needs::adam) continue;
    const spec::RunSpec run = run_among_peers(method, {});
    All all;
    const step::Trajectory without = learn(run, sites.problem);
    const step::Trajectory with = learn(run, sites.problem, {}, &all);
    EXPECT_EQ(all.steps, static_cast<std::int64_t>(without.steps.size())) << method.name;
    ASSERT_EQ(with.curve.size(), without.curve.size()) << method.name;
    // PowerSGD keeps one error per site if sites may be absent, and otherwise their sum; both agree up to rounding.
    for (std::size_t i = 0; i < with.curve.size(); ++i) {
      EXPECT_NEAR(with.curve[i].loss, without.curve[i].loss, 1e-4 * without.curve[i].loss) << method.name << " " << i;
    }
    EXPECT_TRUE(std::ranges::all_of(with.distinct_steps, [](const step::Step& step) { return step.sites.empty(); }));
  }
}

// An absent site keeps top-k's error and sends it after its return. With so small a rate, a site's gradient is the same
// in all steps, so its messages sum to all its gradients, less a bounded error.
TEST(Attendance, WhatWasLostAtASiteIsSentWhenItIsBack) {
  const Sites sites;
  const spec::RunSpec run = run_among_peers(algorithm_registry().at("top-k"), {{"fraction", "0.2"}});
  const spec::RunSpec exact = run_among_peers(algorithm_registry().at("gradient-sharing"), {});
  const std::vector<std::vector<std::int32_t>> who = {{0, 1, 2, 3}, {1, 3}, {0, 2, 3}, {2}, {0, 1, 2, 3}};
  // Sums the applied updates, since the weights hardly move at this rate.
  constexpr double kRate = 1e-4;
  const auto applied = [&](const spec::RunSpec& of, std::int64_t steps) {
    const auto learners = make_learners(of, sites.problem, 200);
    const std::vector<float> before = models::flat_state(*learners->networks().front());
    for (std::int64_t step = 0; step < steps; ++step) {
      const Attendees attendees{who[static_cast<std::size_t>(step) % who.size()], 4, {}};
      const Learners::LearnerStep taken = learners->train(step, kRate, sites.batch(), &attendees);
      EXPECT_EQ(taken.sizes.samples.size(), attendees.sites.size());
    }
    std::vector<float> moved = models::flat_state(*learners->networks().front());
    for (std::size_t k = 0; k < moved.size(); ++k) moved[k] -= before[k];
    return moved;
  };
  const auto lacking = [&](std::int64_t steps) {
    const std::vector<float> all = applied(exact, steps);
    return distance(applied(run, steps), all) / length(all);
  };
  const double early = lacking(10);
  const double late = lacking(100);
  EXPECT_GT(early, 0.02) << "something is held back";
  EXPECT_LT(late, early / 3) << "and it is sent in the end";
}

// Estimates of absent sites stay in the sum, so steps converge to the gradient of all sites. With so small a rate, a
// site's gradient is the same in all steps.
TEST(Attendance, EstimatesOfAbsentSitesStandForThem) {
  Sites sites;
  sites.problem.model.layers = {spec::DenseSpec{6, spec::Activation::tanh, false},
                                spec::DenseSpec{10, spec::Activation::identity, false}};
  const std::vector<std::vector<std::int32_t>> who = {{0, 1, 2, 3}, {1, 3}, {0, 2, 3}, {2}};
  constexpr double kRate = 1e-5;
  const auto last_step = [&](const spec::RunSpec& run, std::int64_t steps) {
    const auto learners = make_learners(run, sites.problem, 400);
    std::vector<float> before;
    for (std::int64_t step = 0; step < steps; ++step) {
      before = models::flat_state(*learners->networks().front());
      const Attendees attendees{who[static_cast<std::size_t>(step) % who.size()], 4, {}};
      learners->train(step, kRate, sites.batch(), &attendees);
    }
    std::vector<float> moved = models::flat_state(*learners->networks().front());
    for (std::size_t k = 0; k < moved.size(); ++k) moved[k] = (moved[k] - before[k]) / static_cast<float>(kRate);
    return moved;
  };
  const spec::RunSpec sharing = run_among_peers(algorithm_registry().at("gradient-sharing"), {});
  const std::vector<float> all = moved(sites, sharing, nullptr);
  spec::RunSpec ef21 = run_among_peers(algorithm_registry().at("ef21"), {});
  ef21.compress = {.method = "top-k", .parameters = default_parameters(compress::compressors().at("top-k").parameters)};
  ef21.compress.parameters["fraction"] = "0.1";
  for (const std::int64_t steps : {398, 399, 400}) {
    EXPECT_LT(distance(last_step(ef21, steps), all), 0.03 * length(all)) << steps;
    EXPECT_GT(distance(last_step(sharing, steps), all), 0.1 * length(all)) << steps;
  }
}

TEST(Attendance, ASiteThatIsMissingSendsNothingAndKeepsItsWeights) {
  const Sites sites;
  for (const SynchronousMethod& method : algorithm_registry().all()) {
    if (!method.decentralised()) continue;
    const auto learners = make_learners(run_among_peers(method, {}), sites.problem, 10);
    const Attendees some{{0, 2, 3}, 4, {}};
    for (std::int64_t step = 0; step < 4; ++step) {
      const std::vector<float> before = models::flat_state(*learners->networks()[1]);
      const Learners::LearnerStep taken = learners->train(step, 0.1, sites.batch(), &some);
      EXPECT_EQ(models::flat_state(*learners->networks()[1]), before) << method.name << ", step " << step;
      EXPECT_NE(models::flat_state(*learners->networks()[2]), before) << method.name;
      EXPECT_EQ(taken.sizes.samples[1], 0) << method.name;
    }
  }
}

}  // namespace
}  // namespace dadsim::algorithms
