// Checks the floats that one site sends per step of 784-512-256-10 without biases, with 32 rows per site. Checks the
// same formulas on a workload.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "algorithms/one_step.hpp"
#include "compress/registry.hpp"
#include "spec/preset.hpp"
#include "spec/workload.hpp"

namespace dadsim::algorithms {
namespace {

using test::OneStep;

OneStep::Setup paper_setup() {
  OneStep::Setup setup;
  setup.widths = {784, 512, 256, 10};
  setup.bias = false;
  setup.rows = {32, 32};
  return setup;
}

double floats_up(const OneStep& step) { return step.recorded().over[0] / 4; }

TEST(Payload, GradientSharingSendsEveryWeight) {
  const OneStep step("gradient-sharing", paper_setup());
  EXPECT_EQ(floats_up(step), 535040);
  EXPECT_EQ(step.recorded().down / 4, 535040);
}

TEST(Payload, DadSendsActivationsAndDeltas) {
  const OneStep step("dad", paper_setup());
  EXPECT_EQ(floats_up(step), 74560);
  EXPECT_EQ(step.recorded().down / 4, 2 * 74560);
}

TEST(Payload, SfbSendsThePairsOfSamples) {
  const OneStep step("sfb", paper_setup());
  EXPECT_EQ(floats_up(step), 74560) << "as dAD, where a sample has one row";
}

TEST(Payload, EdadSendsActivationsAndTheLastDelta) {
  const OneStep step("edad", paper_setup());
  EXPECT_EQ(floats_up(step), 49984);
  EXPECT_EQ(step.recorded().down / 4, 2 * 49984);
}

TEST(Payload, RankDadSendsItsComponents) {
  OneStep::Setup setup = paper_setup();
  setup.parameters = {{"cap", "8"}, {"tolerance", "0"}};
  const OneStep two_way("rank-dad", setup);
  EXPECT_EQ(two_way.ranks.site, (std::vector<double>{8, 8, 8}));
  EXPECT_EQ(floats_up(two_way), 18640);
  EXPECT_EQ(two_way.recorded().down / 4, 18640);
  setup.parameters["mode"] = "one-way";
  EXPECT_EQ(OneStep("rank-dad", setup).recorded().down / 4, 2 * 18640);
}

TEST(Payload, PowerSgdSendsTwoFactors) {
  const OneStep step("power-sgd", paper_setup());
  EXPECT_EQ(floats_up(step), 4660);
  EXPECT_EQ(step.recorded().down / 4, 4660) << "sums come back as large as they went";
}

TEST(Payload, AcpSgdSendsOneFactor) {
  OneStep::Setup setup = paper_setup();
  setup.parameters = {{"rank", "2"}};
  EXPECT_EQ(floats_up(OneStep("acp-sgd", setup)), 2 * (512 + 256 + 10)) << "P first; Q is the other part of 4660";
}

TEST(Payload, DionSendsTwoFactorsOfHiddenMatrices) {
  OneStep::Setup setup = paper_setup();
  setup.parameters = {{"fraction", "0.125"}};
  EXPECT_EQ(floats_up(OneStep("dion", setup)), 64 * (784 + 512) + 32 * (512 + 256) + 2560);
}

TEST(Payload, Ef21SendsWhatItsCompressorMakesOfTheGradient) {
  OneStep::Setup setup = paper_setup();
  EXPECT_EQ(floats_up(OneStep("ef21", setup)), 535040);
  setup.compress = {.method = "int8", .parameters = default_parameters(compress::compressors().at("int8").parameters)};
  EXPECT_EQ(floats_up(OneStep("ef21", setup)), 535040 / 4 + 3) << "a byte each, and a scale per matrix";
}

TEST(Payload, PeersHandOverTheSame) {
  OneStep::Setup setup = paper_setup();
  setup.exchange = spec::ExchangeMode::peer;
  setup.parameters = {};
  EXPECT_EQ(floats_up(OneStep("gradient-sharing", setup)), 535040);
  EXPECT_EQ(floats_up(OneStep("dad", setup)), 74560);
  EXPECT_EQ(floats_up(OneStep("edad", setup)), 49984);
  EXPECT_EQ(floats_up(OneStep("power-sgd", setup)), 4660);
}

TEST(Payload, ABiasTravelsWithItsLayer) {
  OneStep::Setup setup = paper_setup();
  setup.bias = true;
  EXPECT_EQ(floats_up(OneStep("gradient-sharing", setup)), 535040 + 512 + 256 + 10);
  EXPECT_EQ(floats_up(OneStep("dad", setup)), 74560) << "the column of ones is known to all";
  EXPECT_EQ(floats_up(OneStep("power-sgd", setup)), 4660 + 512 + 256 + 10) << "uncompressed";
  setup.parameters = {{"cap", "8"}, {"tolerance", "0"}};
  EXPECT_EQ(floats_up(OneStep("rank-dad", setup)), 18640 + 3 * 8) << "one more column of A per component";
}

/// Returns the paper's recurrent network on a data set of the archive: hidden 64, dense 512 and 256, no biases, batch
/// 32.
OneStep::Setup recurrent_setup(std::int64_t length, std::int64_t features, std::int64_t classes) {
  const spec::Preset& preset = *spec::preset_registry().find("gru-classifier");
  OneStep::Setup setup;
  setup.sample = {1, length, features};
  setup.model = preset.make(default_parameters(preset.parameters), setup.sample, classes);
  setup.rows = {32};
  return setup;
}

TEST(Payload, OfTheRecurrentNetworkOnArabicDigits) {
  OneStep::Setup setup = recurrent_setup(93, 13, 10);
  EXPECT_EQ(floats_up(OneStep("gradient-sharing", setup)), 3195840);
  EXPECT_EQ(floats_up(OneStep("dad", setup)), 1611872);
  // The GRU sums its gradient, of 3 · 64 · (13 + 64) floats; the dense layers send 32 pairs each.
  EXPECT_EQ(floats_up(OneStep("sfb", setup)), 14784 + 32 * (5952 + 512 + 512 + 256 + 256 + 10));
  setup.parameters = {{"cap", "8"}, {"tolerance", "0"}};
  EXPECT_EQ(floats_up(OneStep("rank-dad", setup)), 63672);
}

// With 963 features, dAD sends more than the gradient has.
TEST(Payload, OfTheRecurrentNetworkOnPemsSf) {
  OneStep::Setup setup = recurrent_setup(144, 963, 7);
  EXPECT_EQ(floats_up(OneStep("gradient-sharing", setup)), 5048640);
  EXPECT_EQ(floats_up(OneStep("dad", setup)), 6846176);
  setup.parameters = {{"cap", "8"}, {"tolerance", "0"}};
  // The cap and the shapes would allow 97,097 floats, with seven components in the last layer, of seven outputs. Only
  // six exist, as Δ of a cross entropy sums to zero over the classes.
  EXPECT_EQ(floats_up(OneStep("rank-dad", setup)), 97097 - (256 + 7));
  setup.parameters["padding"] = "cap";
  EXPECT_EQ(floats_up(OneStep("rank-dad", setup)), 97097);
}

/// Floats that each method sends in one step, for methods that can be timed as a workload of any size.
struct PayloadOfWorkload {
  double gradient = 0, dad = 0, edad = 0, rank_dad = 0, power_sgd = 0;
  double others = 0;    ///< parameters of layers without an outer product
  double matrices = 0;  ///< parameters of layers with an outer product
};

PayloadOfWorkload payload_of(const spec::ModelShape& shape, std::int64_t batch) {
  PayloadOfWorkload payload;
  for (const spec::LayerShape& layer : shape.layers) {
    payload.gradient += static_cast<double>(layer.parameters);
    // Experts are equal: each has its own matrix and an equal number of rows.
    const auto experts = static_cast<double>(layer.experts);
    const double others = static_cast<double>(layer.parameters) - experts * static_cast<double>(layer.in * layer.out);
    const double factors =
        static_cast<double>(std::min({std::int64_t{8}, layer.in, layer.out}) * (layer.in + layer.out));
    payload.power_sgd += layer.has_matrix() ? experts * factors + others : static_cast<double>(layer.parameters);
    if (!layer.has_outer_product()) {
      payload.others += static_cast<double>(layer.parameters);
      continue;
    }
    const double of_expert = std::round(static_cast<double>(layer.rows_per_sample) / experts);
    const std::int64_t rows = batch * std::max<std::int64_t>(1, static_cast<std::int64_t>(of_expert));
    const std::int64_t in = layer.in + (layer.bias ? 1 : 0);
    payload.dad += experts * static_cast<double>(rows * (layer.in + layer.out));
    payload.edad += experts * static_cast<double>(rows * (layer.in + (layer.delta_follows ? 0 : layer.out)));
    payload.rank_dad +=
        experts * static_cast<double>(std::min({std::int64_t{8}, rows, in, layer.out}) * (in + layer.out));
    payload.matrices += experts;
  }
  return payload;
}

// One step is recorded and then sized for all workloads, as only the timed network differs.
TEST(TimedAs, EveryWorkloadTheSameFormulasHold) {
  constexpr std::int64_t kBatch = 4;
  constexpr double kScale = static_cast<double>(kBatch) / 32;
  OneStep::Setup setup = paper_setup();
  for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
    setup.exchange = mode;
    OneStep::Setup rank_setup = setup;
    rank_setup.parameters = {{"cap", "8"}, {"tolerance", "0"}};
    OneStep::Setup power_setup = setup;
    power_setup.parameters = {{"rank", "8"}, {"least-compression", "0"}};
    const OneStep gradient("gradient-sharing", setup), dad("dad", setup), edad("edad", setup),
        rank_dad("rank-dad", rank_setup), power_sgd("power-sgd", power_setup);
    std::size_t workloads = 0;
    for (const spec::Workload& workload : spec::workload_registry().all()) {
      SCOPED_TRACE(workload.name);
      ++workloads;
      const spec::ModelShape shape = workload.shape();
      const PayloadOfWorkload expected = payload_of(shape, kBatch);
      const auto floats = [&](const OneStep& step) { return step.recorded(shape, kScale).over[0] / 4; };
      EXPECT_EQ(floats(gradient), expected.gradient);
      EXPECT_EQ(floats(dad), expected.dad + expected.others);
      EXPECT_EQ(floats(edad), expected.edad + expected.others);
      EXPECT_EQ(floats(rank_dad),
                expected.rank_dad + expected.others + (mode == spec::ExchangeMode::peer ? expected.matrices : 0))
          << "peers agree on how many components, layer by layer";
      EXPECT_EQ(floats(power_sgd), expected.power_sgd);
    }
    EXPECT_GT(workloads, 100U);
  }
}

}  // namespace
}  // namespace dadsim::algorithms
