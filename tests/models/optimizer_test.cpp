#include "models/optimizer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace dadsim::models {
namespace {

// Returns a network with one weight and one bias, for losses with known gradients.
Network tiny(float weight, float bias) {
  spec::ModelSpec spec;
  spec.layers = {spec::DenseSpec{1, spec::Activation::identity, true}};
  Network network(1, spec, 1);
  network.layer(0).weight(0, 0) = weight;
  network.layer(0).bias[0] = bias;
  return network;
}

Gradient gradient_of(float weight, float bias) {
  Gradient gradient;
  gradient.matrices.resize(1);
  gradient.matrices[0].weight.setConstant(1, 1, weight);
  gradient.matrices[0].bias.setConstant(1, bias);
  return gradient;
}

spec::OptimizerSpec sgd(double momentum, bool nesterov, double decay) {
  spec::OptimizerSpec spec;
  spec.kind = spec::OptimizerSpec::Kind::sgd;
  spec.momentum = momentum;
  spec.nesterov = nesterov;
  spec.weight_decay = decay;
  return spec;
}

spec::OptimizerSpec adam(spec::OptimizerSpec::Kind kind, double decay) {
  spec::OptimizerSpec spec;
  spec.kind = kind;
  spec.weight_decay = decay;
  return spec;
}

// Computes the rules for one parameter in double, as in the papers (and PyTorch's documentation of SGD, Adam and
// AdamW).
class Reference {
 public:
  explicit Reference(const spec::OptimizerSpec& spec) : spec_(spec) {}
  double step(double w, double g, double rate) {
    ++t_;
    if (spec_.kind == spec::OptimizerSpec::Kind::adamw) {
      w -= rate * spec_.weight_decay * w;
    } else {
      g += spec_.weight_decay * w;
    }
    if (spec_.kind == spec::OptimizerSpec::Kind::sgd) {
      v_ = spec_.momentum * v_ + g;
      return w - rate * (spec_.nesterov ? g + spec_.momentum * v_ : v_);
    }
    m_ = spec_.beta1 * m_ + (1 - spec_.beta1) * g;
    v_ = spec_.beta2 * v_ + (1 - spec_.beta2) * g * g;
    const double m_hat = m_ / (1 - std::pow(spec_.beta1, t_));
    const double v_hat = v_ / (1 - std::pow(spec_.beta2, t_));
    return w - rate * m_hat / (std::sqrt(v_hat) + spec_.epsilon);
  }

 private:
  spec::OptimizerSpec spec_;
  double m_ = 0, v_ = 0;
  int t_ = 0;
};

class AllOptimizers : public testing::TestWithParam<spec::OptimizerSpec> {};

TEST_P(AllOptimizers, FollowTheirFormulaOverManySteps) {
  Network network = tiny(0.7F, -1.3F);
  const auto optimizer = make_optimizer(GetParam(), network);
  Reference weight(GetParam());
  Reference bias(GetParam());
  double w = 0.7F;
  double b = -1.3F;
  for (int t = 1; t <= 50; ++t) {
    const auto g = static_cast<float>(std::sin(0.7 * t) + 0.2);
    const auto h = static_cast<float>(0.01 * std::cos(1.1 * t));
    const double rate = 0.01 / (1 + 0.05 * t);
    optimizer->update(network, gradient_of(g, h), rate);
    w = weight.step(w, g, rate);
    b = bias.step(b, h, rate);
    ASSERT_NEAR(network.layer(0).weight(0, 0), w, 5e-6) << "step " << t;
    ASSERT_NEAR(network.layer(0).bias[0], b, 5e-6) << "step " << t;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, AllOptimizers,
                         testing::Values(sgd(0, false, 0), sgd(0, false, 0.1), sgd(0.9, false, 0), sgd(0.9, false, 0.1),
                                         sgd(0.9, true, 0), sgd(0.9, true, 0.1),
                                         adam(spec::OptimizerSpec::Kind::adam, 0),
                                         adam(spec::OptimizerSpec::Kind::adam, 0.1),
                                         adam(spec::OptimizerSpec::Kind::adamw, 0),
                                         adam(spec::OptimizerSpec::Kind::adamw, 0.1)));

TEST(Sgd, ByHand) {
  // With μ = 0.5, η = 0.1 and gradients 1 and 2, v = 1, 2.5 and w = 1 − 0.1 − 0.25.
  Network network = tiny(1, 0);
  const auto optimizer = make_optimizer(sgd(0.5, false, 0), network);
  optimizer->update(network, gradient_of(1, 0), 0.1);
  EXPECT_FLOAT_EQ(network.layer(0).weight(0, 0), 0.9F);
  optimizer->update(network, gradient_of(2, 0), 0.1);
  EXPECT_FLOAT_EQ(network.layer(0).weight(0, 0), 0.65F);
  // Nesterov's steps are 0.1·(1 + 0.5·1) and 0.1·(2 + 0.5·2.5).
  Network ahead = tiny(1, 0);
  const auto nesterov = make_optimizer(sgd(0.5, true, 0), ahead);
  nesterov->update(ahead, gradient_of(1, 0), 0.1);
  EXPECT_FLOAT_EQ(ahead.layer(0).weight(0, 0), 0.85F);
  nesterov->update(ahead, gradient_of(2, 0), 0.1);
  EXPECT_FLOAT_EQ(ahead.layer(0).weight(0, 0), 0.525F);
}

TEST(Sgd, ShrinksAQuadraticGeometrically) {
  // For the loss ½ a w², w_t = (1 − η a)^t w_0.
  Network network = tiny(2, 0);
  const auto optimizer = make_optimizer(sgd(0, false, 0), network);
  for (int t = 0; t < 20; ++t) optimizer->update(network, gradient_of(3 * network.layer(0).weight(0, 0), 0), 0.1);
  EXPECT_NEAR(network.layer(0).weight(0, 0), 2 * std::pow(0.7, 20), 1e-8);
}

TEST(Sgd, WeightDecayIsAnL2TermOnAllParameters) {
  Network network = tiny(2, 4);
  const auto optimizer = make_optimizer(sgd(0, false, 0.5), network);
  optimizer->update(network, gradient_of(0, 0), 0.1);
  EXPECT_FLOAT_EQ(network.layer(0).weight(0, 0), 2 * 0.95F);
  EXPECT_FLOAT_EQ(network.layer(0).bias[0], 4 * 0.95F);
}

TEST(Adam, FirstStepIsTheLearningRateWhateverTheGradient) {
  for (const float g : {1e-4F, 1.0F, -1e4F}) {
    Network network = tiny(0, 0);
    make_optimizer(spec::OptimizerSpec{}, network)->update(network, gradient_of(g, 0), 0.01);
    EXPECT_NEAR(network.layer(0).weight(0, 0), g > 0 ? -0.01 : 0.01, 0.01 * 2e-4);
    EXPECT_EQ(network.layer(0).bias[0], 0.0F);
  }
}

TEST(Adam, EpsilonStandsOutsideTheRoot) {
  // The first step is η |g| ÷ (|g| + ε). With ε inside the root it would be η |g| ÷ √(g² + ε).
  spec::OptimizerSpec spec;
  spec.epsilon = 0.5;
  Network network = tiny(0, 0);
  make_optimizer(spec, network)->update(network, gradient_of(0.5F, 0), 0.1);
  EXPECT_NEAR(network.layer(0).weight(0, 0), -0.05, 1e-7);
}

TEST(AdamW, DecaysWithoutTheGradient) {
  // Without a gradient the moments are 0, and w_t = (1 − η λ)^t w_0. With Adam's L2 term, a step would be η instead.
  Network network = tiny(2, 4);
  const auto optimizer = make_optimizer(adam(spec::OptimizerSpec::Kind::adamw, 0.5), network);
  for (int t = 0; t < 10; ++t) optimizer->update(network, gradient_of(0, 0), 0.1);
  EXPECT_NEAR(network.layer(0).weight(0, 0), 2 * std::pow(0.95, 10), 1e-6);
  EXPECT_NEAR(network.layer(0).bias[0], 4 * std::pow(0.95, 10), 2e-6);
}

TEST(Optimizer, UpdatesEveryParameterOfLargeLayersAlike) {
  spec::ModelSpec spec;
  spec.layers = {spec::DenseSpec{300, spec::Activation::relu, true},
                 spec::DenseSpec{70, spec::Activation::identity, true}};  // more than one block, and no multiple of it
  for (const spec::OptimizerSpec& kind : {sgd(0.9, true, 0.1), adam(spec::OptimizerSpec::Kind::adam, 0.1)}) {
    Network network(133, spec, 1);
    Gradient gradient;
    gradient.matrices.resize(2);
    for (std::size_t l = 0; l < 2; ++l) {
      network.layer(l).weight.setConstant(1);
      network.layer(l).bias.setConstant(1);
      gradient.matrices[l].weight.setConstant(network.layer(l).out(), network.layer(l).in(), 0.3F);
      gradient.matrices[l].bias.setConstant(network.layer(l).out(), 0.3F);
    }
    const auto optimizer = make_optimizer(kind, network);
    Reference reference(kind);
    double expected = 1;
    for (int t = 0; t < 3; ++t) {
      optimizer->update(network, gradient, 0.01);
      expected = reference.step(expected, 0.3F, 0.01);
    }
    for (std::size_t l = 0; l < 2; ++l) {
      EXPECT_NEAR(network.layer(l).weight.minCoeff(), expected, 1e-6);
      EXPECT_NEAR(network.layer(l).weight.maxCoeff(), expected, 1e-6);
      EXPECT_NEAR(network.layer(l).bias.minCoeff(), expected, 1e-6);
      EXPECT_NEAR(network.layer(l).bias.maxCoeff(), expected, 1e-6);
    }
  }
}

TEST(Optimizer, RefusesAGradientOfAnotherShape) {
  Network network = tiny(1, 1);
  const auto optimizer = make_optimizer(spec::OptimizerSpec{}, network);
  EXPECT_THROW(optimizer->update(network, Gradient{}, 0.1), std::logic_error);
  Gradient wide = gradient_of(1, 1);
  wide.matrices[0].weight.setZero(1, 2);
  EXPECT_THROW(optimizer->update(network, wide, 0.1), std::logic_error);
  Gradient unbiased = gradient_of(1, 1);
  unbiased.matrices[0].bias.resize(0);
  EXPECT_THROW(optimizer->update(network, unbiased, 0.1), std::logic_error);
}

TEST(Optimizer, CostPerParameter) {
  EXPECT_EQ(update_floats_per_parameter(sgd(0, false, 0)), 3);
  EXPECT_EQ(update_floats_per_parameter(sgd(0.9, false, 0)), 5);
  EXPECT_EQ(update_floats_per_parameter(spec::OptimizerSpec{}), 7);
  EXPECT_EQ(update_flops_per_parameter(sgd(0, false, 0)), 2);
  EXPECT_GT(update_flops_per_parameter(sgd(0.9, true, 0.1)), update_flops_per_parameter(sgd(0.9, false, 0)));
  EXPECT_GT(update_flops_per_parameter(spec::OptimizerSpec{}), update_flops_per_parameter(sgd(0.9, true, 0)));
}

class Rates : public testing::Test {
 protected:
  double at(std::int64_t step) const { return learning_rate(optimizer_, schedule_, step, 10, 100); }
  spec::OptimizerSpec optimizer_{.learning_rate = 0.2};
  spec::ScheduleSpec schedule_;
};

TEST_F(Rates, Constant) {
  EXPECT_DOUBLE_EQ(at(0), 0.2);
  EXPECT_DOUBLE_EQ(at(99), 0.2);
}

TEST_F(Rates, WarmUpIsLinearAndMayEndWithinAnEpoch) {
  schedule_.warm_up_epochs = 0.4;  // lasts 4 steps
  EXPECT_DOUBLE_EQ(at(0), 0.05);
  EXPECT_DOUBLE_EQ(at(1), 0.10);
  EXPECT_DOUBLE_EQ(at(3), 0.20);
  EXPECT_DOUBLE_EQ(at(4), 0.20);
  schedule_.warm_up_epochs = 0.25;  // lasts 2.5 steps; the rate is never exceeded
  EXPECT_DOUBLE_EQ(at(0), 0.2 / 2.5);
  EXPECT_DOUBLE_EQ(at(2), 0.2);
}

TEST_F(Rates, StepsAtMilestones) {
  schedule_.kind = spec::ScheduleSpec::Kind::steps;
  schedule_.milestones = {3, 6};
  schedule_.factor = 0.1;
  EXPECT_DOUBLE_EQ(at(29), 0.2);
  EXPECT_DOUBLE_EQ(at(30), 0.02);
  EXPECT_DOUBLE_EQ(at(59), 0.02);
  EXPECT_NEAR(at(60), 0.002, 1e-17);
}

TEST_F(Rates, CosineFromTheRateToItsFinalShare) {
  schedule_.kind = spec::ScheduleSpec::Kind::cosine;
  schedule_.final_factor = 0.1;
  EXPECT_DOUBLE_EQ(at(0), 0.2);
  EXPECT_NEAR(at(50), 0.11, 1e-15);
  EXPECT_NEAR(at(25), 0.2 * (0.1 + 0.9 * 0.5 * (1 + std::sqrt(0.5))), 1e-15);
  EXPECT_NEAR(at(100), 0.02, 1e-15);
  schedule_.warm_up_epochs = 2;
  EXPECT_DOUBLE_EQ(at(20), 0.2);
  EXPECT_NEAR(at(60), 0.11, 1e-15);
  EXPECT_NEAR(at(100), 0.02, 1e-15);
}

TEST_F(Rates, CosineOfARunThatIsAllWarmUpEnds) {
  schedule_.kind = spec::ScheduleSpec::Kind::cosine;
  schedule_.warm_up_epochs = 10;
  EXPECT_DOUBLE_EQ(at(99), 0.2);
  EXPECT_DOUBLE_EQ(at(100), 0.0);
}

TEST_F(Rates, RefusesNonsense) {
  EXPECT_THROW(learning_rate(optimizer_, schedule_, -1, 10, 100), std::logic_error);
  EXPECT_THROW(learning_rate(optimizer_, schedule_, 0, 0, 100), std::logic_error);
}

}  // namespace
}  // namespace dadsim::models
