// Compares DP-SGD, and parts that all private algorithms share, with their definitions: clipping per example, noise,
// privacy spent.
#include <gtest/gtest.h>

#include "algorithms/learn.hpp"
#include "algorithms/private/noisy_sum.hpp"
#include "algorithms/private/private_step.hpp"
#include "algorithms/run_of.hpp"
#include "models/data/generated.hpp"
#include "spec/preset.hpp"

namespace dadsim::algorithms {
namespace {

using test::flattened;
using test::kAggregator;
using test::kPeer;
using test::norm_of;
using test::private_networks;
using test::PrivateNetwork;
using test::PrivateStep;

TEST(ExampleNorms, AreThoseOfTheGradientsOfSingleExamples) {
  for (const PrivateNetwork& of : private_networks()) {
    PrivateStep all(of, {3, 0, 4}, 1.0F);
    all.step.begin(0, all.samples, all.batch);
    all.step.forward();
    ExampleNorms norms(all.step);
    all.step.backward([&](std::size_t l) {
      norms.add_product(all.step.deltas(l), all.step.inputs(l));
      if (all.step.weights(l).has_bias()) norms.add_sum(all.step.deltas(l));
      all.step.backpropagate(l);
    });
    for (std::int32_t i = 0; i < 7; ++i) {
      PrivateStep one(of, {7}, 1.0F);
      const double expected = norm_of(flattened(one.of_example(i, "gradient-sharing", {})));
      EXPECT_NEAR(norms.norm(i), expected, 1e-5 * expected) << of.name << ", example " << i;
    }
  }
}

TEST(ExampleNorms, BothWaysToANormAndMasksAgreeWithTheDefinition) {
  RandomStream random(2, Purpose::test);
  boost::random::normal_distribution<float> normal;
  const auto draw = [&](Eigen::Index rows, Eigen::Index columns) {
    models::Matrix matrix(rows, columns);
    for (float& x : matrix.reshaped()) x = normal(random);
    return matrix;
  };
  const PrivateNetwork dense = private_networks()[0];
  PrivateStep of_three(dense, {3}, 1.0F);
  of_three.step.begin(0, of_three.samples, of_three.batch);
  // An example has one row, a few rows (norms via T × T matrices) or many (via m × n matrices).
  for (const Eigen::Index t : {1, 2, 40}) {
    const models::Matrix u = draw(3 * t, 9);
    const models::Matrix v = draw(3 * t, 11);
    models::Matrix mask = draw(9, 11);
    for (float& x : mask.reshaped()) x = x > 0 ? 1.0F : 0.0F;
    ExampleNorms plain(of_three.step), masked(of_three.step);
    plain.add_product(u, v);
    masked.add_masked_product(u, v, mask);
    for (Eigen::Index i = 0; i < 3; ++i) {
      const models::MatrixOf<double> product =
          u.middleRows(i * t, t).cast<double>().transpose() * v.middleRows(i * t, t).cast<double>();
      EXPECT_NEAR(plain.norm(i), 3 * product.norm(), 1e-5 * product.norm()) << t;
      EXPECT_NEAR(masked.norm(i), 3 * product.cwiseProduct(mask.cast<double>()).norm(), 1e-5 * product.norm()) << t;
    }
  }
}

// One example, however large, moves the sum by at most C. Small examples stay unchanged.
TEST(Clipping, BoundsEveryExample) {
  for (const char* algorithm : {"dp-sgd", "rgp", "lsg"}) {
    for (const PrivateNetwork& of : private_networks()) {
      for (const float size : {1e-3F, 1.0F, 1e4F, 1e20F}) {
        // Inputs of 1e20 saturate recurrences, and their squares overflow fp32 in dense layers.
        PrivateStep step(of, {4}, size);
        for (std::int32_t i = 0; i < 4; ++i) {
          const spec::ParameterValues clipped{{"clip", "0.5"}, {"noise-multiplier", "0"}};
          const spec::ParameterValues free{{"clip", "1e30"}, {"noise-multiplier", "0"}};
          const std::vector<double> bounded = flattened(step.of_example(i, algorithm, clipped));
          const std::vector<double> unbounded = flattened(step.of_example(i, algorithm, free));
          const double length = norm_of(unbounded);
          // RGP's update is at most as long as its carriers' gradients, as the parts of its projection are orthogonal.
          EXPECT_LE(norm_of(bounded), 0.5 * (1 + 1e-5)) << algorithm << ' ' << of.name << ' ' << size;
          if (std::string(algorithm) == "dp-sgd") {
            EXPECT_NEAR(norm_of(bounded), std::min(length, 0.5), 1e-5) << of.name << ' ' << size;
          }
          if (length > 0) {
            const double along = std::inner_product(bounded.begin(), bounded.end(), unbounded.begin(), 0.0);
            EXPECT_NEAR(along, norm_of(bounded) * length, 1e-4 * norm_of(bounded) * length) << "direction is kept";
          }
        }
      }
    }
  }
}

TEST(Clipping, SumsClippedExamples) {
  for (const PrivateNetwork& of : private_networks()) {
    for (const char* noise : {"local", "central", "per-site"}) {
      PrivateStep step(of, {3, 0, 4}, 2.0F, kAggregator);
      const spec::ParameterValues clipped{{"clip", "0.7"}, {"noise-multiplier", "0"}, {"noise", noise}};
      const std::vector<double> all = flattened(step.run("dp-sgd", clipped));
      std::vector<double> expected(all.size());
      for (std::int32_t i = 0; i < 7; ++i) {
        const std::vector<double> one = flattened(step.of_example(i, "dp-sgd", clipped));
        for (std::size_t k = 0; k < one.size(); ++k) expected[k] += one[k] / 7;
      }
      for (std::size_t k = 0; k < all.size(); ++k) EXPECT_NEAR(all[k], expected[k], 1e-6) << of.name;
    }
  }
}

// Over seeds, the released gradient has the variance σ²C²/B², or n times this if each of n sites adds all of the noise.
// Its mean is the gradient without noise.
TEST(Noise, HasTheVarianceThatTheAccountantIsTold) {
  const PrivateNetwork dense = private_networks()[0];
  struct Case {
    const char* noise;
    double sites_adding;
  };
  for (const Case& c : {Case{"local", 1}, {"central", 1}, {"per-site", 3}}) {
    spec::ParameterValues given{{"clip", "0.25"}, {"noise-multiplier", "2"}, {"noise", c.noise}};
    PrivateStep quiet(dense, {4, 0, 6}, 1.0F, kAggregator);
    spec::ParameterValues without = given;
    without["noise-multiplier"] = "0";
    const std::vector<double> clean = flattened(quiet.run("dp-sgd", without));
    double squares = 0;
    double sum = 0;
    double count = 0;
    double fourth = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      PrivateStep step(dense, {4, 0, 6}, 1.0F, kAggregator, seed);
      const std::vector<double> noisy = flattened(step.run("dp-sgd", given));
      for (std::size_t k = 0; k < noisy.size(); ++k) {
        const double x = noisy[k] - clean[k];
        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
        ++count;
      }
    }
    const double variance = c.sites_adding * std::pow(2 * 0.25 / 10, 2);  // σ²C²/B²
    const double sampling = std::sqrt(2.0 / count);                       // relative error of a variance
    EXPECT_NEAR(squares / count, variance, 5 * sampling * variance) << c.noise;
    EXPECT_NEAR(sum / count, 0, 5 * std::sqrt(variance / count)) << c.noise;
    EXPECT_NEAR(fourth / count / (variance * variance), 3, 5 * std::sqrt(96 / count)) << "normal, " << c.noise;
  }
}

TEST(Noise, IsDrawnAnewByEverySiteLayerAndStep) {
  const PrivateNetwork dense = private_networks()[0];
  const spec::ParameterValues given{{"clip", "1e-9"}, {"noise-multiplier", "1e9"}};  // the gradient is nothing but
                                                                                     // noise
  PrivateStep step(dense, {4, 6}, 1.0F);
  const std::vector<double> first = flattened(step.run("dp-sgd", given, 0));
  const std::vector<double> second = flattened(step.run("dp-sgd", given, 1));
  EXPECT_EQ(first, flattened(step.run("dp-sgd", given, 0))) << "same seed, same step, same bits";
  double along = 0;
  for (std::size_t k = 0; k < first.size(); ++k) along += first[k] * second[k];
  const auto size = static_cast<double>(first.size());
  EXPECT_NEAR(along / norm_of(first) / norm_of(second), 0, 5 / std::sqrt(size));
  double shifted = 0;  // correlation of the noise of different layers
  for (std::size_t k = 0; k + 750 < first.size(); ++k) shifted += first[k] * first[k + 750];
  EXPECT_NEAR(shifted / norm_of(first) / norm_of(first), 0, 5 / std::sqrt(size));
}

TEST(Noise, OfAnAggregatorNeedsOne) {
  const SynchronousMethod& info = algorithm_registry().at("dp-sgd");
  const auto faults = [&](const char* noise, spec::ExchangeMode mode) {
    spec::RunSpec run = run_of(info, {{"noise", noise}});
    run.exchange = mode;
    return faults_of(info, {run});
  };
  EXPECT_TRUE(faults("local", kPeer).empty());
  EXPECT_TRUE(faults("central", kAggregator).empty());
  EXPECT_NE(faults("central", kPeer).at(0).what.find("needs an aggregator"), std::string::npos);
  PrivateStep step(private_networks()[0], {4}, 1.0F, kPeer);
  EXPECT_THROW(step.run("dp-sgd", {{"noise", "central"}}), std::logic_error);
}

TEST(Private, RefusesWhatItCannotClip) {
  const spec::SampleShape sequence{.height = 1, .width = 9, .channels = 3};
  const spec::Preset& preset = *spec::preset_registry().find("transformer-classifier");
  const spec::ModelSpec transformer = preset.make(default_parameters(preset.parameters), sequence, 4);
  const spec::ModelSpec dense = private_networks()[0].model;
  const spec::SampleShape row{.height = 1, .width = 1, .channels = 12};
  for (const char* algorithm : {"dp-sgd", "rgp", "lsg"}) {
    const SynchronousMethod& info = algorithm_registry().at(algorithm);
    spec::RunSpec run = run_of(info);
    EXPECT_NE(faults_of(info, {run, 2, &transformer, sequence}).at(0).what.find("not clipped per example"),
              std::string::npos);
    RunFacts facts{run, 2, &dense, row};
    EXPECT_TRUE(faults_of(info, facts).empty());
    run.parameters["epsilon"] = "1e-9";
    facts.planned = {.sites = 2, .batch = 10, .sampling_rate = 1, .sampled = true, .steps = 100'000};
    EXPECT_NE(faults_of(info, facts).at(0).remedy.find("a larger epsilon"), std::string::npos);
  }
}

TEST(Private, RefusesNoiseOfItsOwnBesideEpsilon) {
  for (const char* algorithm : {"dp-sgd", "rgp", "lsg"}) {
    const SynchronousMethod& info = algorithm_registry().at(algorithm);
    const auto faults = [&](const spec::ParameterValues& given) {
      const spec::RunSpec run = run_of(info, given);
      return faults_of(info, {run});
    };
    const RunFaults both = faults({{"epsilon", "3"}, {"noise-multiplier", "0.5"}});
    ASSERT_EQ(both.size(), 1U) << algorithm;
    EXPECT_NE(both[0].what.find("noise-multiplier=\"0.5\" conflicts with epsilon"), std::string::npos) << both[0].what;
    // Applying each remedy of the message literally leads to an accepted run.
    EXPECT_EQ(both[0].remedy, "set epsilon=\"0\", or remove noise-multiplier");
    EXPECT_TRUE(faults({{"epsilon", "0"}, {"noise-multiplier", "0.5"}}).empty()) << algorithm;
    EXPECT_TRUE(faults({{"epsilon", "3"}}).empty()) << algorithm;
  }
}

class PrivateRun : public testing::Test {
 protected:
  PrivateRun() {
    data_.train = models::draw_digits(0, 600, 3);
    data_.test = models::draw_digits(600, 200, 3);
    data_.shape = {28, 28, 1};
    data_.classes = 10;
    partition_ = split_over_sites({.kind = spec::SplitSpec::Kind::iid, .alpha = 0.5, .shards = 2, .sizes = {}},
                                  data_.train, 10, 3, 3);
    problem_.model.layers = {spec::DenseSpec{32, spec::Activation::relu, true},
                             spec::DenseSpec{10, spec::Activation::identity, true}};
    problem_.training.batch = 20;
    problem_.training.epochs = 2;
    problem_.training.batches = spec::TrainingSpec::Batches::poisson;
  }
  std::string remark(const std::string& algorithm, spec::ParameterValues given, std::int64_t steps) const {
    const SynchronousMethod& info = algorithm_registry().at(algorithm);
    const spec::RunSpec run = run_of(info, given);
    RunFacts facts{run, 3, &problem_.model, data_.shape, 3};
    facts.planned = facts.taken = planned_run(problem_);
    facts.taken->steps = steps;
    return info.remark(facts);
  }

  models::Dataset data_;
  models::Partition partition_;
  LearningProblem problem_{data_, partition_, {}, {}, 3};
};

TEST_F(PrivateRun, SaysWhatItHasSpent) {
  const RunContext planned = planned_run(problem_);
  EXPECT_EQ(planned.steps, 20);
  EXPECT_DOUBLE_EQ(planned.sampling_rate, 0.1);
  EXPECT_DOUBLE_EQ(planned.batch, 60);
  EXPECT_TRUE(planned.sampled);
  EXPECT_NE(remark("dp-sgd", {{"epsilon", "3"}}, 20).find("spent ε = 3 at δ = 1e-05 in 20 steps"), std::string::npos)
      << remark("dp-sgd", {{"epsilon", "3"}}, 20);
  EXPECT_EQ(remark("dp-sgd", {{"epsilon", "3"}}, 5).find("spent ε = 3 "), std::string::npos) << "stopped early";
  EXPECT_NE(remark("rgp", {{"noise-multiplier", "0"}}, 20).find("not private"), std::string::npos);
  EXPECT_EQ(remark("lsg", {}, 20).find("shuffled"), std::string::npos);
  problem_.training.batches = spec::TrainingSpec::Batches::proportional;
  EXPECT_NE(remark("lsg", {}, 20).find("shuffled"), std::string::npos);
}

TEST_F(PrivateRun, LearnsWithLittleNoiseAndNotWithMuch) {
  problem_.training.epochs = 8;
  problem_.training.optimizer.kind = spec::OptimizerSpec::Kind::sgd;
  problem_.training.optimizer.learning_rate = 2;
  const auto accuracy = [&](const std::string& algorithm, const std::string& epsilon) {
    return learn(test::run_of(algorithm, kPeer, {{"epsilon", epsilon}}), problem_).curve.back().accuracy;
  };
  for (const char* algorithm : {"dp-sgd", "rgp", "lsg"}) {
    EXPECT_GT(accuracy(algorithm, "1000"), 0.5) << algorithm;
  }
  EXPECT_LT(accuracy("dp-sgd", "0.05"), 0.4);
}

}  // namespace
}  // namespace dadsim::algorithms
