// Tests that sign methods learn digits at four sites as well as the methods that they replace.
#include <gtest/gtest.h>

#include "algorithms/learn.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/run_of.hpp"
#include "compress/registry.hpp"
#include "models/data/generated.hpp"

namespace dadsim::algorithms {
namespace {

class SignMethods : public testing::Test {
 protected:
  SignMethods() {
    data_.train = models::draw_digits(0, 1000, 3);
    data_.test = models::draw_digits(1000, 500, 3);
    data_.shape = {28, 28, 1};
    data_.classes = 10;
    partition_ = split_over_sites({.kind = spec::SplitSpec::Kind::iid, .alpha = 0.5, .shards = 2, .sizes = {}},
                                  data_.train, 10, 4, 3);
    model_.layers = {spec::DenseSpec{32, spec::Activation::relu, true},
                     spec::DenseSpec{10, spec::Activation::identity, true}};
    training_.batch = 16;
    training_.epochs = 10;
    training_.evaluate_every = 1000;
  }

  /// Returns the accuracy on held-back digits.
  double learned(const std::string& algorithm, const spec::OptimizerSpec& optimizer,
                 const spec::ParameterValues& given = {}, const spec::CompressSpec& compress = {}) {
    spec::RunSpec run = test::run_of(algorithm, spec::ExchangeMode::peer, given);
    run.compress = compress;
    for (const spec::ParameterSpec& parameter : compress::compressors().at(compress.method).parameters) {
      run.compress.parameters.try_emplace(parameter.name, parameter.default_value);
    }
    training_.optimizer = optimizer;
    const step::Trajectory trajectory = learn(run, {data_, partition_, model_, training_, 3});
    const double accuracy = trajectory.curve.back().accuracy;
    return accuracy;
  }
  static spec::OptimizerSpec sgd(double rate) {
    return {.kind = spec::OptimizerSpec::Kind::sgd, .learning_rate = rate};
  }
  static spec::OptimizerSpec adam(double rate) { return {.learning_rate = rate}; }

  models::Dataset data_;
  models::Partition partition_;
  spec::ModelSpec model_;
  spec::TrainingSpec training_;
};

TEST_F(SignMethods, LearnWhatSgdAndAdamLearn) {
  const double by_sgd = learned("gradient-sharing", sgd(0.2));
  const double by_adam = learned("gradient-sharing", adam(3e-3));
  EXPECT_GT(by_sgd, 0.8);
  EXPECT_GT(by_adam, 0.8);
  EXPECT_GT(learned("sign-sgd", sgd(3e-3)), by_sgd - 0.05);
  EXPECT_GT(learned("sign-sgd", sgd(3e-3), {{"momentum", "0.9"}}), by_sgd - 0.05);
  EXPECT_GT(learned("demo", sgd(3e-3)), by_sgd - 0.05);
  EXPECT_GT(learned("one-bit-adam", adam(3e-3)), by_adam - 0.05);
  // Parameters without a gradient drift, so the accuracy is lower.
  EXPECT_LT(learned("sign-sgd", sgd(3e-3), {{"zeros", "plus"}}), by_sgd - 0.05);
}

TEST_F(SignMethods, CompressedGradientsLearnWhatTheyStandFor) {
  const double by_sgd = learned("gradient-sharing", sgd(0.2));
  for (const char* method : {"qsgd", "terngrad", "natural"}) {
    EXPECT_GT(learned("gradient-sharing", sgd(0.2), {}, {.method = method}), by_sgd - 0.05) << method;
  }
  EXPECT_GT(learned("gradient-sharing", sgd(0.2), {}, {.method = "sign", .memory = true}), by_sgd - 0.05);
  EXPECT_LT(learned("gradient-sharing", sgd(0.2), {}, {.method = "sign"}), by_sgd - 0.1) << "without a memory";
  // An encoding whose error may exceed its input makes a memory grow without bound.
  EXPECT_LT(learned("gradient-sharing", sgd(0.2), {}, {.method = "qsgd", .memory = true}), 0.5);
}

}  // namespace
}  // namespace dadsim::algorithms
