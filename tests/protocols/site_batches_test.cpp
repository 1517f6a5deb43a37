// Tests random batches of one site, which privacy accountants assume.
#include "protocols/site_batches.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "algorithms/batches.hpp"
#include "protocols/simulating.hpp"

namespace dadsim::test {
namespace {

using protocols::SiteBatches;

TEST(SiteBatches, ByChanceEverySampleIsInEveryBatchWithTheSameChance) {
  SmallProblem small = unequal_problem({12, 24, 40, 84});
  small.training.batches = spec::TrainingSpec::Batches::poisson;
  SiteBatches batches(SiteBatches::How::passes, small.training, small.partition, 2, 1);
  ASSERT_EQ(batches.per_pass(), 4);
  EXPECT_EQ(batches.expected(), 10);
  constexpr std::int64_t kBatches = 2000;
  std::vector<double> often(160, 0);
  double all = 0;
  for (std::int64_t number = 0; number < kBatches; ++number) {
    const std::vector<std::int32_t> batch = batches[number];
    EXPECT_EQ(static_cast<std::int64_t>(batch.size()), batches.size(number));
    EXPECT_EQ(std::set<std::int32_t>(batch.begin(), batch.end()).size(), batch.size());
    for (const std::int32_t sample : batch) ++often[static_cast<std::size_t>(sample)];
    all += static_cast<double>(batch.size());
  }
  const double deviation = std::sqrt(kBatches * 0.25 * 0.75);
  for (std::size_t sample = 0; sample < often.size(); ++sample) {
    const bool is_here = sample >= 36 && sample < 76;
    EXPECT_NEAR(often[sample], is_here ? kBatches / 4.0 : 0, is_here ? 5 * deviation : 0) << sample;
  }
  EXPECT_NEAR(all, 10.0 * kBatches, 5 * deviation * std::sqrt(40));
}

TEST(SiteBatches, ByChanceTheyAreThoseOfSynchronousSteps) {
  SmallProblem small = unequal_problem({12, 24, 40, 84});
  small.training.batches = spec::TrainingSpec::Batches::poisson;
  algorithms::Batches all(small.training, small.partition, 1);
  std::vector<SiteBatches> own;
  for (std::size_t site = 0; site < 4; ++site)
    own.emplace_back(SiteBatches::How::steps, small.training, small.partition, site, 1);
  for (std::int64_t number = 0; number < 20; ++number) {
    const std::vector<std::vector<std::int32_t>> step = all.next();
    for (std::size_t site = 0; site < 4; ++site) {
      EXPECT_FALSE(own[site][number].empty());
      if (step[site].empty()) continue;  // a site alone draws an empty batch again
      EXPECT_EQ(own[site][number], step[site]) << site;
    }
  }
}

// Batches in proportion to the sites' samples contain each sample once per epoch, as those of synchronous steps do.
TEST(SiteBatches, InProportionTheyAreThoseOfSynchronousSteps) {
  SmallProblem small = unequal_problem({12, 24, 40, 83});
  small.training.batch = 7;
  algorithms::Batches all(small.training, small.partition, 1);
  std::vector<SiteBatches> own;
  for (std::size_t site = 0; site < 4; ++site)
    own.emplace_back(SiteBatches::How::steps, small.training, small.partition, site, 1);
  for (std::int64_t number = 0; number < 2 * all.steps_per_epoch(); ++number) {
    const std::vector<std::vector<std::int32_t>> step = all.next();
    for (std::size_t site = 0; site < 4; ++site) {
      EXPECT_EQ(own[site][number], step[site]) << "site " << site << ", step " << number;
      EXPECT_EQ(own[site].size(number), static_cast<std::int64_t>(step[site].size()));
    }
  }
}

}  // namespace
}  // namespace dadsim::test
