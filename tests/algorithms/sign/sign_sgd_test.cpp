// Compares sign votes with their definition.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>

#include "algorithms/one_step.hpp"
#include "algorithms/sign/several_steps.hpp"
#include "spec/preset.hpp"

namespace dadsim::algorithms {
namespace {

using test::OneStep;
using test::SeveralSteps;

constexpr spec::ExchangeMode kModes[] = {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer};

float vote(float x, const std::string& zeros) { return x < 0 ? -1.0F : x > 0 || zeros == "plus" ? 1.0F : 0.0F; }

std::unique_ptr<Algorithm> sign_sgd(const spec::ParameterValues& parameters) {
  const SynchronousMethod& method = algorithm_registry().at("sign-sgd");
  return make_algorithm(method, methods::run_of(method, parameters));
}

TEST(SignSgd, AllStepTheWayOfTheMajority) {
  for (const spec::ExchangeMode mode : kModes) {
    for (const std::string zeros : {"random", "plus", "abstain"}) {
      for (const std::vector<int>& rows : {std::vector<int>{7}, {5, 3}, {5, 0, 3}, {2, 4, 3, 1}}) {
        const std::unique_ptr<Algorithm> algorithm = sign_sgd({{"zeros", zeros}});
        SeveralSteps steps(*algorithm, mode, rows);
        const TrainingStep& step = steps.next();
        int ties = 0;
        float drawn = 0;
        for (std::size_t l = 0; l < 3; ++l) {
          const auto expect = [&](const auto& arrived, const auto& of_site) {
            for (Eigen::Index i = 0; i < arrived.size(); ++i) {
              float sum = 0;
              for (std::size_t s = 0; s < rows.size(); ++s) {
                if (rows[s] > 0) sum += vote(of_site(s)(i), zeros);
              }
              ties += sum == 0 ? 1 : 0;
              if (sum == 0 && zeros == "random") {
                ASSERT_EQ(std::abs(arrived(i)), 1);
                drawn += arrived(i);
              } else {
                ASSERT_EQ(arrived(i), vote(sum, zeros)) << l << ' ' << i;
              }
            }
          };
          expect(step.gradient(l).weight.reshaped<Eigen::RowMajor>(),
                 [&](std::size_t s) { return models::Vector(steps.of_site(s, l).weight.reshaped<Eigen::RowMajor>()); });
          expect(step.gradient(l).bias, [&](std::size_t s) { return steps.of_site(s, l).bias; });
        }
        EXPECT_EQ(ties > 0, rows.size() != 1) << "two or four votes are tied at times";
        EXPECT_LE(std::abs(drawn), 5 * std::sqrt(static_cast<float>(ties))) << "either way";
      }
    }
  }
}

TEST(SignSgd, SignumVotesWithTheMomentumOfEachSite) {
  const std::unique_ptr<Algorithm> algorithm = sign_sgd({{"momentum", "0.9"}, {"zeros", "abstain"}});
  const std::vector<int> rows{5, 3, 4};
  SeveralSteps steps(*algorithm, spec::ExchangeMode::peer, rows);
  std::vector<models::Matrix> m(3, models::Matrix::Zero(9, 20));
  int flipped = 0;
  for (int t = 0; t < 10; ++t) {
    const TrainingStep& step = steps.next();
    models::Matrix sum = models::Matrix::Zero(9, 20);
    models::Matrix plain = sum;
    for (std::size_t s = 0; s < 3; ++s) {
      const models::Matrix own = (12.0F / static_cast<float>(rows[s])) * steps.of_site(s, 1).weight;
      m[s] = 0.9F * m[s] + (1 - 0.9F) * own;
      sum += m[s].cwiseSign();
      plain += own.cwiseSign();
    }
    EXPECT_EQ(step.gradient(1).weight, sum.cwiseSign()) << t;
    flipped += static_cast<int>((sum.cwiseSign() - plain.cwiseSign()).array().abs().count());
  }
  EXPECT_GT(flipped, 100) << "the momentum matters";
}

TEST(SignSgd, SendsABitForEveryNumber) {
  OneStep::Setup setup;  // a network of 12-20-9-5 units
  setup.rows = {2, 1, 3};
  // A message has whole bytes.
  const auto bytes = [](double bits) {
    return std::ceil(260 * bits / 8) + std::ceil(189 * bits / 8) + std::ceil(50 * bits / 8);
  };
  for (const spec::ExchangeMode mode : kModes) {
    for (const double bits : {1.0, 2.0}) {
      setup.exchange = mode;
      setup.parameters = {{"zeros", bits == 1 ? "random" : "abstain"}};
      const OneStep step("sign-sgd", setup);
      EXPECT_EQ(step.uplink_bytes, std::vector<double>(3, bytes(bits)));
      EXPECT_EQ(step.downlink_bytes, mode == spec::ExchangeMode::aggregator ? bytes(bits) : 0);
      const spec::ModelShape timed{"timed",
                                   {spec::dense_shape("a", 1000, 300, true), spec::dense_shape("b", 30, 7, false)}};
      EXPECT_EQ(step.recorded(timed).over[0], std::ceil(300300 * bits / 8) + std::ceil(210 * bits / 8));
    }
  }
}

TEST(SignSgd, WhatIsBesideTheMatricesStepsByItsSignToo) {
  const spec::SampleShape text{.height = 1, .width = 7, .channels = 1, .vocabulary = 11};
  const spec::Preset& preset = *spec::preset_registry().find("transformer-classifier");
  spec::ParameterValues values;
  for (const spec::ParameterSpec& parameter : preset.parameters) values[parameter.name] = parameter.default_value;
  for (const auto& [name, value] :
       spec::ParameterValues{{"width", "8"}, {"heads", "2"}, {"blocks", "1"}, {"hidden", "12"}}) {
    values.at(name) = value;
  }
  OneStep::Setup setup;
  setup.model = preset.make(values, text, 4);
  setup.sample = text;
  setup.rows = {3, 5};
  const OneStep pooled("pooled", setup);
  for (const char* name : {"sign-sgd", "demo"}) {
    const OneStep step(name, setup);
    ASSERT_FALSE(step.gradient.vectors.empty());
    for (std::size_t v = 0; v < step.gradient.vectors.size(); ++v) {
      EXPECT_EQ(step.gradient.vectors[v], pooled.gradient.vectors[v].cwiseSign()) << name;
    }
  }
}

TEST(SignSgd, TheSignOfNothingIsNothingWhereThereAreThreeSigns) {
  OneStep::Setup setup;
  setup.zero_inputs = true;
  setup.bias = false;
  setup.parameters = {{"zeros", "abstain"}};
  for (const models::LayerGradient& gradient : OneStep("sign-sgd", setup).gradient.matrices) {
    EXPECT_EQ(gradient.weight.cwiseAbs().maxCoeff(), 0.0F);
  }
  setup.parameters.clear();
  for (const models::LayerGradient& gradient : OneStep("demo", setup).gradient.matrices) {
    EXPECT_EQ(gradient.weight.cwiseAbs().maxCoeff(), 0.0F);
  }
}

}  // namespace
}  // namespace dadsim::algorithms
