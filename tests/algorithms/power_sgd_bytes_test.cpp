// Checks the bytes that PowerSGD sends per epoch (Vogels, Karimireddy, Jaggi, NeurIPS 2019, arXiv:1905.13727, tables 3
// to 5). Every p × q matrix, embedding tables too, is sent as (p + q) · min(r, p, q) floats; all other parameters are
// sent unchanged. A step on a small network is recorded and sized with the paper's shapes.
#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/one_step.hpp"
#include "spec/workload.hpp"

namespace dadsim::algorithms {
namespace {

/// Returns one recorded step; rank 0: gradient sharing.
test::OneStep step_of(int rank) {
  test::OneStep::Setup setup;
  setup.widths = {20, 16, 12, 10};
  setup.exchange = spec::ExchangeMode::peer;
  if (rank == 0) return {"gradient-sharing", setup};
  setup.parameters = {{"rank", std::to_string(rank)}, {"least-compression", "0"}};
  return {"power-sgd", setup};
}

double mib_per_epoch(const char* workload, int rank, double steps) {
  const spec::ModelShape shape = spec::workload_registry().find(workload)->shape();
  return step_of(rank).recorded(shape).over[0] * steps / (1024.0 * 1024.0);
}

struct Published {
  const char* workload;
  double steps;  ///< steps per epoch: 24 for 16 × 128 images per step; 70 follow from the published 7,730 MB
  int rank;
  double mib;    ///< computed from the shapes, with more digits than the printed 1,023, 4, 8 … MB
  double ratio;  ///< printed gradient sharing ÷ PowerSGD; 0: not printed
};

class PowerSgdBytes : public testing::TestWithParam<Published> {};

TEST_P(PowerSgdBytes, AreThoseOfThePaper) {
  const Published& row = GetParam();
  const double sent = mib_per_epoch(row.workload, row.rank, row.steps);
  EXPECT_NEAR(sent, row.mib, 0.001 * row.mib);
  if (row.ratio > 0) {
    EXPECT_EQ(std::round(mib_per_epoch(row.workload, 0, row.steps) / sent), row.ratio);
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, PowerSgdBytes,
                         testing::Values(Published{"resnet-18-cifar10", 24, 0, 1023.00, 1},
                                         Published{"resnet-18-cifar10", 24, 1, 4.2055, 243},
                                         Published{"resnet-18-cifar10", 24, 2, 7.5311, 136},
                                         Published{"resnet-18-cifar10", 24, 4, 14.182, 72},
                                         Published{"resnet-18-cifar10", 24, 7, 24.159, 0},
                                         Published{"lstm-wikitext-2", 70, 0, 7730.3, 1},
                                         Published{"lstm-wikitext-2", 70, 1, 24.964, 310},
                                         Published{"lstm-wikitext-2", 70, 2, 38.054, 203},
                                         Published{"lstm-wikitext-2", 70, 4, 64.233, 120}));

TEST(PowerSgdBytes, NeverExceedTheMatrix) {
  // A classifier of 10 × 512 reduces rank 1,000 to 10.
  const spec::ModelShape timed{"last", {spec::dense_shape("classifier", 512, 10, false)}};
  EXPECT_EQ(step_of(1000).recorded(timed).over[0] / 4, 10 * (512 + 10));
}

}  // namespace
}  // namespace dadsim::algorithms
