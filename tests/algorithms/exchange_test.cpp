// What an Exchange carries is bytes: a size in symbols that is not theirs cannot be sent.
#include "algorithms/exchange.hpp"

#include <gtest/gtest.h>

#include "algorithms/one_step.hpp"
#include "compress/registry.hpp"

namespace dadsim::algorithms {
namespace {

using namespace step::extent;
using test::OneStep;

/// An algorithm that is wrong on purpose: what it hands over is not what it says.
class Wrong final : public Algorithm {
 public:
  using Share = std::function<void(TrainingStep& step, std::size_t l)>;
  explicit Wrong(Share share) : share_(std::move(share)) {}
  void run(TrainingStep& step) override {
    step.forward();
    step.backward([&](std::size_t l) {
      share_(step, l);
      step.backpropagate(l);
    });
  }

 private:
  Share share_;
};

void run_wrong(const Wrong::Share& share, spec::ExchangeMode mode, const spec::CompressSpec& compress = {}) {
  spec::ModelSpec model;
  model.layers = {spec::DenseSpec{20, spec::Activation::relu, true},
                  spec::DenseSpec{5, spec::Activation::identity, true}};
  const models::Network network(12, model, 3);
  models::Samples samples;
  samples.features = models::Matrix::Constant(8, 12, 0.5F);
  samples.labels = {0, 1, 2, 3, 4, 0, 1, 2};
  TrainingStep step(network, mode, 3, compress);
  step.begin(0, samples, {{0, 1, 2}, {3, 4, 5, 6, 7}});
  Wrong(share).run(step);
}

class ByMode : public testing::TestWithParam<spec::ExchangeMode> {};

TEST_P(ByMode, APartIsAsLongAsItSays) {
  const auto inputs = [](TrainingStep& step, std::size_t l) {
    return [&step, l](std::size_t s) { return step.input(s, l); };
  };
  EXPECT_NO_THROW(run_wrong(
      [&](TrainingStep& step, std::size_t l) {
        step.exchange().combine({rows(), {{in(), inputs(step, l)}}}, concatenation());
      },
      GetParam()));
  for (const step::Expression& width : {out(), in() + bias(), 2.0 * in(), step::Expression(1.0)}) {
    EXPECT_THROW(run_wrong(
                     [&](TrainingStep& step, std::size_t l) {
                       step.exchange().combine({rows(), {{width, inputs(step, l)}}}, concatenation());
                     },
                     GetParam()),
                 std::logic_error)
        << width.to_string();
  }
}

// Whole numbers are as long as fp32, and yet something else: a run in 16 bit halves the one and not the other.
TEST_P(ByMode, WholeNumbersAreNotSentAsNumbers) {
  const std::vector<std::int32_t> indices(4, 1);
  EXPECT_NO_THROW(run_wrong(
      [&](TrainingStep& step, std::size_t) {
        step.exchange().combine(
            {4.0, {{1.0, nullptr, [&](std::size_t) { return std::span<const std::int32_t>(indices); }}}},
            concatenation());
      },
      GetParam()));
  EXPECT_THROW(run_wrong(
                   [&](TrainingStep& step, std::size_t) {
                     step.exchange().combine(
                         {5.0, {{1.0, nullptr, [&](std::size_t) { return std::span<const std::int32_t>(indices); }}}},
                         concatenation());
                   },
                   GetParam()),
               std::logic_error);
}

TEST_P(ByMode, WhatIsMadeOfAllIsAsLongAsItSays) {
  EXPECT_THROW(run_wrong(
                   [&](TrainingStep& step, std::size_t l) {
                     const auto inputs = [&step, l](std::size_t s) { return step.input(s, l); };
                     const Combination half = [](Rows all, step::Role) {
                       all.parts[0] = models::Matrix(all.parts[0].topRows(1));  // and still says all rows
                       return all;
                     };
                     // Among peers nothing more is sent: the lie harms nobody but its author.
                     if (step.exchange().mode() == spec::ExchangeMode::peer) throw std::logic_error("no more sent");
                     step.exchange().combine({rows(), {{in(), inputs}}}, half);
                   },
                   GetParam()),
               std::logic_error);
}

TEST_P(ByMode, SumsAreOfTheSizeTheySay) {
  EXPECT_THROW(run_wrong(
                   [&](TrainingStep& step, std::size_t l) {
                     step.exchange().sum_as_it_is(in() * out(), models::Matrix::Zero(3, static_cast<Eigen::Index>(l)));
                   },
                   GetParam()),
               std::logic_error);
}

INSTANTIATE_TEST_SUITE_P(Exchange, ByMode, testing::Values(spec::ExchangeMode::aggregator, spec::ExchangeMode::peer),
                         [](const auto& param) { return std::string(to_string(param.param)); });

/// What arrives has been through the encoding: fp16 cannot bring more than fp16 can hold.
TEST(Exchange, NoNumberArrivesThatWasNotSent) {
  for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
    run_wrong(
        [&](TrainingStep& step, std::size_t) {
          const models::Matrix third = models::Matrix::Constant(1, 1, 1.0F / 3);
          Pending<Rows> all = step.exchange().combine(
              {1.0, {{1.0, [&](std::size_t) { return models::ConstBlock(third); }}}}, concatenation());
          for (const float x : all.wait()[0].reshaped()) EXPECT_EQ(x, 0.333251953125F);
        },
        mode, {.method = "fp16"});
  }
}

/// Algorithm and how matrices are sent.
struct Wired {
  std::string algorithm, method;
};

class OnTheWire : public testing::TestWithParam<Wired> {};

TEST_P(OnTheWire, BytesAreThoseOfTheEncodingAndGradientsNearTheExactOnes) {
  for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
    OneStep::Setup setup;
    setup.rows = {5, 3, 6};
    setup.exchange = mode;
    const AlgorithmInfo& info = algorithm_registry().at(GetParam().algorithm);
    setup.parameters = info.lossless;
    const OneStep plain(GetParam().algorithm, setup);
    const compress::CompressorInfo& compressor = compress::compressors().at(GetParam().method);
    setup.compress.method = compressor.name;
    for (const spec::ParameterSpec& parameter : compressor.parameters) {
      setup.compress.parameters[parameter.name] = parameter.default_value;
    }
    const OneStep wired(GetParam().algorithm, setup);
    EXPECT_EQ(wired.recorded().over, wired.handed_over);
    EXPECT_EQ(wired.recorded().down, wired.handed_down);
    for (std::size_t s = 0; s < 3; ++s) EXPECT_LT(wired.handed_over[s], 0.8 * plain.handed_over[s]);
    const double difference = wired.relative_difference(plain);
    EXPECT_GT(difference, 0) << "really rounded";
    // Stochastic rounding to powers of two is off by 27 % of a number, root mean square: once for gradients, twice for
    // dAD's factors, and both ways for those of rank-dAD, which are made anew of what has been rounded.
    const double most = compressor.name == "e3m0" ? 1.5 : compressor.name == "int8" ? 0.2 : 0.03;
    EXPECT_LT(difference, most) << to_string(mode);
    EXPECT_EQ(OneStep(GetParam().algorithm, setup).relative_difference(wired), 0) << "same seed, same bits";
  }
}

std::vector<Wired> wired() {
  std::vector<Wired> all;
  for (const AlgorithmInfo& info : algorithm_registry().all()) {
    if (info.sharing != Sharing::one_network) continue;
    for (const compress::CompressorInfo& compressor : compress::compressors().all()) {
      if (!compressor.lossless) all.push_back({info.name, compressor.name});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Registries, OnTheWire, testing::ValuesIn(wired()), [](const auto& param) {
  std::string name = param.param.algorithm + "_" + param.param.method;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

// e_t + what has arrived by t = what was to be sent by t: nothing is lost for good.
TEST(Wire, AMemorySendsLaterWhatWasLost) {
  spec::ModelSpec model;
  model.layers = {spec::DenseSpec{5, spec::Activation::identity, false}};
  const models::Network network(12, model, 3);
  models::Samples samples;
  samples.features = models::Matrix::Constant(4, 12, 0.3F);
  samples.labels = {0, 1, 2, 3};
  for (const bool memory : {false, true}) {
    TrainingStep step(network, spec::ExchangeMode::peer, 3,
                      {.method = "int8", .parameters = {{"rounding", "nearest"}}, .memory = memory});
    models::Matrix arrived = models::Matrix::Zero(5, 12);
    models::Matrix sent = models::Matrix::Zero(5, 12);
    for (std::int64_t t = 0; t < 50; ++t) {
      step.begin(t, samples, {{0, 1}, {2, 3}});
      const std::unique_ptr<Algorithm> sharing = algorithm_registry().at("gradient-sharing").make({});
      sharing->run(step);
      arrived += step.gradient(0).weight;
      for (std::size_t s = 0; s < 2; ++s) sent += step.delta(s, 0).transpose() * step.input(s, 0);
    }
    const float lost = (arrived - sent).cwiseAbs().maxCoeff() / sent.cwiseAbs().maxCoeff();
    if (memory) {
      EXPECT_LT(lost, 1.0F / 127 / 50 * 2) << "no more than the last step's rounding";
    } else {
      EXPECT_GT(lost, 1e-4F) << "roundings that are alike add up";
    }
  }
}

}  // namespace
}  // namespace dadsim::algorithms
