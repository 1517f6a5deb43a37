// The laws of docs/leak.md, on runs of the methods themselves.
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "algorithms/learn.hpp"
#include "algorithms/registry.hpp"
#include "compress/registry.hpp"
#include "models/data/digits.hpp"

namespace dadsim::algorithms {
namespace {

using step::Adversary;

class Leak : public testing::Test {
 protected:
  Leak() {
    data_.train = models::draw_digits(0, 420, 3);
    data_.test = models::draw_digits(420, 100, 3);
    data_.shape = {28, 28, 1};
    data_.classes = 10;
    spec::SplitSpec split{.kind = spec::SplitSpec::Kind::dirichlet, .alpha = 0.5, .shards = 2, .sizes = {}};
    partition_ = split_over_sites(split, data_.train, 10, kSites, 3);
    model_.layers = {spec::DenseSpec{48, spec::Activation::relu, true},
                     spec::DenseSpec{10, spec::Activation::identity, true}};
    training_.batch = 10;
    training_.epochs = 2;
    training_.leak_every = 1;
  }

  step::Trajectory learned(const std::string& algorithm, const spec::ParameterValues& parameters = {},
                           spec::ExchangeMode mode = spec::ExchangeMode::aggregator,
                           const std::string& compressor = "none") const {
    spec::RunSpec run{algorithm, algorithm, mode, default_parameters(algorithm_registry().at(algorithm))};
    for (const auto& [name, value] : parameters) run.parameters[name] = value;
    run.compress.method = compressor;
    run.compress.parameters = compress::default_parameters(compress::compressors().at(compressor));
    return learn(run, {data_, partition_, model_, training_, 3});
  }

  template <class... Arguments>
  step::Leak leak(const std::string& algorithm, const Arguments&... arguments) const {
    return learned(algorithm, arguments...).leak.value();
  }

  static const step::AdversaryLeak& of(const step::Leak& leak, Adversary adversary) {
    for (const step::AdversaryLeak& one : leak.adversaries) {
      if (one.adversary == adversary) return one;
    }
    throw std::logic_error(std::string("no ") + spec::to_string(adversary));
  }

  static constexpr std::size_t kSites = 3;
  models::Dataset data_;
  models::Partition partition_;
  spec::ModelSpec model_;
  spec::TrainingSpec training_;
};

TEST_F(Leak, DadAndEdadHandEverySampleOver) {
  ASSERT_NE(partition_[0].size(), partition_[1].size()) << "sites are to differ";
  for (const char* algorithm : {"dad", "edad"}) {
    for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
      const step::Leak leak = this->leak(algorithm, spec::ParameterValues{}, mode);
      const bool central = mode == spec::ExchangeMode::aggregator;
      ASSERT_EQ(leak.adversaries.size(), central ? 3U : 2U);
      for (const step::AdversaryLeak& one : leak.adversaries) {
        const bool both_ways = central && one.adversary == Adversary::line;
        EXPECT_EQ(one.all.rows_handed_over, (both_ways ? 2 : 1) * 2 * 420)
            << algorithm << " " << spec::to_string(one.adversary) << ": each row of two epochs, by count on the wire";
        EXPECT_EQ(one.all.samples_handed_over, 1) << algorithm;
        EXPECT_NEAR(one.all.span_excess, 1, 1e-6) << algorithm;
        EXPECT_EQ(one.all.best_sample_excess, 1) << algorithm;
        EXPECT_EQ(one.all.labels, 1) << algorithm << ": Δ of the last layer is sent";
        ASSERT_EQ(one.sites.size(), kSites);
        for (const step::LeakFigures& site : one.sites) EXPECT_EQ(site.samples_handed_over, 1);
        EXPECT_EQ(one.curve.back().samples_handed_over, 1);
        EXPECT_LT(one.curve.front().samples_handed_over, 0.2);
      }
    }
  }
}

TEST_F(Leak, AsManyRowsAsUnitsAreRowsAndNoGradient) {
  training_.batches = spec::TrainingSpec::Batches::equal;
  training_.leak_every = 0;
  model_.layers.front() = spec::DenseSpec{30, spec::Activation::relu, false};
  const step::Leak leak = this->leak("dad");
  EXPECT_EQ(of(leak, Adversary::aggregator).all.samples_handed_over, 1);
  EXPECT_EQ(of(leak, Adversary::site).all.samples_handed_over, 1) << "30 rows of all sites, 30 units";
}

TEST_F(Leak, FactorsAndGradientsHandNothingOver) {
  for (const char* algorithm : {"gradient-sharing", "rank-dad", "power-sgd", "top-k"}) {
    const step::Leak leak = this->leak(algorithm);
    for (const step::AdversaryLeak& one : leak.adversaries) {
      EXPECT_EQ(one.all.rows_handed_over, 0) << algorithm << " " << spec::to_string(one.adversary);
      EXPECT_EQ(one.all.samples_handed_over, 0) << algorithm;
      EXPECT_GT(one.all.span_excess, 0) << algorithm << " " << spec::to_string(one.adversary) << " "
                                        << (one.why_not ? one.why_not->kind : "");
      EXPECT_LE(one.all.span_excess, 1) << algorithm;
      EXPECT_GE(one.all.best_sample_excess, 0) << algorithm;
      EXPECT_LE(one.all.best_sample_excess, 1) << algorithm;
      // Nearly all classes are in the batch of all sites: of a sum that tells little.
      EXPECT_GT(one.all.labels, one.adversary == Adversary::aggregator ? 0.5 : 0.3)
          << algorithm << " " << spec::to_string(one.adversary);
      EXPECT_TRUE(std::isnan(one.epsilon)) << algorithm;
    }
  }
}

TEST_F(Leak, TheBestImageIsWhatIsShownOfIt) {
  training_.epochs = 0.25;
  const step::Leak rows = this->leak("dad"), factors = this->leak("rank-dad", spec::ParameterValues{{"cap", "2"}});
  for (const auto& [leak, all] : {std::pair(&rows, true), std::pair(&factors, false)}) {
    const step::ShownImage& image = of(*leak, Adversary::aggregator).best_image.value();
    ASSERT_EQ(image.shape, data_.shape);
    const auto original = data_.train.features.row(image.sample);
    EXPECT_TRUE(std::ranges::equal(image.original, original));
    EXPECT_TRUE(std::ranges::count(partition_.at(image.site), image.sample) == 1) << "a sample of that site";
    // What was not shown is orthogonal to what was.
    models::Vector mean = models::Vector::Zero(original.size());
    const std::vector<std::int32_t>& site = partition_[image.site];
    const std::size_t count = std::min<std::size_t>(256, site.size());  // of a site that a mean is of
    for (std::size_t i = 0; i < count; ++i) {
      mean += data_.train.features.row(site[i * site.size() / count]).transpose() / static_cast<float>(count);
    }
    const Eigen::Map<const models::Vector> shown(image.shown.data(), original.size());
    const double missing = (original.transpose() - shown).squaredNorm() / (original.transpose() - mean).squaredNorm();
    EXPECT_NEAR(1 - missing, image.share, 1e-4);
    if (all) {
      EXPECT_NEAR(image.share, 1, 1e-5);
    } else {
      EXPECT_GT(image.share, 0.1);
      EXPECT_LT(image.share, 0.99);
    }
  }
  data_.shape = {1, 784, 1};
  EXPECT_FALSE(of(this->leak("dad"), Adversary::aggregator).best_image) << "no image, no picture";
}

TEST_F(Leak, WhereNothingIsSentEverythingIsZero) {
  const step::Leak leak = this->leak("no-sharing");
  ASSERT_FALSE(leak.adversaries.empty());
  for (const step::AdversaryLeak& one : leak.adversaries) {
    EXPECT_EQ(one.all.rows_handed_over, 0);
    EXPECT_EQ(one.all.span_excess, 0);
    EXPECT_EQ(one.all.best_sample_excess, 0);
    EXPECT_EQ(one.all.labels, 0);
  }
  EXPECT_TRUE(this->leak("pooled").why_not) << "not measured, and never zero";
}

TEST_F(Leak, OneSiteHasNobodyToTell) {
  partition_ = {std::vector<std::int32_t>(420)};
  for (std::int32_t i = 0; i < 420; ++i) partition_[0][static_cast<std::size_t>(i)] = i;
  const step::Leak leak = this->leak("dad", spec::ParameterValues{}, spec::ExchangeMode::peer);
  EXPECT_EQ(of(leak, Adversary::site).all.rows_handed_over, 0);
  EXPECT_EQ(of(leak, Adversary::site).all.span_excess, 0);
}

TEST_F(Leak, AGradientOfFullRankSpansItsBatchAndASumLessOfIt) {
  training_.epochs = 0.25;
  const step::Leak leak = this->leak("gradient-sharing");
  const step::AdversaryLeak& aggregator = of(leak, Adversary::aggregator);
  const step::AdversaryLeak& site = of(leak, Adversary::site);
  const step::AdversaryLeak& secure = of(leak, Adversary::secure_aggregator);
  EXPECT_GT(aggregator.all.span_in, 0.99);
  EXPECT_GT(aggregator.all.span_excess, 0.98);
  // The sum of three sites spans all three batches, and more of anybody.
  EXPECT_GT(site.all.span_out, aggregator.all.span_out);
  EXPECT_EQ(secure.all.span_excess, site.all.span_excess) << "secure aggregation shows the sum alone";
  EXPECT_EQ(secure.all.labels, site.all.labels);
}

TEST_F(Leak, RanksHideMoreTheFewerTheyAre) {
  double before = 0;
  for (const char* cap : {"1", "3", "6", "16"}) {
    const double now =
        of(this->leak("rank-dad", spec::ParameterValues{{"cap", cap}}), Adversary::aggregator).all.span_excess;
    EXPECT_GT(now, before) << cap;
    before = now;
  }
  EXPECT_GT(before, 0.9) << "more than a batch has rows: all of it";
}

TEST_F(Leak, RecodingChangesNothing) {
  const step::Leak dad =
      this->leak("dad", spec::ParameterValues{}, spec::ExchangeMode::aggregator, std::string("fp16"));
  EXPECT_EQ(of(dad, Adversary::site).all.samples_handed_over, 1);
  EXPECT_EQ(of(dad, Adversary::aggregator).all.rows_handed_over, 2 * 420);
  training_.epochs = 0.25;
  const auto gradient = [&](const char* compressor) {
    return of(this->leak("gradient-sharing", spec::ParameterValues{}, spec::ExchangeMode::aggregator,
                         std::string(compressor)),
              Adversary::aggregator)
        .all.span_excess;
  };
  // Rounding to 11 bits is noise that hides directions of a thousandth of the whole.
  EXPECT_NEAR(gradient("fp16"), gradient("none"), 0.02);
}

TEST_F(Leak, NoiseHidesABatch) {
  training_.epochs = 0.5;
  std::vector<double> excesses;
  for (const char* sigma : {"0.0001", "0.01", "30"}) {
    const step::Leak leak =
        this->leak("dp-sgd", spec::ParameterValues{{"noise-multiplier", sigma}, {"noise", "per-site"}, {"clip", "1"}});
    excesses.push_back(of(leak, Adversary::aggregator).all.span_excess);
  }
  EXPECT_GT(excesses[0], 0.7);
  EXPECT_LT(excesses[1], excesses[0]);
  EXPECT_LT(excesses[2], excesses[1]);
  EXPECT_LT(excesses[2], 0.02);
}

TEST_F(Leak, SitesWithWeightsOfTheirOwnAreReadByWhatIsNew) {
  for (const char* algorithm : {"d-psgd", "choco-sgd", "sgp", "gradient-tracking", "power-gossip"}) {
    if (algorithm_registry().find(algorithm) == nullptr) continue;
    const step::Leak leak = this->leak(algorithm, spec::ParameterValues{}, spec::ExchangeMode::peer);
    ASSERT_EQ(leak.adversaries.size(), 2U) << algorithm;
    for (const step::AdversaryLeak& one : leak.adversaries) {
      EXPECT_EQ(one.all.rows_handed_over, 0) << algorithm;
      EXPECT_GE(one.all.span_excess, 0) << algorithm << (one.why_not ? one.why_not->kind : "");
      EXPECT_LE(one.all.span_excess, 1) << algorithm;
      EXPECT_GT(one.all.span_in, 0.05) << algorithm << ": measured";
    }
  }
  const step::Leak plain = this->leak("d-psgd", spec::ParameterValues{}, spec::ExchangeMode::peer);
  EXPECT_GT(of(plain, Adversary::site).all.span_excess, 0.1) << "weights move along the rows of the batch";
}

TEST_F(Leak, EveryMethodIsMeasuredOrSaysWhyNot) {
  training_.epochs = 0.2;
  for (const SynchronousMethod& method : algorithm_registry().all()) {
    spec::RunSpec run{method.name, method.name,
                      method.decentralised() ? spec::ExchangeMode::peer : spec::ExchangeMode::aggregator,
                      default_parameters(method)};
    if (!method.statistics.empty()) run.share = {{.layers = "*", .statistic = method.statistics.front().name}};
    training_.optimizer = {};
    if (method.optimizer == Needs::plain_sgd) training_.optimizer.kind = spec::OptimizerSpec::Kind::sgd;
    const step::Leak leak = learn(run, {data_, partition_, model_, training_, 3}).leak.value();
    if (leak.why_not) continue;
    ASSERT_FALSE(leak.adversaries.empty()) << method.name;
    for (const step::AdversaryLeak& one : leak.adversaries) {
      const bool known = !std::isnan(one.all.span_excess);
      EXPECT_TRUE(known || one.why_not) << method.name << " " << spec::to_string(one.adversary);
      if (known) {
        EXPECT_TRUE(one.all.span_excess >= 0 && one.all.span_excess <= 1) << method.name;
      }
    }
  }
}

/// A site's row has two words of a seed before its numbers: of one layer they are laid to that.
TEST_F(Leak, RowsWithAWordOrTwoBesideNumbersAreTheirSites) {
  model_.layers = {spec::DenseSpec{10, spec::Activation::identity, true}};
  for (const char* compressor : {"none", "gaussian-k", "fp16"}) {
    for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
      const step::Trajectory run =
          learned("forward-gradient", {{"perturb", "weight"}, {"share", "ingredients"}}, mode, compressor);
      EXPECT_FALSE(run.steps.empty()) << compressor;
    }
  }
}

TEST_F(Leak, WhatIsLearnedIsTheSameHoweverOftenIsMeasured) {
  for (const char* algorithm : {"gradient-sharing", "rank-dad", "power-sgd", "dp-sgd", "d-psgd"}) {
    const auto mode = std::string(algorithm) == "d-psgd" ? spec::ExchangeMode::peer : spec::ExchangeMode::aggregator;
    training_.leak_every = 1;
    const step::Trajectory often = learned(algorithm, spec::ParameterValues{}, mode);
    training_.leak_every = 0;
    const step::Trajectory seldom = learned(algorithm, spec::ParameterValues{}, mode);
    ASSERT_EQ(often.curve.size(), seldom.curve.size());
    for (std::size_t i = 0; i < often.curve.size(); ++i) {
      EXPECT_EQ(often.curve[i].loss, seldom.curve[i].loss) << algorithm;
    }
    EXPECT_EQ(often.steps, seldom.steps) << algorithm;
    EXPECT_LT(seldom.leak->measured, often.leak->measured) << algorithm;
  }
}

TEST_F(Leak, IsTheSameForAnyNumberOfThreads) {
  for (const char* algorithm : {"dad", "gradient-sharing", "rank-dad", "dp-sgd"}) {
    std::vector<step::Leak> leaks;
    for (const std::size_t threads : {1, 4}) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      leaks.push_back(leak(algorithm));
    }
    for (std::size_t a = 0; a < leaks[0].adversaries.size(); ++a) {
      const step::LeakFigures &one = leaks[0].adversaries[a].all, &four = leaks[1].adversaries[a].all;
      EXPECT_EQ(one.span_in, four.span_in) << algorithm;
      EXPECT_EQ(one.span_out, four.span_out) << algorithm;
      EXPECT_EQ(one.best_sample_excess, four.best_sample_excess) << algorithm;
      EXPECT_EQ(one.accumulated_excess, four.accumulated_excess) << algorithm;
      EXPECT_EQ(one.labels, four.labels) << algorithm;
    }
  }
}

// dAD beside another exact run carries out a step of each size of batches, and hands over what it would have.
TEST_F(Leak, ARunBesideAnotherHandsOverAllTheSame) {
  const step::Trajectory shared = learned("gradient-sharing");
  for (const char* algorithm : {"dad", "edad"}) {
    const spec::RunSpec run{algorithm, algorithm, spec::ExchangeMode::aggregator,
                            default_parameters(algorithm_registry().at(algorithm))};
    const step::Leak beside = record_beside(run, {data_, partition_, model_, training_, 3}, shared).leak.value();
    EXPECT_EQ(of(beside, Adversary::aggregator).all.rows_handed_over, 2 * 420) << algorithm;
    EXPECT_EQ(of(beside, Adversary::site).all.samples_handed_over, 1) << algorithm;
    EXPECT_NEAR(of(beside, Adversary::aggregator).all.span_excess, 1, 1e-6) << algorithm;
  }
}

}  // namespace
}  // namespace dadsim::algorithms
