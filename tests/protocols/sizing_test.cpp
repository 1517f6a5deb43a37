#include <gtest/gtest.h>

#include "protocols/simulating.hpp"
#include "spec/workload.hpp"

namespace dadsim::test {
namespace {

TEST(Sizing, PiecesAreAShareOfTheModel) {
  SmallProblem small(1);
  small.model.layers = {spec::DenseSpec{.units = 20}, spec::DenseSpec{.units = 10}};
  const algorithms::LearningProblem problem = small.problem();
  const models::Network network(problem.data.shape, problem.model, problem.seed);
  const spec::CompressSpec four_bits{.method = "e3m0", .parameters = {{"rounding", "nearest"}}, .memory = false};
  const std::vector<std::size_t> first = {0};
  const std::vector<std::size_t> second = {1};
  const std::vector<std::size_t> both = {0, 1};
  const double share = 785.0 * 20 / (785 * 20 + 21 * 10);

  const protocols::Sizing own(problem, {}, {.shape = network.shape()});
  EXPECT_DOUBLE_EQ(own.share_of(first), share);
  EXPECT_DOUBLE_EQ(own.share_of(both), 1);
  EXPECT_DOUBLE_EQ(own.bytes_of(second, {}), 4 * 21 * 10);
  EXPECT_DOUBLE_EQ(own.bytes_of(second, four_bits), 21 * 10 / 2 + 4);
  EXPECT_DOUBLE_EQ(own.bytes_of(both, {}), own.plain_bytes());

  const spec::ModelShape large = spec::workload_registry().at("resnet-50").shape();
  const protocols::Sizing timed(problem, {}, {.shape = large});
  EXPECT_DOUBLE_EQ(timed.share_of(first), share);
  EXPECT_DOUBLE_EQ(timed.bytes_of(first, {}), share * 4 * static_cast<double>(large.parameters()));
  EXPECT_NEAR(timed.bytes_of(both, four_bits), static_cast<double>(large.parameters()) / 2, 2000) << "and scales";
}

}  // namespace
}  // namespace dadsim::test
