#include "models/data/drift.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "models/data/corruption.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::test {
namespace {

using models::Corrupter;
using spec::Corruption;

models::Dataset some_digits(std::int64_t train, std::int64_t test) {
  spec::DataSpec spec;
  spec.source = spec::DigitsSource{.train = train, .test = test};
  return models::load_dataset(spec, 1);
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow(a[i] - b[i], 2);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

TEST(Corrupter, EverySeverityIsFartherFromTheSampleThanTheOneBefore) {
  const models::Dataset data = some_digits(40, 1);
  for (const auto& [kind, name] : names_of(Corruption{})) {
    if (kind == Corruption::none) continue;
    double before = 0;
    for (std::int64_t severity = 1; severity <= spec::kMaxSeverity; ++severity) {
      const Corrupter corrupt(kind, severity, data.shape, 1, 3);
      double mean = 0;
      for (Eigen::Index i = 0; i < data.train.size(); ++i) {
        const std::vector<float> clean(data.train.features.row(i).begin(), data.train.features.row(i).end());
        std::vector<float> corrupted = clean;
        corrupt(static_cast<std::uint32_t>(i), corrupted);
        for (const float x : corrupted) {
          ASSERT_GE(x, 0);
          ASSERT_LE(x, 1);
        }
        std::vector<float> again = clean;
        corrupt(static_cast<std::uint32_t>(i), again);
        EXPECT_EQ(corrupted, again);
        mean += distance(clean, corrupted);
      }
      EXPECT_GT(mean, before) << name << " " << severity;
      before = mean;
    }
  }
}

TEST(Corrupter, MonotoneMapsAndBlurDoWhatTheirFormulasSay) {
  const spec::SampleShape row{1, 1, 4};
  std::vector<float> x = {-0.5F, 0, 0.25F, 2};
  Corrupter(Corruption::gamma, 2, row, 1, 0)(0, x);
  EXPECT_EQ(x, (std::vector<float>{-0.25F, 0, 0.0625F, 4}));
  x = {-0.5F, 0, 0.25F, 2};
  Corrupter(Corruption::clip, 5, row, 1, 0)(0, x);
  EXPECT_EQ(x, (std::vector<float>{-0.4F, 0, 0.25F, 0.4F}));
  x = {-0.5F, 0, 0.25F, 2};
  Corrupter(Corruption::exponential, 4, row, 1, 0)(0, x);
  EXPECT_NEAR(x[3], (std::exp(2.4) - 1) / 1.2, 1e-5);
  // Blurring does not change a constant picture, which has no edges.
  const spec::SampleShape picture{6, 6, 1};
  std::vector<float> flat(36, 0.5F);
  Corrupter(Corruption::blur, 5, picture, 1, 0)(0, flat);
  for (const float value : flat) EXPECT_NEAR(value, 0.5, 1e-6);
  Corrupter(Corruption::edges, 5, picture, 1, 0)(0, flat);
  for (const float value : flat) EXPECT_EQ(value, 0);
  EXPECT_THROW(Corrupter(Corruption::zigzag, 1, row, 1, 0), InputError);
  EXPECT_THROW(Corrupter(Corruption::noise, 1, {1, 5, 1, 30}, 1, 0), InputError);
}

TEST(Corrupter, GainAndOffsetAreOfTheSiteAndFeatureNotOfTheSample) {
  const spec::SampleShape row{1, 1, 3};
  const Corrupter here(Corruption::gain_offset, 4, row, 1, 0), there(Corruption::gain_offset, 4, row, 1, 1);
  std::vector<float> a = {1, 1, 1}, b = {1, 1, 1}, c = {1, 1, 1};
  here(0, a);
  here(77, b);
  there(0, c);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  EXPECT_NE(a[0], a[1]);
}

TEST(Drift, SitesChangeAtTheirTimesAndOnlyThey) {
  models::Dataset data = some_digits(60, 30);
  const models::Matrix clean = data.train.features;
  models::Partition partition(3);
  for (std::int32_t i = 0; i < 60; ++i) partition[static_cast<std::size_t>(i % 3)].push_back(i);
  std::vector<spec::DriftSpec> drifts(3);
  drifts[0] = {.sites = "", .workers = {1}, .at = 10, .corrupts = true, .corruption = Corruption::noise, .severity = 3};
  drifts[1] = {
      .sites = "", .workers = {0, 1}, .at = 20, .corrupts = true, .corruption = Corruption::clip, .severity = 4};
  drifts[2] = {.sites = "", .workers = {1}, .at = 30, .corrupts = true, .corruption = Corruption::none};
  const models::DriftedData drift = models::make_drift(drifts, data, partition, 5);
  EXPECT_EQ(data.train.features.topRows(60), clean);
  EXPECT_EQ(data.train.size(), 60 + 20 + 40);
  EXPECT_EQ(data.train.labels.size(), 120U);
  EXPECT_EQ(drift.version(2, 1000), 0);
  EXPECT_EQ(drift.version(1, 9.9), 0);
  EXPECT_EQ(drift.version(1, 10), 1);
  EXPECT_EQ(drift.version(1, 31), 3);
  EXPECT_EQ(drift.version(0, 31), 1);
  const std::vector<std::int32_t>& noisy = drift.partitions[0][1];
  ASSERT_EQ(noisy.size(), 20U);
  for (std::size_t i = 0; i < noisy.size(); ++i) {
    EXPECT_GE(noisy[i], 60);
    EXPECT_EQ(data.train.labels[static_cast<std::size_t>(noisy[i])],
              data.train.labels[static_cast<std::size_t>(partition[1][i])]);
    EXPECT_NE(data.train.features.row(noisy[i]), clean.row(partition[1][i]));
  }
  EXPECT_LE(data.train.features.row(drift.partitions[1][1][3]).maxCoeff(), 0.25F)
      << "the clip takes the place of the noise";
  EXPECT_EQ(drift.partitions[2][1], partition[1]) << "healed";
  EXPECT_EQ(drift.partitions[0][2], partition[2]) << "of one that does not drift it is what it began with";
  // The held-back set keeps its size, and each site contributes a third.
  EXPECT_EQ(drift.held_back_at(9.9), nullptr);
  const models::Samples* mixed = drift.held_back_at(25);
  ASSERT_NE(mixed, nullptr);
  ASSERT_EQ(mixed->size(), 30);
  int dark = 0;
  for (Eigen::Index i = 0; i < 30; ++i) dark += mixed->features.row(i).maxCoeff() <= 0.25F ? 1 : 0;
  EXPECT_EQ(dark, 20);
}

TEST(Drift, ClassesDriftToOtherSharesOfAsManySamples) {
  models::Dataset data = some_digits(2000, 400);
  models::Partition partition(2);
  for (std::int32_t i = 0; i < 2000; ++i) partition[static_cast<std::size_t>(i % 2)].push_back(i);
  const models::DriftedData drift =
      models::make_drift({{.sites = "", .workers = {0}, .at = 1, .label_alpha = 0.1}}, data, partition, 5);
  EXPECT_EQ(data.train.size(), 2000) << "nothing is corrupted";
  const auto count = [&](const std::vector<std::int32_t>& rows, const models::Samples& of) {
    std::vector<double> shares(10);
    for (const std::int32_t row : rows) {
      shares[static_cast<std::size_t>(of.labels[static_cast<std::size_t>(row)])] +=
          1.0 / static_cast<double>(rows.size());
    }
    return shares;
  };
  ASSERT_EQ(drift.partitions[0][0].size(), 1000U);
  const std::vector<double> before = count(partition[0], data.train), now = count(drift.partitions[0][0], data.train);
  EXPECT_LT(*std::ranges::max_element(before), 0.2);
  EXPECT_GT(*std::ranges::max_element(now), 0.3) << "Dir(0.1) of ten classes";
  // The site's half of the held-back data has the same shares of classes.
  const models::Samples* mixed = drift.held_back_at(1);
  std::vector<std::int32_t> rows(200);
  for (std::int32_t i = 0; i < 200; ++i) rows[static_cast<std::size_t>(i)] = i;
  const std::vector<double> held_back = count(rows, *mixed);
  for (std::size_t c = 0; c < 10; ++c) EXPECT_NEAR(held_back[c], now[c], 0.01) << c;
}

TEST(HeldBackOfSites, AreEachSitesOwnAndAsItSeesThem) {
  const models::Dataset data = some_digits(60, 100);
  models::Partition partition(3);
  for (std::int32_t i = 0; i < 60; ++i) partition[i < 30 ? 0 : i < 45 ? 1 : 2].push_back(i);
  const auto clean = models::held_back_of_sites(Corruption::none, 1, 0, data, partition, 1);
  ASSERT_EQ(clean.size(), 3U);
  EXPECT_EQ(clean[0].size(), 50);
  EXPECT_EQ(clean[1].size() + clean[2].size(), 50);
  // The parts of all sites together are the held-back data.
  double sum = 0;
  for (const models::Samples& site : clean) sum += site.features.cast<double>().sum();
  EXPECT_NEAR(sum, data.test.features.cast<double>().sum(), 1e-6 * sum);

  const auto corrupted = models::held_back_of_sites(Corruption::gain_offset, 4, 0, data, partition, 1);
  for (std::size_t site = 0; site < 3; ++site) {
    EXPECT_EQ(corrupted[site].labels, clean[site].labels);
    EXPECT_GT((corrupted[site].features - clean[site].features).norm(), 1);
  }
  // Each site has its own gain and offset.
  EXPECT_GT((corrupted[1].features.row(0) - corrupted[2].features.row(0)).norm(), 1e-3);

  const auto skewed = models::held_back_of_sites(Corruption::none, 1, 0.001, data, partition, 1);
  for (std::size_t site = 0; site < 3; ++site) {
    EXPECT_EQ(skewed[site].size(), clean[site].size());
    std::map<std::int32_t, std::size_t> counts;
    for (const std::int32_t label : skewed[site].labels) ++counts[label];
    std::size_t most = 0;
    for (const auto& [label, count] : counts) most = std::max(most, count);
    EXPECT_GT(static_cast<double>(most), 0.9 * static_cast<double>(skewed[site].labels.size()));
  }
  models::Dataset many = data;
  many.train.labels_per_sample = 2;
  EXPECT_THROW(models::held_back_of_sites(Corruption::none, 1, 0.1, many, partition, 1), InputError);
}

}  // namespace
}  // namespace dadsim::test
