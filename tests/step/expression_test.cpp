#include "step/expression.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>
#include <vector>

namespace dadsim::step {
namespace {

using namespace extent;

const spec::LayerShape kLayer = spec::dense_shape("fc", 30, 20, true);

StepSizes sizes() { return {{4, 6}, {{3, 5}, {7}}}; }

double at(const Expression& expression, std::int32_t worker, const spec::LayerShape& layer = kLayer) {
  const StepSizes s = sizes();
  return expression.evaluate({&layer, &s, worker});
}

TEST(Expression, ExtentsHaveTheirValues) {
  EXPECT_EQ(at(rows(), 0), 4);
  EXPECT_EQ(at(rows(), 1), 6);
  EXPECT_EQ(at(all_rows(), -1), 10);
  EXPECT_EQ(at(in(), 0), 30);
  EXPECT_EQ(at(in_with_bias(), 0), 31);
  EXPECT_EQ(at(out(), 0), 20);
  EXPECT_EQ(at(parameters(), 0), 620);
  EXPECT_EQ(at(forward_macs(), 1), 3600);
  EXPECT_EQ(at(all_forward_macs(), 1), 6000);
  EXPECT_EQ(at(outputs(), 0), 80);
  EXPECT_EQ(at(rank(0), 0), 3);
  EXPECT_EQ(at(rank(0), 1), 5);
  EXPECT_EQ(at(total_rank(0), -1), 8);
  EXPECT_EQ(at(merged_rank(1), -1), 7);
}

TEST(Expression, AlgebraIsThatOfPolynomials) {
  const Expression sum = in() + 2.0 * out();
  EXPECT_EQ(at(sum * (rows() + 1.0), 0), (30 + 40) * 5);
  EXPECT_EQ(rows() * in(), in() * rows());
  EXPECT_EQ(in() + in(), 2.0 * in());
  EXPECT_TRUE((0.0 * in()).is_zero());
  EXPECT_EQ((2.0 * rows() * in() + out()).to_string(), "2·rows·in + out");
}

TEST(Expression, RowsGrowWithTheLayersRowsPerSample) {
  spec::LayerShape convolution = kLayer;
  convolution.rows_per_sample = 49;
  EXPECT_EQ(at(rows(), 0, convolution), 4 * 49);
  EXPECT_EQ(at(all_rows(), 0, convolution), 10 * 49);
}

TEST(Expression, RanksAreLimitedByWhatALayerAllows) {
  const spec::LayerShape narrow = spec::dense_shape("narrow", 2, 20, false);
  EXPECT_EQ(at(rank(0), 1, narrow), 2);
  EXPECT_EQ(at(total_rank(0), -1, narrow), 4);
  EXPECT_EQ(at(merged_rank(1), -1, narrow), 2);
  const spec::LayerShape wide = spec::dense_shape("wide", 500, 500, false);
  const StepSizes few{{2, 2}, {{3, 5}, {7}}};
  EXPECT_EQ(rank(0).evaluate({&wide, &few, 1}), 2) << "two rows";
  EXPECT_EQ(merged_rank(1).evaluate({&wide, &few, -1}), 4) << "four rows in all";
}

TEST(Expression, AMatrixRankIsLimitedByTheMatrixAlone) {
  const StepSizes few{{1, 1}, {{3, 5}, {7}}};
  const spec::LayerShape wide = spec::dense_shape("wide", 500, 400, true);
  EXPECT_EQ(matrix_rank(1).evaluate({&wide, &few, 0}), 7) << "two rows in all do not limit it";
  EXPECT_EQ(matrix_rank(1).evaluate({&wide, &few, -1}), 7);
  const spec::LayerShape narrow = spec::dense_shape("narrow", 2, 20, true);
  EXPECT_EQ(matrix_rank(1).evaluate({&narrow, &few, 0}), 2) << "nor does a bias add to it";
  EXPECT_EQ(matrix_rank(1).to_string(), "min(slot 1, in, out)");
  EXPECT_EQ(biased_rank(1).evaluate({&wide, &few, -1}), 7);
  EXPECT_EQ(biased_rank(1).evaluate({&narrow, &few, 0}), 3) << "here a bias does";
  EXPECT_EQ(biased_rank(1).to_string(), "min(slot 1, in + bias, out)");
}

TEST(Expression, KeptEntriesAreAShareOfTheMatrixRoundedUp) {
  EXPECT_EQ(at(kept(0.01), -1), 6) << "of 600";
  EXPECT_EQ(at(kept(0.011), 0), 7);
  EXPECT_EQ(at(kept(1), 0), 600);
  EXPECT_EQ(at(kept(1e-9), 0), 1);
  EXPECT_EQ(at(2.0 * kept(0.5) + kept(0.1), 0), 660) << "fractions are told apart";
  EXPECT_EQ(kept(0.5).to_string(), "ceil(0.5·in·out)");
  EXPECT_EQ(kept_entries(0.07, 10, 10), 7) << "0.07 · 100 is a little above 7 in doubles";
  EXPECT_EQ(kept_entries(0.999999999, 100'000, 100'000), 9'999'999'990) << "more than 64 bits hold on the way";
  for (const double fraction : {0.0, -0.1, 1.1, 1e-12}) EXPECT_THROW(kept(fraction), std::logic_error);
}

TEST(Expression, ATablesGradientIsAddedRowByRow) {
  spec::LayerShape table = kLayer;
  table.kind = spec::LayerKind::embedding;
  table.rows_per_sample = 5;
  EXPECT_EQ(at(gradient_macs(), 0, table), 4 * 5 * 30);
  EXPECT_EQ(at(all_gradient_macs(), -1, table), 10 * 5 * 30);
  spec::LayerShape norm;
  norm.kind = spec::LayerKind::normalisation;
  norm.parameters = 40;
  EXPECT_EQ(at(gradient_macs(), 0, norm), 0);
  EXPECT_EQ(at(gradient_macs(), 1), 6 * 30 * 20);
}

TEST(Expression, TheAggregatorHasNoRowsOfItsOwn) {
  EXPECT_THROW(at(rows(), -1), std::logic_error);
  EXPECT_THROW(at(rank(0), -1), std::logic_error);
  EXPECT_THROW(at(forward_macs(), -1), std::logic_error);
}

TEST(Expression, FunctionsOfExpressions) {
  EXPECT_EQ(at(min({in(), 2.0 * out(), 35.0}), 0), 30);
  EXPECT_EQ(at(ceil(0.07 * in()), 0), 3);
  EXPECT_EQ(at(over_workers(rows() * rows()), -1), 16 + 36);
  EXPECT_EQ(at(over_workers(slot(0)), 1), 8);
  EXPECT_EQ(at(slot(1), -1), 7) << "a single number stands for all";
  EXPECT_THROW(at(slot(0), -1), std::logic_error) << "one number per worker";
  EXPECT_EQ(min({in(), out()}), min({in(), out()}));
  EXPECT_FALSE(min({in(), out()}) == min({out(), in()}));
  EXPECT_EQ(min({in(), out()}) * rows(), rows() * min({in(), out()}));
  EXPECT_EQ(over_workers(rows()).to_string(), "sum over workers(rows)");
  EXPECT_THROW(Expression(Function::round_up, {}), std::logic_error);
  EXPECT_THROW(Expression(Function::quotient, {in()}), std::logic_error);
  EXPECT_THROW(Expression(Function::over_workers, {in(), out()}), std::logic_error);
}

TEST(Expression, APartIsAsLargeAsADivisorAllows) {
  for (const auto& [of, most, divisor] : {std::tuple{30, 64, 30},
                                          {768, 64, 64},
                                          {784, 64, 56},
                                          {50257, 64, 29},
                                          {67, 64, 1},
                                          {67, 67, 67},
                                          {1, 64, 1},
                                          {100, 1, 1},
                                          {0, 64, 0}}) {
    EXPECT_EQ(divisor_within(of, most), divisor) << of;
    EXPECT_EQ(at(largest_divisor(static_cast<double>(of), most), -1), divisor) << of;
  }
  // in = 30, out = 20
  const Expression parts = quotient(in(), largest_divisor(in(), 8)) * quotient(out(), largest_divisor(out(), 8));
  EXPECT_EQ(at(parts, 0), 5 * 4) << "of 6 × 5";
  EXPECT_EQ(at(quotient(0.0, 0.0), 0), 0) << "nothing has no parts";
  EXPECT_EQ(ceil(0.3 * Expression(7.0)).evaluate({}), 3) << "of constants, without a layer";
  EXPECT_EQ(quotient(in(), largest_divisor(in(), 8)).to_string(), "quotient(in, largest divisor(in, 8))");
}

TEST(Expression, SumsOverWorkersAreWorkedOutOnce) {
  const StepSizes s = sizes();
  KnownSums sums;
  const Expression rows_of_all = all_rows();
  EXPECT_EQ(rows_of_all.evaluate({&kLayer, &s, 0, &sums}), 10);
  ASSERT_EQ(sums.size(), 1U);
  sums[0].second = 11;
  EXPECT_EQ(rows_of_all.evaluate({&kLayer, &s, 1, &sums}), 11);
  EXPECT_EQ(rows_of_all.evaluate({&kLayer, &s, 1}), 10);
}

TEST(WorkerClasses, HaveTheSameSamplesAndNumbers) {
  const StepSizes s{{4, 6, 4, 6, 4}, {{3, 3, 3, 3, 5}, {7}, {1, 2, 3, 4, 5}}, {{2, 2, 2, 9, 2}}};
  const auto classes = [&](const Expression& expression) {
    Numbers numbers;
    expression.collect(numbers);
    const WorkerClasses classes = worker_classes(s, numbers);
    EXPECT_EQ(classes.class_of.size(), 5U);
    return std::pair(classes.class_of, classes.first);
  };
  using Ints = std::vector<std::int32_t>;
  EXPECT_EQ(classes(rows()), std::pair(Ints({0, 1, 0, 1, 0}), Ints({0, 1})));
  EXPECT_EQ(classes(rows() * slot(1)), classes(rows())) << "one number for all";
  EXPECT_EQ(classes(over_workers(min({slot(0), in()}))), std::pair(Ints({0, 1, 0, 1, 2}), Ints({0, 1, 4})));
  EXPECT_EQ(classes(earlier_rows(0)), std::pair(Ints({0, 1, 0, 2, 0}), Ints({0, 1, 3})));
  EXPECT_EQ(classes(slot(2)), std::pair(Ints({0, 1, 2, 3, 4}), Ints({0, 1, 2, 3, 4})));
  const WorkerClasses all = worker_classes({{4, 4, 4}, {{7}}}, {{0}, {}});
  EXPECT_TRUE(all.class_of.empty());
  EXPECT_EQ(all.first, Ints({0}));
  EXPECT_THROW(worker_classes(s, {{3}, {}}), std::out_of_range);
}

TEST(WorkerClasses, AddUpToTheSameSums) {
  const StepSizes s{{4, 6, 4, 7, 4}, {{3, 5, 3, 3, 5}}};
  const Expression tenths = quotient(rows() * slot(0), 10.0);  // rounding depends on the order of additions
  Numbers numbers;
  tenths.collect(numbers);
  const WorkerClasses classes = worker_classes(s, numbers);
  ASSERT_LT(classes.first.size(), 5U);
  for (const Expression& sum : {over_workers(tenths), most_of_workers(tenths)}) {
    Scope scope{&kLayer, &s, -1};
    const double one_by_one = sum.evaluate(scope);
    scope.classes = &classes;
    EXPECT_EQ(sum.evaluate(scope), one_by_one);
  }
}

TEST(Payload, BytesFollowTheElementType) {
  const StepSizes s = sizes();
  const Scope scope{&kLayer, &s, 0};
  EXPECT_EQ((Payload{parameters(), ElementType::float32}).bytes(scope), 2480);
  EXPECT_EQ((Payload{parameters(), ElementType::float16}).bytes(scope), 1240);
  EXPECT_EQ((Payload{parameters(), ElementType::bit}).bytes(scope), 78) << "620 bits fill 78 bytes";
  EXPECT_EQ((Payload{parameters(), ElementType::bfloat16}).bytes(scope), 1240);
  EXPECT_EQ((Payload{parameters(), ElementType::int8}).bytes(scope), 620);
}

}  // namespace
}  // namespace dadsim::step
