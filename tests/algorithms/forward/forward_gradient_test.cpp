#include "algorithms/forward/forward_gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/forward/perturbation.hpp"
#include "algorithms/one_step.hpp"
#include "algorithms/registry.hpp"

namespace dadsim::algorithms {
namespace {

using models::LayerGradient;
using models::Matrix;
using models::Network;

/// Provides a small network, data of several sites, and steps with any seed.
class ForwardGradientTest : public testing::Test {
 protected:
  void SetUp() override { begin({5, 4, 6, 3}, spec::Activation::relu, {2, 0, 3}); }

  void begin(const std::vector<std::int64_t>& widths, spec::Activation activation,
             const std::vector<std::int32_t>& rows, bool bias = true) {
    spec::ModelSpec model;
    for (std::size_t l = 1; l < widths.size(); ++l) {
      const bool last = l + 1 == widths.size();
      model.layers.push_back(spec::DenseSpec{widths[l], last ? spec::Activation::identity : activation, bias});
    }
    begin({1, 1, widths.front()}, model, rows);
  }

  void begin(const spec::SampleShape& sample, const spec::ModelSpec& model, const std::vector<std::int32_t>& rows) {
    network = Network(sample, model, 4);
    RandomStream random(5, Purpose::test);
    boost::random::normal_distribution<float> normal;
    for (models::WeightsOf<float>& weights : network.parameters().matrices) {
      for (float& b : weights.bias) b = 0.2F * normal(random);
    }
    batch.clear();
    std::int32_t next = 0;
    for (const std::int32_t count : rows) {
      batch.emplace_back();
      for (std::int32_t i = 0; i < count; ++i) batch.back().push_back(next++);
    }
    samples.features.resize(next, sample.size());
    for (float& x : samples.features.reshaped()) x = normal(random);
    samples.labels.clear();
    boost::random::uniform_int_distribution<std::int32_t> label(
        0, static_cast<std::int32_t>(network.output_shape().channels) - 1);
    for (std::int32_t i = 0; i < next; ++i) samples.labels.push_back(label(random));
  }

  struct Made {
    models::Gradient gradient;
    std::vector<double> uplink_bytes;
    step::StepStructure structure;
  };
  Made make(Algorithm& algorithm, std::uint64_t seed, std::int64_t number = 0) const {
    TrainingStep step(network, spec::ExchangeMode::peer, seed);
    step.set_update_rule({.rate = 0});  // a rate of 0 leaves the heads unchanged
    step.begin(number, samples, batch);
    algorithm.run(step);
    step.finish();
    return {step.gradient(), step.exchange().uplink_bytes(), step.recorder().take().first};
  }
  Made make(const ForwardGradient::Options& options, std::uint64_t seed = 1) const {
    ForwardGradient algorithm(options);
    return make(algorithm, seed);
  }
  Made backward() const { return make(*make_algorithm(algorithm_registry().at("gradient-sharing")), 1); }

  /// Expects that the mean of 10,000 steps equals `right` in every entry, within five standard errors.
  void expect_unbiased(const ForwardGradient::Options& options, const std::vector<LayerGradient>& right) const {
    constexpr int kSteps = 10000;
    std::vector<Eigen::ArrayXd> sum(right.size()), squares(right.size());
    const auto flat = [](const LayerGradient& g) {
      Eigen::ArrayXd all(g.weight.size() + g.bias.size());
      all << g.weight.reshaped().cast<double>().array(), g.bias.cast<double>().array();
      return all;
    };
    ForwardGradient algorithm(options);
    for (int i = 0; i < kSteps; ++i) {
      const models::Gradient gradient = make(algorithm, 77, i).gradient;
      for (std::size_t l = 0; l < right.size(); ++l) {
        const Eigen::ArrayXd g = flat(gradient.matrices[l]);
        if (i == 0) sum[l] = squares[l] = Eigen::ArrayXd::Zero(g.size());
        sum[l] += g;
        squares[l] += g.square();
      }
    }
    int random = 0;
    for (std::size_t l = 0; l < right.size(); ++l) {
      const Eigen::ArrayXd mean = sum[l] / kSteps;
      const Eigen::ArrayXd error = ((squares[l] / kSteps - mean.square()).max(0) / kSteps).sqrt();
      const Eigen::ArrayXd expected = flat(right[l]);
      for (Eigen::Index i = 0; i < mean.size(); ++i) {
        EXPECT_LE(std::abs(mean(i) - expected(i)), 5 * error(i) + 1e-6) << "matrix " << l << ", entry " << i;
        random += error(i) > 1e-5 ? 1 : 0;
      }
    }
    EXPECT_GT(random, 20);
  }

  Network network;
  models::Samples samples;
  std::vector<std::vector<std::int32_t>> batch;
};

ForwardGradient::Options activities() { return {.perturb = ForwardGradient::Perturb::activity}; }
ForwardGradient::Options weights() { return {.perturb = ForwardGradient::Perturb::weight}; }

TEST_F(ForwardGradientTest, IsTheGradientInTheMean) {
  const std::vector<LayerGradient> right = backward().gradient.matrices;
  expect_unbiased(activities(), right);
  expect_unbiased(weights(), right);
  ForwardGradient::Options seeds = weights();
  seeds.compact = true;  // in this form the output layer is estimated too
  expect_unbiased(seeds, right);
}

TEST_F(ForwardGradientTest, IsTheGradientInTheMeanThroughNormsAndSums) {
  begin({1, 2, 4},
        {"",
         {spec::LayerNormSpec{}, spec::DenseSpec{6, spec::Activation::tanh, true, true},
          spec::ResidualSpec{{spec::LayerNormSpec{}, spec::DenseSpec{6, spec::Activation::relu, true, true}}, {}, {}},
          spec::MeanSpec{}, spec::DenseSpec{3, spec::Activation::identity}}},
        {2, 2});
  const models::Gradient right = backward().gradient;
  expect_unbiased(activities(), right.matrices);
  expect_unbiased(weights(), right.matrices);
  for (const models::Vector& vector : make(activities()).gradient.vectors) EXPECT_EQ(vector.norm(), 0);
}

TEST_F(ForwardGradientTest, MoreDirectionsScatterLess) {
  const auto scatter = [&](ForwardGradient::Options options, std::int64_t directions) {
    options.directions = directions;
    const Matrix right = backward().gradient.matrices[0].weight;
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      sum += (make(options, seed).gradient.matrices[0].weight - right).squaredNorm();
    }
    return sum;
  };
  for (const ForwardGradient::Options& options : {activities(), weights()}) {
    EXPECT_NEAR(scatter(options, 1) / scatter(options, 16), 16, 5);
  }
}

// Variances of table 1 of the paper, for perturbations drawn per sample: (pq + 2) V ÷ N + (pq + 1) S ÷ N for weights,
// (q + 2) V ÷ N + (q + 1) S ÷ N for activities. A site with one sample draws one direction.
TEST_F(ForwardGradientTest, ScattersAsTableOneSays) {
  constexpr std::int64_t kIn = 12;
  constexpr std::int64_t kOut = 7;
  constexpr int kSites = 3;
  constexpr std::int32_t kPool = 40;
  constexpr int kSteps = 20000;
  begin({kIn, kOut, 3}, spec::Activation::tanh, {kPool}, false);
  Matrix mean = Matrix::Zero(kOut, kIn);
  Matrix square = mean;
  for (std::int32_t i = 0; i < kPool; ++i) {
    batch = {{i}};
    const Matrix g = backward().gradient.matrices[0].weight;
    mean += g / kPool;
    square += g.cwiseAbs2() / kPool;
  }
  const double s = mean.cwiseAbs2().mean();
  const double v = square.mean() - s;
  std::vector<double> measured;
  std::vector<double> said;
  for (const ForwardGradient::Options& options : {weights(), activities()}) {
    Matrix sum = Matrix::Zero(kOut, kIn);
    Matrix squares = sum;
    ForwardGradient algorithm(options);
    RandomStream random(9, Purpose::test);
    boost::random::uniform_int_distribution<std::int32_t> draw(0, kPool - 1);
    for (int i = 0; i < kSteps; ++i) {
      batch.clear();
      for (int site = 0; site < kSites; ++site) batch.push_back({draw(random)});
      const Matrix g = make(algorithm, 31, i).gradient.matrices[0].weight;
      sum += g;
      squares += g.cwiseAbs2();
    }
    measured.push_back((squares / kSteps - (sum / kSteps).cwiseAbs2()).mean());
    const double fan = options.perturb == ForwardGradient::Perturb::weight ? kIn * kOut : kOut;
    said.push_back(((fan + 2) * v + (fan + 1) * s) / kSites);
  }
  EXPECT_NEAR(measured[0] / said[0], 1, 0.05);
  EXPECT_NEAR(measured[1] / said[1], 1, 0.05);
  RecordProperty("weights", std::to_string(measured[0] / said[0]));
  RecordProperty("activities", std::to_string(measured[1] / said[1]));
  RecordProperty("ratio", std::to_string(measured[0] / measured[1]));
  EXPECT_NEAR(measured[0] / measured[1], said[0] / said[1], 0.1 * said[0] / said[1]);
  EXPECT_GT(measured[0] / measured[1], 0.7 * kIn);  // the ratio of the variances is about the fan-in
}

TEST_F(ForwardGradientTest, ASeedAndAScalarAreAllThatIsSent) {
  ForwardGradient::Options options = weights();
  options.compact = true;
  const Made made = make(options, 3);
  EXPECT_EQ(made.uplink_bytes, std::vector<double>(3, 12.0));
  // A node that has the seeds and the derivatives of all sites computes the same gradient.
  const auto right = [&](std::size_t site) {
    Made own;
    const auto all = batch;
    for (std::size_t s = 0; s < batch.size(); ++s) {
      if (s != site) batch[s].clear();
    }
    own = backward();
    const auto share = static_cast<float>(batch[site].size()) / 5.0F;
    batch = all;
    for (LayerGradient& g : own.gradient.matrices) g.weight *= share, g.bias *= share;
    return own.gradient.matrices;
  };
  TrainingStep step(network, spec::ExchangeMode::peer, 3);
  step.begin(0, samples, batch);
  std::vector<LayerGradient> sum;
  for (std::size_t l = 0; l < 3; ++l) {
    sum.push_back(
        {Matrix::Zero(network.layer(l).out(), network.layer(l).in()), models::Vector::Zero(network.layer(l).out())});
  }
  for (const std::size_t site : {0, 2}) {
    const std::uint64_t seed = seed_of(words_of(seed_of_site(step, site)));
    EXPECT_EQ(seed, seed_of_site(step, site));
    std::vector<LayerGradient> v;
    float c = 0;
    const std::vector<LayerGradient> g = right(site);
    for (std::size_t l = 0; l < 3; ++l) {
      v.push_back(draw_weights(seed, l, 0, network.layer(l).out(), network.layer(l).in(), true));
      c += v[l].weight.cwiseProduct(g[l].weight).sum() + v[l].bias.dot(g[l].bias);
    }
    for (std::size_t l = 0; l < 3; ++l) sum[l].weight += c * v[l].weight, sum[l].bias += c * v[l].bias;
  }
  for (std::size_t l = 0; l < 3; ++l) {
    EXPECT_LT((sum[l].weight - made.gradient.matrices[l].weight).norm(), 1e-5F * sum[l].weight.norm());
    EXPECT_LT((sum[l].bias - made.gradient.matrices[l].bias).norm(), 1e-5F * sum[l].bias.norm());
  }

  options.directions = 5;
  EXPECT_EQ(make(options).uplink_bytes, std::vector<double>(3, 8.0 + 4.0 * 5));
  options.local = true;
  options.groups = 2;
  options.directions = 1;
  EXPECT_EQ(make(options).uplink_bytes, std::vector<double>(3, 8.0 + 4.0 * 2 * 2));  // two blocks of two groups
}

TEST_F(ForwardGradientTest, FactorsAreSentAsInDad) {
  ForwardGradient::Options options = activities();
  const Made gradients = make(options);
  options.compact = true;
  const Made factors = make(options);
  for (std::size_t l = 0; l < 3; ++l) {
    const Matrix& expected = gradients.gradient.matrices[l].weight;
    EXPECT_LT((expected - factors.gradient.matrices[l].weight).norm(), 1e-5F * expected.norm());
  }
  const double per_row = 4.0 * ((5 + 4) + (4 + 6) + (6 + 3));
  EXPECT_EQ(factors.uplink_bytes, (std::vector<double>{2 * per_row, 0, 3 * per_row}));
  const double parameters = 4.0 * (5 * 4 + 4 + 4 * 6 + 6 + 6 * 3 + 3);
  EXPECT_EQ(gradients.uplink_bytes, std::vector<double>(3, parameters));
}

TEST_F(ForwardGradientTest, HasNoBackwardPass) {
  for (ForwardGradient::Options options : {activities(), weights()}) {
    for (const bool compact : {false, true}) {
      for (const bool local : {false, true}) {
        options.compact = compact;
        options.local = local;
        for (const step::Sweep& sweep : make(options).structure.sweeps) {
          for (const step::Group& group : sweep.groups) {
            for (const step::Op& op : group.ops) {
              const auto* compute = std::get_if<step::ComputeOp>(&op.what);
              EXPECT_TRUE(compute == nullptr || compute->phase != step::Phase::backpropagate);
            }
          }
        }
      }
    }
  }
}

TEST_F(ForwardGradientTest, LocalLossesDoNotLeak) {
  for (ForwardGradient::Options options : {activities(), weights()}) {
    options.local = true;
    const Made before = make(options);
    const Network kept = network;
    network.layer(1).weight *= 1.5F;
    network.layer(2).weight *= -2.0F;
    const Made after = make(options);
    options.local = false;
    const Made global_after = make(options);
    network = kept;
    const Made global_before = make(options);
    EXPECT_EQ(before.gradient.matrices[0].weight, after.gradient.matrices[0].weight);
    EXPECT_EQ(before.gradient.matrices[0].bias, after.gradient.matrices[0].bias);
    EXPECT_GT(before.gradient.matrices[0].weight.norm(), 1e-3F);
    EXPECT_NE(before.gradient.matrices[1].weight, after.gradient.matrices[1].weight);
    EXPECT_NE(global_before.gradient.matrices[0].weight, global_after.gradient.matrices[0].weight);
  }
}

/// A block's gradient equals that of a network that ends with the block's head.
TEST_F(ForwardGradientTest, ABlockLearnsFromItsOwnHead) {
  ForwardGradient::Options options = activities();
  options.local = true;
  ForwardGradient algorithm(options);
  make(algorithm, 1);  // this seed determines the heads
  ASSERT_EQ(algorithm.heads()->count(), 1U);
  Network short_one({1, 1, 5}, {"", {spec::DenseSpec{4}, spec::DenseSpec{3, spec::Activation::identity}}}, 1);
  short_one.layer(0) = network.layer(0);
  short_one.layer(1) = algorithm.heads()->weights(0);
  std::swap(network, short_one);
  const LayerGradient below = backward().gradient.matrices[0];
  std::swap(network, short_one);
  // For the block above, the output of the block below is a constant.
  const std::vector<LayerGradient> global = backward().gradient.matrices;
  ForwardGradient of_heads(options);
  make(of_heads, 77);  // expect_unbiased() uses seed 77, which gives other heads
  short_one.layer(1) = of_heads.heads()->weights(0);
  std::swap(network, short_one);
  const LayerGradient expected = backward().gradient.matrices[0];
  std::swap(network, short_one);
  EXPECT_NE(below.weight, expected.weight);
  expect_unbiased(options, {expected, global[1], global[2]});
}

/// With groups, a group's derivative uses only paths inside the group.
TEST_F(ForwardGradientTest, AGroupLearnsByItsOwnPaths) {
  ForwardGradient::Options options = activities();
  options.local = true;
  options.blocks = 1;
  options.groups = 2;
  begin({5, 4, 6, 3}, spec::Activation::tanh, {3});
  models::Tape tape;
  network.forward(samples.features, {}, tape);
  network.loss(samples.labels, 3, tape);
  std::vector<LayerGradient> right = backward().gradient.matrices;
  const Matrix delta =
      (network.delta(2, tape) * network.layer(2).weight).array() * (1 - tape.values[2].array().square());
  Matrix below = Matrix::Zero(3, 4);
  for (const Eigen::Index g : {0, 1}) {
    below.middleCols(2 * g, 2) = delta.middleCols(3 * g, 3) * network.layer(1).weight.block(3 * g, 2 * g, 3, 2);
  }
  below.array() *= 1 - tape.values[1].array().square();
  EXPECT_GT((right[0].weight - below.transpose() * samples.features).norm(), 1e-2F);
  right[0] = {below.transpose() * samples.features, below.colwise().sum().transpose()};
  expect_unbiased(options, right);
  options.perturb = ForwardGradient::Perturb::weight;
  expect_unbiased(options, right);
}

TEST_F(ForwardGradientTest, HeadsLearn) {
  ForwardGradient::Options options = activities();
  options.local = true;
  for (const bool seeds : {false, true}) {
    if (seeds) options = {.perturb = ForwardGradient::Perturb::weight, .local = true, .compact = true};
    ForwardGradient algorithm(options);
    make(algorithm, 1);
    const Matrix start = algorithm.heads()->weights(0).weight;
    TrainingStep step(network, spec::ExchangeMode::peer, 1);
    step.set_update_rule({{.kind = spec::OptimizerSpec::Kind::sgd, .learning_rate = 0.1}, nullptr, 0.1, 10});
    for (int i = 1; i < 3; ++i) {
      step.begin(i, samples, batch);
      algorithm.run(step);
    }
    EXPECT_GT((algorithm.heads()->weights(0).weight - start).norm(), 1e-4F);
  }
}

}  // namespace
}  // namespace dadsim::algorithms
