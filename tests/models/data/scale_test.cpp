// Tests the scale of features, spec::Scale, of each data source.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "models/data/csv.hpp"
#include "models/data/dataset.hpp"
#include "models/data/ts.hpp"

namespace dadsim::models {
namespace {

template <class Source>
Dataset with_scale(Source source, spec::Scale scale) {
  source.scale = scale;
  source.train = 200;
  source.test = 50;
  return load_dataset({.source = source, .split = {}, .shift = {}, .drifts = {}}, 3);
}

/// Returns mean and deviation of a channel over all rows and positions.
std::pair<double, double> mean_and_deviation(const Matrix& features, Eigen::Index channel, Eigen::Index channels) {
  double sum = 0, squares = 0, count = 0;
  for (Eigen::Index row = 0; row < features.rows(); ++row) {
    for (Eigen::Index i = channel; i < features.cols(); i += channels) {
      sum += features(row, i);
      squares += static_cast<double>(features(row, i)) * features(row, i);
      ++count;
    }
  }
  return {sum / count, std::sqrt(squares / count - sum / count * (sum / count))};
}

TEST(Scale, PixelsAreThoseOfTheFileDividedOrStandardisedByTheirColour) {
  const Dataset unit = with_scale(spec::ShapesSource{}, spec::Scale::unit);
  const Dataset raw = with_scale(spec::ShapesSource{}, spec::Scale::none);
  EXPECT_EQ(raw.train.features, Matrix((255.0F * unit.train.features).array().round()));
  EXPECT_EQ(raw.test.features, Matrix((255.0F * unit.test.features).array().round()));
  EXPECT_GT(raw.train.features.maxCoeff(), 200);
  const Dataset standard = with_scale(spec::ShapesSource{}, spec::Scale::standard);
  for (Eigen::Index channel = 0; channel < 3; ++channel) {
    const auto [mean, deviation] = mean_and_deviation(standard.train.features, channel, 3);
    EXPECT_NEAR(mean, 0, 1e-4);
    EXPECT_NEAR(deviation, 1, 1e-4);
    // Moments of the training samples also scale held-back samples.
    const auto [train_mean, train_deviation] = mean_and_deviation(unit.train.features, channel, 3);
    EXPECT_NEAR(standard.test.features(7, channel), (unit.test.features(7, channel) - train_mean) / train_deviation,
                1e-3);
  }
}

TEST(Scale, DrawnNumbersAreAsTheyAreUnlessAskedOtherwise) {
  const Dataset raw = with_scale(spec::TabularSource{}, spec::Scale::none);
  const Dataset usual = with_scale(spec::TabularSource{}, spec::TabularSource{}.scale);
  EXPECT_EQ(raw.train.features, usual.train.features);
  const Dataset unit = with_scale(spec::TabularSource{}, spec::Scale::unit);
  EXPECT_EQ(unit.train.features.minCoeff(), 0);
  EXPECT_EQ(unit.train.features.maxCoeff(), 1);
}

TEST(Scale, ColumnsOfATableStandAsInTheFileOrFromLeastToLargest) {
  const CsvText table{"t.csv", "a,word,class\n2,x,p\n4,y,q\n,x,p\n12,y,q\n6,x,p\n"};
  const CsvTables tables{.train = {table}, .test = {table}, .target = "class"};
  const auto column = [&](spec::Scale scale) {
    const Dataset data = dataset_of(tables, 5, 5, 1, scale);
    std::multiset<float> values;
    for (Eigen::Index row = 0; row < 5; ++row) {
      values.insert(data.train.features(row, 0));
      EXPECT_EQ(data.train.features(row, 1) + data.train.features(row, 2), 1) << "words are 0 or 1 in any scale";
    }
    return values;
  };
  EXPECT_EQ(column(spec::Scale::none), (std::multiset<float>{2, 4, 6, 6, 12})) << "what is missing is the mean";
  EXPECT_EQ(column(spec::Scale::unit), (std::multiset<float>{0, 0.2F, 0.4F, 0.4F, 1}));
  double sum = 0;
  for (const float value : column(spec::Scale::standard)) sum += value;
  EXPECT_NEAR(sum, 0, 1e-6);
}

}  // namespace
}  // namespace dadsim::models
