#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

#include "models/data/dataset.hpp"
#include "models/data/generated.hpp"
#include "models/uniform.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::models {
namespace {

/// Returns samples without pictures, with drawn classes.
Samples labelled(std::size_t count, std::int32_t classes) {
  RandomStream random(1, Purpose::test);
  Samples samples;
  samples.features.resize(static_cast<Eigen::Index>(count), 1);
  for (std::size_t i = 0; i < count; ++i) {
    samples.labels.push_back(static_cast<std::int32_t>(uniform(random, 0, classes)));
  }
  return samples;
}

spec::SplitSpec split(spec::SplitSpec::Kind kind) {
  spec::SplitSpec spec;
  spec.kind = kind;
  return spec;
}

spec::SplitSpec dirichlet(double alpha) {
  spec::SplitSpec spec = split(spec::SplitSpec::Kind::dirichlet);
  spec.alpha = alpha;
  return spec;
}

void expect_every_sample_once(const Partition& partition, std::size_t samples) {
  std::vector<std::int32_t> all;
  for (const auto& site : partition) {
    EXPECT_FALSE(site.empty());
    EXPECT_TRUE(std::is_sorted(site.begin(), site.end()));
    all.insert(all.end(), site.begin(), site.end());
  }
  std::sort(all.begin(), all.end());
  std::vector<std::int32_t> expected(samples);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(all, expected);
}

/// Returns each class's fraction of a site's samples.
std::vector<double> class_shares(const std::vector<std::int32_t>& site, const Samples& train, std::size_t classes) {
  std::vector<double> shares(classes);
  for (const std::int32_t i : site) {
    shares[static_cast<std::size_t>(train.labels[static_cast<std::size_t>(i)])] += 1 / static_cast<double>(site.size());
  }
  return shares;
}

std::string message(const spec::SplitSpec& spec, const Samples& train, std::int64_t classes, std::size_t sites) {
  try {
    split_over_sites(spec, train, classes, sites, 1);
  } catch (const InputError& error) {
    EXPECT_FALSE(error.diagnostics().at(0).remedy.empty());
    return error.what();
  }
  return "";
}

TEST(Split, EveryKindDealsEverySampleOnceAndRepeats) {
  const Samples train = labelled(1003, 10);
  for (const spec::SplitSpec& spec :
       {split(spec::SplitSpec::Kind::iid), split(spec::SplitSpec::Kind::by_class), split(spec::SplitSpec::Kind::shards),
        dirichlet(0.05), dirichlet(0.5), dirichlet(100)}) {
    for (const std::size_t sites : {1U, 2U, 3U, 7U, 10U}) {
      const Partition partition = split_over_sites(spec, train, 10, sites, 4);
      ASSERT_EQ(partition.size(), sites);
      expect_every_sample_once(partition, 1003);
      EXPECT_EQ(split_over_sites(spec, train, 10, sites, 4), partition);
      if (sites > 1 && spec.kind != spec::SplitSpec::Kind::by_class) {
        EXPECT_NE(split_over_sites(spec, train, 10, sites, 5), partition);
      }
    }
  }
}

TEST(Split, IidSitesDifferByOneSampleAtMost) {
  const Partition partition = split_over_sites(split(spec::SplitSpec::Kind::iid), labelled(1003, 10), 10, 7, 1);
  for (const auto& site : partition) {
    EXPECT_GE(site.size(), 143U);
    EXPECT_LE(site.size(), 144U);
  }
}

TEST(Split, ByClassGivesEachSiteItsRunOfClasses) {
  const Samples train = labelled(500, 10);
  const Partition partition = split_over_sites(split(spec::SplitSpec::Kind::by_class), train, 10, 3, 1);
  for (std::size_t s = 0; s < 3; ++s) {
    std::set<std::int32_t> classes;
    for (const std::int32_t i : partition[s]) classes.insert(train.labels[static_cast<std::size_t>(i)]);
    for (const std::int32_t c : classes) EXPECT_EQ(static_cast<std::size_t>(c) * 3 / 10, s);
  }
  EXPECT_NE(message(split(spec::SplitSpec::Kind::by_class), train, 10, 11)
                .find("over 11 sites needs one class per site, but there are 10 classes"),
            std::string::npos);
}

TEST(Split, ByClassRefusesASiteWhoseClassesAreAbsent) {
  Samples train = labelled(20, 2);
  EXPECT_NE(message(split(spec::SplitSpec::Kind::by_class), train, 4, 4).find("leaves site 3 without a sample"),
            std::string::npos);
}

TEST(Split, DirichletIsUnevenForSmallAlphaAndEvenForLarge) {
  const Samples train = labelled(10000, 10);
  const auto spread = [&](double alpha) {
    // Mean over sites of the largest fraction of a class: 0.1 if classes are even, 1 if each site has one class.
    double sum = 0;
    const Partition partition = split_over_sites(dirichlet(alpha), train, 10, 10, 2);
    for (const auto& site : partition) {
      const auto shares = class_shares(site, train, 10);
      sum += *std::max_element(shares.begin(), shares.end()) / 10;
    }
    return sum;
  };
  EXPECT_GT(spread(0.01), 0.6);
  EXPECT_GT(spread(0.5), 0.2);
  EXPECT_LT(spread(0.5), 0.6);
  EXPECT_LT(spread(10000), 0.13);
}

TEST(Split, DirichletSharesHaveTheirVariance) {
  // A share of Dir(α) over S sites has the variance (1/S)(1 − 1/S)/(S α + 1). Here, 400 classes are 400 draws.
  const std::size_t classes = 400;
  const std::size_t sites = 4;
  const std::size_t per_class = 250;
  Samples train;
  train.features.resize(static_cast<Eigen::Index>(classes * per_class), 1);
  for (std::size_t i = 0; i < classes * per_class; ++i) train.labels.push_back(static_cast<std::int32_t>(i % classes));
  for (const double alpha : {0.2, 1.0, 5.0}) {
    const Partition partition = split_over_sites(dirichlet(alpha), train, static_cast<std::int64_t>(classes), sites, 3);
    std::vector<double> share(classes);
    for (const std::int32_t i : partition[0]) share[static_cast<std::size_t>(i) % classes] += 1.0 / per_class;
    double mean = 0;
    double square = 0;
    for (const double x : share) {
      mean += x / static_cast<double>(classes);
      square += x * x / static_cast<double>(classes);
    }
    EXPECT_NEAR(mean, 0.25, 0.07) << alpha;
    const double expected = 0.25 * 0.75 / (4 * alpha + 1);
    EXPECT_NEAR(square - mean * mean, expected, 0.2 * expected) << alpha;
  }
}

spec::SplitSpec uneven(spec::SplitSpec::Kind kind, double spread, double exponent, double alpha = 0.5) {
  spec::SplitSpec spec = split(kind);
  spec.alpha = alpha;
  spec.size_spread = spread;
  spec.size_exponent = exponent;
  return spec;
}

std::vector<double> sizes_of(const Partition& partition) {
  std::vector<double> sizes;
  for (const auto& site : partition) sizes.push_back(static_cast<double>(site.size()));
  return sizes;
}

TEST(Split, LogNormalSizesHaveTheirSpread) {
  constexpr std::size_t kSites = 2000;
  const Samples train = labelled(1'000'000, 10);
  for (const double spread : {0.3, 1.0}) {
    const Partition partition = split_over_sites(uneven(spec::SplitSpec::Kind::iid, spread, 0), train, 10, kSites, 7);
    expect_every_sample_once(partition, 1'000'000);
    std::vector<double> logarithms = sizes_of(partition);
    for (double& size : logarithms) size = std::log(size);
    double mean = 0;
    double square = 0;
    for (const double x : logarithms) {
      mean += x / kSites;
      square += x * x / kSites;
    }
    // The standard deviation of n draws has a standard error of σ/√(2n). Rounding of about 500 samples is far smaller.
    EXPECT_NEAR(std::sqrt(square - mean * mean), spread, 4 * spread / std::sqrt(2.0 * kSites)) << spread;
    // The sum of the sizes is fixed, so N/S is their mean e^(μ + σ²/2), up to its standard error.
    const double expected = std::log(1e6 / kSites) - spread * spread / 2;
    const double error = std::sqrt((spread * spread + std::exp(spread * spread) - 1) / kSites);
    EXPECT_NEAR(mean, expected, 4 * error) << spread;
  }
}

TEST(Split, SizesByZipfsLawFallWithTheirRank) {
  const Samples train = labelled(100'000, 10);
  for (const double exponent : {0.5, 1.0, 1.5}) {
    const Partition partition = split_over_sites(uneven(spec::SplitSpec::Kind::iid, 0, exponent), train, 10, 50, 7);
    expect_every_sample_once(partition, 100'000);
    std::vector<double> sizes = sizes_of(partition);
    EXPECT_FALSE(std::is_sorted(sizes.begin(), sizes.end(), std::greater<>()));  // sites are in no order of size, as
                                                                                 // the largest is drawn
    std::sort(sizes.begin(), sizes.end(), std::greater<>());
    double sum = 0;
    for (int k = 1; k <= 50; ++k) sum += std::pow(k, -exponent);
    for (int k = 1; k <= 50; ++k) {
      EXPECT_NEAR(sizes[static_cast<std::size_t>(k - 1)], 1e5 * std::pow(k, -exponent) / sum, 1) << exponent << k;
    }
  }
}

TEST(Split, UnevenSizesLeaveNoSiteEmptyAndRepeat) {
  const Samples train = labelled(120, 10);
  for (const spec::SplitSpec& spec :
       {uneven(spec::SplitSpec::Kind::iid, 5, 0), uneven(spec::SplitSpec::Kind::iid, 0, 5),
        uneven(spec::SplitSpec::Kind::dirichlet, 5, 0), uneven(spec::SplitSpec::Kind::dirichlet, 0, 5, 1e-3)}) {
    const Partition partition = split_over_sites(spec, train, 10, 100, 4);
    expect_every_sample_once(partition, 120);
    EXPECT_EQ(split_over_sites(spec, train, 10, 100, 4), partition);
    EXPECT_NE(split_over_sites(spec, train, 10, 100, 5), partition);
  }
}

TEST(Split, DirichletSharesHaveTheMeansOfUnevenSizes) {
  // With many classes, a site's size is near its mean. The variance of its share is that of Dir(α S w), w (1 − w)/(S α
  // + 1), divided by the number of classes.
  constexpr std::size_t kClasses = 1000;
  Samples train;
  train.features.resize(100 * kClasses, 1);
  for (std::size_t i = 0; i < 100 * kClasses; ++i) train.labels.push_back(static_cast<std::int32_t>(i % kClasses));
  const auto sizes = [&](spec::SplitSpec::Kind kind) {
    return sizes_of(split_over_sites(uneven(kind, 0, 1, 0.5), train, kClasses, 5, 3));
  };
  const std::vector<double> even = sizes(spec::SplitSpec::Kind::iid);
  const std::vector<double> skewed = sizes(spec::SplitSpec::Kind::dirichlet);
  for (std::size_t s = 0; s < 5; ++s) {
    const double w = even[s] / 1e5;
    EXPECT_NEAR(skewed[s] / 1e5, w, 4 * std::sqrt(w * (1 - w) / (5 * 0.5 + 1) / kClasses));
  }
}

TEST(Split, DirichletLeavesNoSiteEmpty) {
  // With so small an α, each class would be at one site, and most of the 50 sites would be empty.
  const Samples train = labelled(200, 10);
  for (const double alpha : {1e-6, 1e-3}) {
    expect_every_sample_once(split_over_sites(dirichlet(alpha), train, 10, 50, 1), 200);
    expect_every_sample_once(split_over_sites(dirichlet(alpha), train, 10, 200, 1), 200);
  }
  for (const double alpha : {0.0, -1.0, 1e-9, 1e9, std::nan("")}) {
    EXPECT_NE(message(dirichlet(alpha), train, 10, 5).find("alpha"), std::string::npos);
  }
}

TEST(Split, ShardsBoundTheClassesOfASite) {
  const Samples train = labelled(10000, 10);
  spec::SplitSpec spec = split(spec::SplitSpec::Kind::shards);
  const Partition partition = split_over_sites(spec, train, 10, 100, 1);
  expect_every_sample_once(partition, 10000);
  for (const auto& site : partition) {
    EXPECT_EQ(site.size(), 100U);
    std::set<std::int32_t> classes;
    for (const std::int32_t i : site) classes.insert(train.labels[static_cast<std::size_t>(i)]);
    EXPECT_LE(classes.size(), 4U);  // two shards with at most two classes each
  }
  spec.shards = 101;
  EXPECT_NE(message(spec, train, 10, 100).find("101 shards for each of 100 sites"), std::string::npos);
  spec.shards = 0;
  EXPECT_NE(message(spec, train, 10, 100).find("use 1 to 100 shards"), std::string::npos);
}

TEST(Split, SizesAreKept) {
  const Samples train = labelled(100, 10);
  spec::SplitSpec spec = split(spec::SplitSpec::Kind::sizes);
  spec.sizes = {50, 1, 30};
  const Partition partition = split_over_sites(spec, train, 10, 3, 1);
  std::set<std::int32_t> all;
  for (std::size_t s = 0; s < 3; ++s) {
    EXPECT_EQ(partition[s].size(), static_cast<std::size_t>(spec.sizes[s]));
    all.insert(partition[s].begin(), partition[s].end());
  }
  EXPECT_EQ(all.size(), 81U) << "no sample at two sites";
  EXPECT_NE(message(spec, train, 10, 2).find("3 sizes for 2 sites"), std::string::npos);
  spec.sizes = {50, 51, 1};
  EXPECT_NE(message(spec, train, 10, 3).find("add up to more than the 100"), std::string::npos);
  spec.sizes = {50, 0, 1};
  EXPECT_NE(message(spec, train, 10, 3).find("a site of 0 samples"), std::string::npos);
}

TEST(Split, RefusesMoreSitesThanSamples) {
  EXPECT_NE(message(split(spec::SplitSpec::Kind::iid), labelled(3, 2), 2, 4)
                .find("3 training samples are too few for 4 sites"),
            std::string::npos);
}

TEST(Split, SamplesOfManyLabelsHaveNoClass) {
  Samples train = labelled(60, 10);
  train.features.resize(20, 1);
  train.labels_per_sample = 3;
  expect_every_sample_once(split_over_sites(split(spec::SplitSpec::Kind::iid), train, 10, 4, 1), 20);
  spec::SplitSpec sizes = split(spec::SplitSpec::Kind::sizes);
  sizes.sizes = {5, 15};
  expect_every_sample_once(split_over_sites(sizes, train, 10, 2, 1), 20);
  for (const auto kind :
       {spec::SplitSpec::Kind::by_class, spec::SplitSpec::Kind::dirichlet, spec::SplitSpec::Kind::shards}) {
    EXPECT_NE(
        message(split(kind), train, 10, 4).find("a split by class needs one label per sample, but samples have 3"),
        std::string::npos);
  }
}

TEST(LoadDataset, DrawsTheDigitsOneAfterTheOther) {
  spec::DataSpec spec;
  spec.source = spec::DigitsSource{30, 12};
  const Dataset data = load_dataset(spec, 7);
  const Samples all = draw_digits(0, 42, 7);
  EXPECT_EQ(data.train.features, all.features.topRows(30));
  EXPECT_EQ(data.test.features, all.features.bottomRows(12));
  EXPECT_TRUE(std::equal(data.test.labels.begin(), data.test.labels.end(), all.labels.begin() + 30));
  EXPECT_EQ(data.classes, 10);
  spec.source = spec::DigitsSource{spec::kMaxDrawnSamples, 1};
  EXPECT_THROW(load_dataset(spec, 7), InputError);
  spec.source = spec::DigitsSource{10, 0};
  EXPECT_THROW(load_dataset(spec, 7), InputError);
}

}  // namespace
}  // namespace dadsim::models
