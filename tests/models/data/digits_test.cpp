#include <gtest/gtest.h>

#include <array>
#include <set>

#include "models/data/classifier.hpp"
#include "models/data/generated.hpp"
#include "models/thread_counts.hpp"

namespace dadsim::models {
namespace {

bool same(const Samples& a, const Samples& b) {
  return a.labels == b.labels && test::same_bits(a.features, b.features);
}

TEST(Digits, SampleDependsOnSeedAndIndexAlone) {
  const Samples all = draw_digits(0, 300, 5);
  const Samples some = draw_digits(117, 50, 5);
  EXPECT_TRUE(test::same_bits(all.features.middleRows(117, 50), some.features));
  EXPECT_TRUE(std::equal(some.labels.begin(), some.labels.end(), all.labels.begin() + 117));
  EXPECT_FALSE(same(all, draw_digits(0, 300, 6)));
}

TEST(Digits, SameBitsForAnyNumberOfThreads) {
  test::expect_same_for_thread_counts([] { return draw_digits(0, 500, 9); }, same);
}

TEST(Digits, GreyLevelsAndBalancedClasses) {
  const Samples digits = draw_digits(0, 10000, 1);
  ASSERT_EQ(digits.features.cols(), 784);
  EXPECT_GE(digits.features.minCoeff(), 0.0F);
  EXPECT_LE(digits.features.maxCoeff(), 1.0F);
  EXPECT_GT(digits.features.maxCoeff(), 0.99F);
  std::array<int, 10> counts{};
  for (const std::int32_t label : digits.labels) ++counts.at(static_cast<std::size_t>(label));
  for (const int count : counts) EXPECT_NEAR(count, 1000, 5 * 30);  // five standard deviations of Binomial(10000, 0.1)
}

TEST(Digits, NoTwoAlike) {
  const Samples digits = draw_digits(0, 1000, 2);
  std::set<std::vector<float>> seen;
  for (Eigen::Index i = 0; i < digits.size(); ++i) {
    const auto row = digits.features.row(i);
    EXPECT_TRUE(seen.emplace(row.begin(), row.end()).second) << "sample " << i;
  }
}

// Strokes are inside the picture, so that its border has only noise.
TEST(Digits, StayInsideThePicture) {
  const Samples digits = draw_digits(0, 2000, 3);
  double border = 0;
  double all = 0;
  for (Eigen::Index row = 0; row < 28; ++row) {
    for (Eigen::Index col = 0; col < 28; ++col) {
      const double sum = digits.features.col(row * 28 + col).cast<double>().sum();
      all += sum;
      if (row == 0 || row == 27 || col == 0 || col == 27) border += sum;
    }
  }
  EXPECT_LT(border / (2000 * 108), 0.03);
  EXPECT_GT(all / (2000 * 784), 0.08);
}

TEST(Digits, RefusesANegativeRange) {
  EXPECT_THROW(draw_digits(-1, 5, 1), std::logic_error);
  EXPECT_THROW(draw_digits(0, -5, 1), std::logic_error);
  EXPECT_EQ(draw_digits(0, 0, 1).size(), 0);
}

// A linear classifier must fail on this set and a small network succeed, which is its purpose.
TEST(Digits, AreHardForALinearClassifierAndNotForASmallNetwork) {
#ifndef __OPTIMIZE__
  GTEST_SKIP() << "trains two networks: too slow without optimisation";
#endif
  const Samples train = draw_digits(0, 8000, 1);
  const Samples held_back = draw_digits(8000, 2000, 1);
  const double linear_accuracy = test::accuracy_of_classifier(train, held_back, 10, 0, 30);
  const double mlp_accuracy = test::accuracy_of_classifier(train, held_back, 10, 256, 12);
  RecordProperty("linear", std::to_string(linear_accuracy));
  RecordProperty("mlp", std::to_string(mlp_accuracy));
  EXPECT_LT(linear_accuracy, 0.93);
  EXPECT_GT(linear_accuracy, 0.80) << "but it must not be hopeless either";
  EXPECT_GT(mlp_accuracy, 0.97);
}

}  // namespace
}  // namespace dadsim::models
