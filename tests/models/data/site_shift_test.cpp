#include "models/data/site_shift.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models/data/refused.hpp"
#include "models/thread_counts.hpp"

namespace dadsim::test {
namespace {

constexpr std::int64_t kSites = 400;
constexpr std::int64_t kPerSite = 5;

/// Returns data in which every training value is 2 and every held-back value 3.
models::Dataset constant(const spec::SampleShape& shape) {
  models::Dataset data;
  data.shape = shape;
  data.train.features = models::Matrix::Constant(kSites * kPerSite, shape.size(), 2);
  data.test.features = models::Matrix::Constant(10, shape.size(), 3);
  data.train.labels.resize(static_cast<std::size_t>(kSites * kPerSite));
  return data;
}

models::Partition partition() {
  models::Partition sites(kSites);
  for (std::int32_t i = 0; i < kSites * kPerSite; ++i) sites[static_cast<std::size_t>(i) % kSites].push_back(i);
  return sites;
}

TEST(SiteShift, OfNothingChangesNothing) {
  models::Dataset data = constant({2, 2, 3});
  models::apply_site_shift(data, partition(), {}, 1);
  EXPECT_TRUE((data.train.features.array() == 2).all());
}

TEST(SiteShift, GainIsOnePerSiteAndChannelAndLogNormal) {
  models::Dataset data = constant({2, 2, 3});
  models::apply_site_shift(data, partition(), {0.3, 0, 0}, 1);
  EXPECT_TRUE((data.test.features.array() == 3).all()) << "held-back samples stay";
  double sum = 0;
  double squares = 0;
  for (Eigen::Index site = 0; site < kSites; ++site) {
    const auto row = data.train.features.row(site);
    for (Eigen::Index channel = 0; channel < 3; ++channel) {
      for (Eigen::Index position = 1; position < 4; ++position) EXPECT_EQ(row(position * 3 + channel), row(channel));
      const double logarithm = std::log(row(channel) / 2);
      sum += logarithm;
      squares += logarithm * logarithm;
    }
    EXPECT_NE(row(0), row(1)) << "channels of their own";
    for (Eigen::Index other = 1; other < kPerSite; ++other) {
      EXPECT_EQ(data.train.features.row(site + other * kSites), row) << "all samples of a site alike";
    }
  }
  // Bounds are five standard errors of 1200 draws: 0.3/√1200 for the mean, and about 0.3/√2400 for the deviation.
  EXPECT_NEAR(sum / 1200, 0, 5 * 0.3 / std::sqrt(1200.0));
  EXPECT_NEAR(std::sqrt(squares / 1200), 0.3, 5 * 0.3 / std::sqrt(2400.0));
}

TEST(SiteShift, OffsetAndNoiseHaveTheirDeviations) {
  models::Dataset data = constant({1, 1, 1});
  models::apply_site_shift(data, partition(), {0, 0.5, 0.1}, 2);
  double between = 0;
  double within = 0;
  for (Eigen::Index site = 0; site < kSites; ++site) {
    double mean = 0;
    for (Eigen::Index i = 0; i < kPerSite; ++i) mean += data.train.features(site + i * kSites, 0) / kPerSite;
    between += (mean - 2) * (mean - 2) / kSites;
    for (Eigen::Index i = 0; i < kPerSite; ++i) {
      within += std::pow(data.train.features(site + i * kSites, 0) - mean, 2) / (kSites * (kPerSite - 1));
    }
  }
  EXPECT_NEAR(std::sqrt(between), std::sqrt(0.25 + 0.01 / kPerSite), 5 * 0.5 / std::sqrt(2.0 * kSites));
  EXPECT_NEAR(std::sqrt(within), 0.1, 5 * 0.1 / std::sqrt(2.0 * kSites * (kPerSite - 1)));
}

TEST(SiteShift, LeavesThePaddingOfSequences) {
  models::Dataset data = constant({1, 4, 2});
  data.train.features.rightCols(4).setZero();
  data.train.features.col(2).setZero();  // zeros within positions whose other values are not zero
  models::apply_site_shift(data, partition(), {0.1, 1, 0.1}, 3);
  EXPECT_TRUE((data.train.features.rightCols(4).array() == 0).all());
  EXPECT_TRUE((data.train.features.leftCols(4).array() != 0).all());
}

TEST(SiteShift, SameBitsForAnyNumberOfThreads) {
  expect_same_for_thread_counts(
      [] {
        models::Dataset data = constant({2, 2, 3});
        models::apply_site_shift(data, partition(), {0.2, 0.3, 0.4}, 1);
        return data.train.features;
      },
      same_bits);
}

TEST(SiteShift, RefusesSymbols) {
  models::Dataset data = constant({1, 4, 1, 20});
  EXPECT_TRUE(holds(refused([&] { apply_site_shift(data, partition(), {0.1, 0, 0}, 1); }), "needs numeric data"));
  apply_site_shift(data, partition(), {}, 1);
}

}  // namespace
}  // namespace dadsim::test
