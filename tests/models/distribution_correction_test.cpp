#include "models/distribution_correction.hpp"

#include <gtest/gtest.h>

#include <boost/random/normal_distribution.hpp>
#include <cmath>

#include "support/random.hpp"

namespace dadsim::test {
namespace {

using models::Matrix;
using models::UnitQuantiles;

Matrix normal_rows(Eigen::Index rows, Eigen::Index units, std::uint32_t stream) {
  RandomStream random(1, Purpose::test, stream);
  boost::random::normal_distribution<double> normal;
  Matrix result(rows, units);
  for (Eigen::Index i = 0; i < result.size(); ++i) result.data()[i] = static_cast<float>(normal(random));
  return result;
}

Matrix corrected(const UnitQuantiles& source, const Matrix& test) {
  Matrix rows = test;
  correct(source, models::quantiles_of(test, source.values.rows()), models::as_rows(rows, rows.cols()));
  return rows;
}

/// Returns ∫ |Q_a − Q_b| of a column, the mean distance of sorted values; both sides have equally many.
double wasserstein(const Matrix& a, const Matrix& b, Eigen::Index unit) {
  std::vector<float> left, right;
  for (Eigen::Index i = 0; i < a.rows(); ++i) left.push_back(a(i, unit)), right.push_back(b(i, unit));
  std::ranges::sort(left);
  std::ranges::sort(right);
  double sum = 0;
  for (std::size_t i = 0; i < left.size(); ++i) sum += std::abs(left[i] - right[i]);
  return sum / static_cast<double>(left.size());
}

TEST(DistributionCorrection, QuantilesAreOrderStatisticsWhereThereAreAsMany) {
  Matrix rows(4, 1);
  rows << 3, 1, 2, 5;
  const UnitQuantiles four = models::quantiles_of(rows, 4);
  EXPECT_EQ(four.values.col(0), (Eigen::Vector4f(1, 2, 3, 5)));
  const UnitQuantiles two = models::quantiles_of(rows, 2);  // quantiles at ¼ and ¾
  EXPECT_FLOAT_EQ(two.values(0, 0), 1.5F);
  EXPECT_FLOAT_EQ(two.values(1, 0), 4);
}

TEST(DistributionCorrection, LeavesTheTrainingDataAlone) {
  const Matrix rows = normal_rows(1000, 3, 0);
  EXPECT_LT((corrected(models::quantiles_of(rows, 64), rows) - rows).cwiseAbs().maxCoeff(), 1e-5);
}

TEST(DistributionCorrection, UndoesMonotoneMapsOfEachUnit) {
  const Matrix rows = normal_rows(1000, 3, 0);
  Matrix mapped = rows;
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    mapped(i, 0) = 3 * rows(i, 0) - 7;
    mapped(i, 1) = std::exp(1.2F * rows(i, 1));
    mapped(i, 2) = std::copysign(std::pow(std::abs(rows(i, 2)), 2.5F), rows(i, 2));
  }
  // An affine map that stretches is undone exactly for any K. Other maps are undone exactly if every sample is a
  // quantile.
  const Matrix few = corrected(models::quantiles_of(rows, 16), mapped);
  EXPECT_LT((few.col(0) - rows.col(0)).cwiseAbs().maxCoeff(), 1e-4);
  const Matrix all = corrected(models::quantiles_of(rows, 1000), mapped);
  EXPECT_LT((all - rows).cwiseAbs().maxCoeff(), 1e-4);
  // With fewer quantiles, an error remains where the map bends between two quantiles.
  const Matrix some = corrected(models::quantiles_of(rows, 128), mapped);
  EXPECT_LT((some - rows).cwiseAbs().mean(), 0.01);
}

TEST(DistributionCorrection, BeyondTheQuantilesNothingIsStretched) {
  // A pixel at the rim is 0 in most pictures of a batch. At 1/8, 3/8, 5/8 and 7/8, numpy (float64,
  // quantile(method="hazen")) gives [0.05, 0.35, 0.6, 0.925] for the source and [0, 0, 0, 0.0015] for the batch.
  // interp() applies between the knots 0 → 1/3 and 0.0015 → 0.925, and above them a shift by 0.9235. Extrapolating with
  // the slope of these knots once turned 1 into 394.8.
  Matrix source(8, 1), test(16, 1);
  source << 0, 0.1F, 0.3F, 0.4F, 0.5F, 0.7F, 0.9F, 0.95F;
  test << 0, 0, 1, 0, 0, 0.002F, 0, 0, 0, 0, 0, 0.001F, 0, 0, 0, 0;
  const Matrix after = corrected(models::quantiles_of(source, 4), test);
  EXPECT_NEAR(after(0, 0), 1.0 / 3, 1e-6);
  EXPECT_NEAR(after(2, 0), 1.9235, 1e-6);
  EXPECT_NEAR(after(5, 0), 0.9255, 1e-6);
  EXPECT_NEAR(after(11, 0), 0.72777778, 1e-6);
  // In the opposite direction, the outermost pieces are extrapolated, since their slopes are at most 0.0015/0.325.
  const Matrix back = corrected(models::quantiles_of(test, 4), source);
  EXPECT_NEAR(back(0, 0), 0, 1e-6);
  EXPECT_NEAR(back(6, 0), 0.0015 * (0.9 - 0.6) / 0.325, 1e-6);
  EXPECT_NEAR(back(7, 0), 0.0015 * (0.95 - 0.6) / 0.325, 1e-6);
}

TEST(DistributionCorrection, BringsTheBatchNearerToTheSource) {
  for (std::uint32_t trial = 1; trial <= 20; ++trial) {
    const Matrix source = normal_rows(500, 2, 2 * trial);
    Matrix test = normal_rows(500, 2, 2 * trial + 1);
    for (Eigen::Index i = 0; i < test.rows(); ++i) {
      test(i, 0) = std::min(test(i, 0) * (0.5F + 0.1F * static_cast<float>(trial)), 1.0F);  // scaled, then clipped
      test(i, 1) = test(i, 1) * test(i, 1) * test(i, 1);                                    // heavy tails
    }
    const Matrix after = corrected(models::quantiles_of(source, 64), test);
    for (Eigen::Index unit = 0; unit < 2; ++unit) {
      EXPECT_LE(wasserstein(after, source, unit), wasserstein(test, source, unit)) << trial << " " << unit;
    }
  }
}

TEST(DistributionCorrection, OneValueForAllGoesToTheMeanOfTheSource) {
  Matrix source(3, 1);
  source << 0, 1, 5;
  const Matrix constant = Matrix::Constant(3, 1, 4);
  EXPECT_EQ(corrected(models::quantiles_of(source, 3), constant), Matrix::Constant(3, 1, 2));
}

TEST(DistributionCorrection, SitesHaveABarycentre) {
  // The barycentre of shifted copies is a copy with the mean shift.
  const Matrix rows = normal_rows(200, 2, 9);
  const std::vector<UnitQuantiles> sites = {models::quantiles_of(rows, 32),
                                            models::quantiles_of((rows.array() + 4).matrix(), 32)};
  const UnitQuantiles mean = models::barycentre(sites);
  EXPECT_LT((mean.values - sites[0].values - Matrix::Constant(32, 2, 2)).cwiseAbs().maxCoeff(), 1e-5);
}

TEST(DistributionCorrection, OfNormsChangesNothingWhereTheBatchIsTheTrainingData) {
  spec::ModelSpec spec;
  for (int layer = 0; layer < 2; ++layer) {
    spec.layers.push_back(spec::DenseSpec{.units = 8, .activation = spec::Activation::identity});
    spec.layers.push_back(spec::BatchNormSpec{.activation = spec::Activation::relu});
  }
  spec.layers.push_back(spec::DenseSpec{.units = 3});
  models::Network network(5, spec, 1);
  models::Samples samples;
  samples.features = normal_rows(300, 5, 3);
  for (int i = 0; i < 300; ++i) samples.labels.push_back(i % 3);
  models::Tape tape;
  network.forward(samples.features, models::Pass{.training = true}, tape);
  network.update_running_statistics(tape);
  ASSERT_EQ(network.batch_norms().size(), 2U);
  const models::SourceQuantiles source = models::source_quantiles(network, samples.features, 64);
  EXPECT_EQ(source.bytes(), 4 * 64 * (5 + 8 + 8));
  const double plain = models::evaluate(network, samples).loss;
  using models::Correction;
  const auto loss = [&](Correction correction) {
    return models::evaluate_corrected(network, samples, 300, correction, source).loss;
  };
  EXPECT_NEAR(loss(Correction::source), plain, 1e-6);
  for (const Correction one : {Correction::norms, Correction::inputs, Correction::inputs_and_norms}) {
    EXPECT_NEAR(loss(one), plain, 1e-5);
  }
  // Running statistics have moved a part of the way to the batch's.
  EXPECT_GT(std::abs(loss(Correction::batch_statistics) - plain), 1e-4);
}

}  // namespace
}  // namespace dadsim::test
