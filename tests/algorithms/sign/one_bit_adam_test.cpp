// Tests 1-bit Adam: plain Adam at first, then compressed momentum with error feedback in both directions.
#include "algorithms/sign/one_bit_adam.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>

#include "algorithms/learn.hpp"
#include "algorithms/learning/learners.hpp"
#include "algorithms/run_of.hpp"
#include "algorithms/sign/several_steps.hpp"
#include "models/data/generated.hpp"
#include "schedule/schedule.hpp"

namespace dadsim::algorithms {
namespace {

using test::SeveralSteps;

constexpr spec::ExchangeMode kExchanges[] = {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer};
constexpr std::size_t kMatrices = 3;

/// Provides digits at four sites, and a small network.
struct Digits {
  models::Dataset data;
  models::Partition partition;
  spec::ModelSpec model;
  spec::TrainingSpec training;

  explicit Digits(std::int64_t count) {
    data.train = models::draw_digits(0, count, 3);
    data.test = models::draw_digits(count, 500, 3);
    data.shape = {28, 28, 1};
    data.classes = 10;
    partition = split_over_sites({.kind = spec::SplitSpec::Kind::iid, .alpha = 0.5, .shards = 2, .sizes = {}},
                                 data.train, 10, 4, 3);
    model.layers = {spec::DenseSpec{32, spec::Activation::relu, true},
                    spec::DenseSpec{10, spec::Activation::identity, true}};
    training.batch = 10;
  }
  LearningProblem problem() const { return {data, partition, model, training, 3}; }
};

using test::run_of;

TEST(OneBitAdam, IsAdamToTheBitUntilTheVarianceIsFrozen) {
  Digits digits(400);
  for (const auto kind : {spec::OptimizerSpec::Kind::adam, spec::OptimizerSpec::Kind::adamw}) {
    digits.training.optimizer = {.kind = kind, .weight_decay = 0.01};
    for (const spec::ExchangeMode mode : kExchanges) {
      constexpr std::int64_t kFreeze = 12;
      const auto adam = make_learners(run_of("gradient-sharing", mode), digits.problem(), 20);
      const auto one_bit =
          make_learners(run_of("one-bit-adam", mode, {{"warm-up-share", "0.6"}}), digits.problem(), 20);
      for (std::int64_t t = 0; t < 16; ++t) {
        std::vector<std::vector<std::int32_t>> batch(4);
        for (std::int32_t i = 0; i < 8; ++i)
          batch[static_cast<std::size_t>(i % 4)].push_back((8 * static_cast<std::int32_t>(t) + i) % 400);
        adam->train(t, 1e-3, batch);
        one_bit->train(t, 1e-3, batch);
        const models::Network& a = *adam->networks().front();
        const models::Network& b = *one_bit->networks().front();
        for (std::size_t l = 0; l < a.layers(); ++l) {
          EXPECT_EQ(a.layer(l).weight == b.layer(l).weight, t < kFreeze) << t;
          EXPECT_EQ(a.layer(l).bias == b.layer(l).bias, t < kFreeze) << t;
        }
      }
    }
  }
}

/// Takes some steps of Adam, then of 1-bit Adam, while the weights stay fixed.
class Frozen {
 public:
  Frozen(spec::ExchangeMode mode, const std::vector<int>& rows, spec::OptimizerSpec adam = {},
         const Attendees* attendees = nullptr)
      : steps_(algorithm_, mode, rows), adam_(models::make_optimizer(adam, steps_.network())) {
    steps_.rule = {adam, adam_.get(), 0.0, 0};
    models::Network frozen_weights = steps_.network();
    for (int t = 0; t < 5; ++t) {
      const TrainingStep& step = steps_.next(attendees);
      EXPECT_FALSE(step.is_applied_as_it_is());
      adam_->update(frozen_weights, step.gradient(), 1e-3);
    }
  }
  TrainingStep& next(const Attendees* attendees = nullptr) { return steps_.next(attendees); }
  const OneBitAdam& algorithm() const { return algorithm_; }
  const SeveralSteps& steps() const { return steps_; }
  Eigen::ArrayXf gradient_of(std::size_t site, std::size_t l) const {
    const models::LayerGradient own = steps_.of_site(site, l);
    Eigen::ArrayXf row(own.weight.size() + own.bias.size());
    row.head(own.weight.size()) = own.weight.reshaped<Eigen::RowMajor>().array();
    row.tail(own.bias.size()) = own.bias.array();
    return row;
  }
  Eigen::ArrayXf gradient(std::size_t l, std::size_t sites) const {
    Eigen::ArrayXf sum = gradient_of(0, l);
    for (std::size_t s = 1; s < sites; ++s) sum += gradient_of(s, l);
    return sum;
  }
  /// Returns t, m and v of Adam, with matrices in the order of the step.
  std::vector<float> state() const { return adam_->state(); }
  std::vector<Eigen::ArrayXf> momenta() const {
    const std::vector<float> state = adam_->state();
    std::vector<Eigen::ArrayXf> m;
    Eigen::Index at = 1;
    for (const Eigen::Index size : {260, 189, 50}) {
      m.emplace_back(Eigen::Map<const Eigen::ArrayXf>(state.data() + at, size));
      at += size;
    }
    return m;
  }

 private:
  OneBitAdam algorithm_{{.warm_up_steps = 5}};
  SeveralSteps steps_;
  std::unique_ptr<models::Optimizer> adam_;
};

// m + all memories = β₁ m before + (1 − β₁) g + all memories before: neither direction loses anything.
TEST(OneBitAdam, LosesNothingOfTheMomentum) {
  for (const spec::ExchangeMode mode : kExchanges) {
    for (const std::vector<int>& rows : {std::vector<int>{6}, {5, 3}, {5, 0, 3}, {2, 4, 3, 1, 2}}) {
      Frozen run(mode, rows);
      std::vector<Eigen::ArrayXf> before = run.momenta(), kept;
      for (const Eigen::ArrayXf& momentum : before) kept.emplace_back(Eigen::ArrayXf::Zero(momentum.size()));
      for (int t = 0; t < 20; ++t) {
        const TrainingStep& step = run.next();
        EXPECT_TRUE(step.is_applied_as_it_is());
        for (std::size_t l = 0; l < kMatrices; ++l) {
          const Eigen::ArrayXf wanted = 0.9F * before[l] + 0.1F * run.gradient(l, rows.size()) + kept[l];
          before[l] = run.algorithm().momentum(l);
          kept[l] = run.algorithm().errors(l);
          EXPECT_LT((before[l] + kept[l] - wanted).matrix().norm(), 1e-5F * wanted.matrix().norm()) << t << ' ' << l;
          EXPECT_GT(kept[l].matrix().norm(), 0.1F * before[l].matrix().norm()) << "something is always kept";
          const Eigen::ArrayXf sizes = before[l].abs();
          const std::set<float> magnitudes(sizes.begin(), sizes.end());
          // Blocks have whole bytes, so the last block may be empty.
          const auto sites = static_cast<Eigen::Index>(rows.size());
          const Eigen::Index block = 8 * ((before[l].size() + 8 * sites - 1) / (8 * sites));
          const Eigen::Index blocks = (before[l].size() + block - 1) / block;
          EXPECT_LE(std::ssize(magnitudes), mode == spec::ExchangeMode::peer ? blocks : 1) << "one scale per block";
        }
      }
    }
  }
}

// Repeats the test with an aggregator and sites that miss steps; an absent site keeps its sign memory.
TEST(OneBitAdam, LosesNothingOfASiteThatIsAwayForAWhile) {
  const Attendees everyone{{0, 1, 2}, 3, {}};
  const std::vector<Attendees> who{{{0, 2}, 3, {}}, {{1}, 3, {}}, everyone, {{1, 2}, 3, {}}, {{0, 1}, 3, {}}};
  Frozen run(spec::ExchangeMode::aggregator, {5, 2, 3}, {}, &everyone);
  std::vector<Eigen::ArrayXf> before(kMatrices), kept(kMatrices);
  for (std::size_t t = 0; t < 15; ++t) {
    const Attendees& attendees = who[t % who.size()];
    run.next(&attendees);
    for (std::size_t l = 0; l < kMatrices; ++l) {
      const Eigen::ArrayXf gradient = 0.1F * run.gradient(l, attendees.sites.size());
      const Eigen::ArrayXf wanted = t == 0 ? gradient : (0.9F * before[l] + gradient + kept[l]).eval();
      before[l] = run.algorithm().momentum(l);
      kept[l] = run.algorithm().errors(l);
      if (t == 0) continue;
      EXPECT_LT((before[l] + kept[l] - wanted).matrix().norm(), 1e-5F * wanted.matrix().norm()) << t << ' ' << l;
    }
  }
}

// Computes the recursion of one_bit_adam.hpp, adding the errors of both directions where they occur.
TEST(OneBitAdam, ASiteAddsWhatItsOwnSignsHaveLost) {
  const Attendees everyone{{0, 1, 2}, 3, {}};
  const std::vector<Attendees> who{{{0, 2}, 3, {}}, {{1}, 3, {}}, everyone, {{1, 2}, 3, {}}, {{0, 1}, 3, {}}};
  const std::vector<int> rows = {5, 2, 3};
  Frozen run(spec::ExchangeMode::aggregator, rows, {}, &everyone);
  std::vector<Eigen::ArrayXf> m = run.momenta(), of_server;
  for (const Eigen::ArrayXf& momentum : m) of_server.emplace_back(Eigen::ArrayXf::Zero(momentum.size()));
  std::vector<std::vector<Eigen::ArrayXf>> of_site(3, of_server);
  const auto signs_of = [](const Eigen::ArrayXf& y) {
    const float scale = y.matrix().norm() / std::sqrt(static_cast<float>(y.size()));
    return Eigen::ArrayXf((y >= 0).select(scale, Eigen::ArrayXf::Constant(y.size(), -scale)));
  };
  for (std::size_t t = 0; t < 15; ++t) {
    const Attendees& attendees = who[t % who.size()];
    run.next(&attendees);
    float all = 0;
    for (const std::int32_t site : attendees.sites) all += static_cast<float>(rows[static_cast<std::size_t>(site)]);
    for (std::size_t l = 0; l < kMatrices; ++l) {
      Eigen::ArrayXf& lost = of_server[l];
      for (std::size_t i = 0; i < attendees.sites.size(); ++i) {
        const auto site = static_cast<std::size_t>(attendees.sites[i]);
        Eigen::ArrayXf& own = of_site[site][l];
        own += static_cast<float>(rows[site]) / all * 0.9F * m[l] + 0.1F * run.gradient_of(i, l);
        const Eigen::ArrayXf sent = signs_of(own);
        own -= sent;
        lost += sent;
      }
      m[l] = signs_of(lost);
      lost -= m[l];
      EXPECT_LT((run.algorithm().momentum(l) - m[l]).matrix().norm(), 1e-4F * m[l].matrix().norm()) << t << ' ' << l;
    }
  }
}

TEST(OneBitAdam, StepsByTheMomentumOverTheDeviationThatAdamHad) {
  for (const spec::ExchangeMode mode : kExchanges) {
    Frozen run(mode, {5, 3});
    const std::vector<float> state = run.state();
    const TrainingStep& step = run.next();
    const Eigen::Index numbers = 260 + 189 + 50;
    const float corrected = static_cast<float>(1 - std::pow(0.999, 5));
    for (Eigen::Index i = 0; i < 240; ++i) {
      const float deviation = std::sqrt(state[static_cast<std::size_t>(1 + numbers + i)] / corrected);
      const float wanted = run.algorithm().momentum(0)(i) / (deviation + 1e-8F);
      EXPECT_NEAR(step.gradient(0).weight.data()[i], wanted, 1e-5F * std::abs(wanted)) << i;
    }
  }
}

// Weights of an input that is always 0 have neither gradient nor variance, so they do not move.
TEST(OneBitAdam, WhatHadNoGradientStaysWhereItIs) {
  Digits digits(200);
  digits.training.optimizer = {};
  for (Eigen::Index row = 0; row < digits.data.train.features.rows(); ++row)
    digits.data.train.features.row(row).head(30).setZero();
  for (const spec::ExchangeMode mode : kExchanges) {
    const auto learners = make_learners(run_of("one-bit-adam", mode, {{"warm-up-steps", "3"}}), digits.problem(), 20);
    const models::Matrix before = learners->networks().front()->layer(0).weight;
    for (std::int64_t t = 0; t < 10; ++t) {
      EXPECT_TRUE(learners->train(t, 1e-3, {{0, 1, 2}, {50, 51}, {100, 101}, {150, 151}}).finite);
    }
    const models::Matrix& after = learners->networks().front()->layer(0).weight;
    EXPECT_EQ(after.leftCols(30), before.leftCols(30));
    EXPECT_GT((after - before).norm(), 1e-3F);
    EXPECT_TRUE(after.allFinite());
  }
}

TEST(OneBitAdam, SendsABitForEveryNumberTwice) {
  // The matrices of 12-20-9-5 and their biases have 260, 189 and 50 numbers, at three sites.
  for (const spec::ExchangeMode mode : kExchanges) {
    Frozen run(mode, {5, 3, 1});
    TrainingStep& step = run.next();
    const std::vector<double> uplink_bytes = step.exchange().uplink_bytes();
    const double downlink_bytes = step.exchange().downlink_bytes();
    const auto bytes = [](double blocks) {
      return std::ceil(260 / (8 * blocks)) + std::ceil(189 / (8 * blocks)) + std::ceil(50 / (8 * blocks)) + 3 * 4;
    };
    if (mode == spec::ExchangeMode::peer) {
      EXPECT_EQ(uplink_bytes, std::vector<double>(3, (2 + 1) * bytes(3)))
          << "two blocks of others, then its own to all";
      EXPECT_EQ(downlink_bytes, 0);
    } else {
      EXPECT_EQ(uplink_bytes, std::vector<double>(3, bytes(1)));
      EXPECT_EQ(downlink_bytes, bytes(1));
    }
    // The record of the step has the same bytes, and can be sized for another network.
    const auto [structure, sizes] = step.recorder().take();
    const spec::ModelShape large{"large", {spec::dense_shape("a", 1000, 300, true)}};
    for (const bool timed_as_large : {false, true}) {
      const spec::ModelShape& learned = run.steps().shape();
      const schedule::Schedule schedule =
          schedule::instantiate(structure, sizes, learned, timed_as_large ? large : learned);
      double over = 0;
      double down = 0;
      for (const schedule::Task& task : schedule.tasks) {
        const auto* collective = std::get_if<schedule::CollectiveTask>(&task.what);
        if (collective == nullptr) continue;
        const double times = collective->kind == step::CollectiveKind::all_to_all ? 2 : 1;
        (collective->kind == step::CollectiveKind::broadcast ? down : over) += times * collective->bytes[0];
      }
      const bool peers = mode == spec::ExchangeMode::peer;
      const double of_large = std::ceil(300300.0 / (peers ? 24 : 8)) + 4;
      EXPECT_EQ(over, timed_as_large ? (peers ? 3 : 1) * of_large : uplink_bytes[0]);
      EXPECT_EQ(down, peers ? 0 : timed_as_large ? of_large : downlink_bytes);
    }
  }
}

}  // namespace
}  // namespace dadsim::algorithms
