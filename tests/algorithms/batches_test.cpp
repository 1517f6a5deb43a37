#include "algorithms/batches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dadsim::algorithms {
namespace {

models::Partition partition_of(const std::vector<std::int32_t>& sizes) {
  models::Partition partition;
  std::int32_t next = 0;
  for (const std::int32_t size : sizes) {
    auto& site = partition.emplace_back(size);
    std::iota(site.begin(), site.end(), next);
    next += size;
  }
  return partition;
}

spec::TrainingSpec training(std::int64_t batch, spec::TrainingSpec::Batches kind) {
  spec::TrainingSpec spec;
  spec.batch = batch;
  spec.batches = kind;
  return spec;
}

TEST(Batches, InOrderTakesSamplesAsTheyStandInEveryPass) {
  for (const auto kind : {spec::TrainingSpec::Batches::proportional, spec::TrainingSpec::Batches::equal}) {
    spec::TrainingSpec of = training(4, kind);
    of.in_order = true;
    Batches batches(of, partition_of({8, 4}), 5);
    std::vector<std::int32_t> first;
    for (int pass = 0; pass < 2; ++pass) {
      for (std::int64_t step = 0; step < batches.steps_per_epoch(); ++step) {
        const auto batch = batches.next();
        EXPECT_TRUE(std::ranges::is_sorted(batch[0]));
        if (pass == 0) first.insert(first.end(), batch[0].begin(), batch[0].end());
      }
    }
    EXPECT_EQ(first, (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  }
}

TEST(Batches, PoissonTakesEverySampleByChance) {
  const std::vector<std::int32_t> sizes{300, 100, 1};
  const spec::TrainingSpec of = training(10, spec::TrainingSpec::Batches::poisson);
  Batches batches(of, partition_of(sizes), 5);
  Batches again(of, partition_of(sizes), 5);
  const RunContext run = batches.run_of(77);
  EXPECT_EQ(batches.steps_per_epoch(), 14);  // ⌈401 ÷ 30⌉ steps
  EXPECT_DOUBLE_EQ(run.sampling_rate, 1.0 / 14);
  EXPECT_NEAR(run.batch, 401.0 / 14, 1e-9);
  EXPECT_TRUE(run.sampled);
  EXPECT_EQ(run.steps, 77);
  constexpr int kSteps = 4000;
  std::vector<double> seen(401, 0.0);
  double rows = 0, squares = 0, together = 0, twice = 0;
  std::vector<bool> before(401, false);
  for (int step = 0; step < kSteps; ++step) {
    const auto batch = batches.next();
    ASSERT_EQ(batch, again.next()) << "same seed, same batches";
    double all = 0;
    std::vector<bool> now(401, false);
    for (const auto& site : batch) {
      for (const std::int32_t sample : site) {
        ++seen[static_cast<std::size_t>(sample)];
        now[static_cast<std::size_t>(sample)] = true;
      }
      all += static_cast<double>(site.size());
    }
    rows += all;
    squares += all * all;
    together += now[0] && now[350] ? 1 : 0;
    twice += now[7] && before[7] ? 1 : 0;
    before = now;
  }
  const double q = run.sampling_rate;
  for (const double count : seen) EXPECT_NEAR(count / kSteps, q, 5 * std::sqrt(q * (1 - q) / kSteps));
  const double mean = rows / kSteps;
  const double variance = squares / kSteps - mean * mean;
  EXPECT_NEAR(mean, 401 * q, 5 * std::sqrt(401 * q / kSteps));
  EXPECT_NEAR(variance, 401 * q * (1 - q), 5 * 401 * q * std::sqrt(2.0 / kSteps)) << "a binomial's";
  EXPECT_NEAR(together / kSteps, q * q, 5 * q / std::sqrt(kSteps)) << "whatever else is in a step";
  EXPECT_NEAR(twice / kSteps, q * q, 5 * q / std::sqrt(kSteps)) << "whatever was in the step before";
}

TEST(Batches, PoissonLeavesNoStepEmpty) {
  Batches batches(training(1, spec::TrainingSpec::Batches::poisson), partition_of({3}), 5);
  int sites_without = 0;
  for (int step = 0; step < 300; ++step) sites_without += batches.next()[0].empty() ? 1 : 0;
  EXPECT_EQ(sites_without, 0);
}

TEST(Batches, TellWhatARunTakes) {
  Batches equal(training(10, spec::TrainingSpec::Batches::equal), partition_of({100, 20, 5}), 5);
  EXPECT_DOUBLE_EQ(equal.run_of(1).sampling_rate, 1.0) << "the smallest site gives all it has";
  EXPECT_DOUBLE_EQ(equal.run_of(1).batch, 25);
  EXPECT_FALSE(equal.run_of(1).sampled);
  Batches proportional(training(10, spec::TrainingSpec::Batches::proportional), partition_of({100, 20}), 5);
  EXPECT_DOUBLE_EQ(proportional.run_of(1).sampling_rate, 1.0 / 6);
  EXPECT_DOUBLE_EQ(proportional.run_of(1).batch, 20);
}

TEST(Batches, ProportionalTakesEverySampleOncePerEpoch) {
  for (const std::vector<std::int32_t>& sizes :
       {std::vector<std::int32_t>{100, 100}, std::vector<std::int32_t>{1, 1000, 57}, std::vector<std::int32_t>{3}}) {
    Batches batches(training(8, spec::TrainingSpec::Batches::proportional), partition_of(sizes), 5);
    const std::int32_t total = std::accumulate(sizes.begin(), sizes.end(), 0);
    for (int epoch = 0; epoch < 3; ++epoch) {
      std::vector<int> seen(static_cast<std::size_t>(total), 0);
      for (std::int64_t step = 0; step < batches.steps_per_epoch(); ++step) {
        std::size_t rows = 0;
        for (const auto& site : batches.next()) {
          rows += site.size();
          for (const std::int32_t sample : site) ++seen[static_cast<std::size_t>(sample)];
        }
        EXPECT_GT(rows, 0U);
        EXPECT_LE(rows, 8 * sizes.size() + sizes.size());
      }
      EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
    }
  }
}

TEST(Batches, EqualTakesTheBatchFromEverySite) {
  Batches batches(training(8, spec::TrainingSpec::Batches::equal), partition_of({20, 50, 5}), 5);
  EXPECT_EQ(batches.steps_per_epoch(), 7);
  std::vector<int> seen(75, 0);
  for (int step = 0; step < 50; ++step) {
    const auto batch = batches.next();
    EXPECT_EQ(batch[0].size(), 8U);
    EXPECT_EQ(batch[1].size(), 8U);
    EXPECT_EQ(batch[2].size(), 5U) << "all that the site has";
    for (const auto& site : batch) {
      for (const std::int32_t sample : site) ++seen[static_cast<std::size_t>(sample)];
    }
  }
  // 400 draws are whole passes over 20 and over 50 samples, and each pass draws every sample once.
  for (int i = 0; i < 20; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], 20);
  for (int i = 20; i < 70; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], 8);
}

TEST(Batches, OrderChangesFromPassToPassAndIsReproducible) {
  const auto spec = training(10, spec::TrainingSpec::Batches::proportional);
  Batches a(spec, partition_of({10, 10}), 5);
  Batches b(spec, partition_of({10, 10}), 5);
  Batches other(spec, partition_of({10, 10}), 6);
  const auto first = a.next();
  EXPECT_EQ(first, b.next());
  EXPECT_NE(first, other.next());
  EXPECT_NE(first, a.next());
  EXPECT_NE(first[0][0], first[1][0] - 10) << "sites are shuffled independently (this seed)";
}

}  // namespace
}  // namespace dadsim::algorithms
