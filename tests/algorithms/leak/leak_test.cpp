// Tests the laws of docs/leak.md on runs of the methods.
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "algorithms/leak/leak_interval.hpp"
#include "algorithms/learn.hpp"
#include "algorithms/learning/learners.hpp"
#include "algorithms/registry.hpp"
#include "compress/registry.hpp"
#include "models/data/generated.hpp"

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
    spec::RunSpec run{algorithm, algorithm, mode, default_parameters(algorithm_registry().at(algorithm).parameters)};
    for (const auto& [name, value] : parameters) run.parameters[name] = value;
    run.compress.method = compressor;
    run.compress.parameters = default_parameters(compress::compressors().at(compressor).parameters);
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
      // The batch of all sites together has nearly all classes, so the sum over sites reveals little about labels.
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
    // The hidden part of a sample is orthogonal to the part that is shown.
    models::Vector mean = models::Vector::Zero(original.size());
    const std::vector<std::int32_t>& site = partition_[image.site];
    const std::size_t count = std::min<std::size_t>(256, site.size());  // number of samples in a site's mean
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
  // The sum over three sites spans the batches of all three, so it reveals more about samples outside a site's own
  // batch.
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
  // Rounding to 11 bits adds noise, which hides directions below a thousandth of the whole.
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
                      default_parameters(method.parameters)};
    if (!method.statistics.empty()) run.share = {{.layers = "*", .statistic = method.statistics.front().name}};
    training_.optimizer = {};
    if (method.optimizer == Needs::plain_sgd) training_.optimizer.kind = spec::OptimizerSpec::Kind::sgd;
    if (method.optimizer == Needs::muon) training_.optimizer.kind = spec::OptimizerSpec::Kind::muon;
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

/// A site's row has two seed words before its numbers. With one layer, these words count towards this layer.
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

TEST_F(Leak, WhereNothingIsLearnedNothingIsMeasured) {
  const spec::RunSpec run{"dad", "dad", spec::ExchangeMode::aggregator,
                          default_parameters(algorithm_registry().at("dad").parameters)};
  const LearningProblem problem{data_, partition_, model_, training_, 3};
  const step::Trajectory measured = learn(run, problem);
  const step::Trajectory timed = learn(run, problem, {.progress = {}, .measures_leak = false});
  EXPECT_TRUE(measured.leak.has_value());
  EXPECT_FALSE(timed.leak.has_value());
  EXPECT_EQ(timed.steps, measured.steps) << "steps are recorded as they are";
  EXPECT_FALSE(record_beside(run, problem, measured, false).leak.has_value());
}

// The number of observed sites does not grow with the number of sites.
TEST_F(Leak, OfManySitesASampleIsLookedAt) {
  constexpr std::size_t kMany = 140;
  partition_.assign(kMany, {});
  for (std::int32_t i = 0; i < 420; ++i) partition_[static_cast<std::size_t>(i) % kMany].push_back(i);
  partition_[1].insert(partition_[1].end(), partition_[2].begin(), partition_[2].end() - 1);  // makes the sites unequal
  partition_[2].erase(partition_[2].begin(), partition_[2].end() - 1);
  training_.batch = 3;
  for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
    for (const char* algorithm : {"dad", "gradient-sharing", "power-sgd", "top-k"}) {
      const step::Leak leak = this->leak(algorithm, spec::ParameterValues{}, mode);
      ASSERT_EQ(leak.sampled.size(), kSampledSites) << algorithm;
      EXPECT_TRUE(std::ranges::is_sorted(leak.sampled)) << algorithm;
      EXPECT_GT(leak.sampled.back(), 130) << algorithm << ": spread over all";
      double samples = 0;
      for (const std::int32_t site : leak.sampled)
        samples += static_cast<double>(partition_[static_cast<std::size_t>(site)].size());
      for (const step::AdversaryLeak& one : leak.adversaries) {
        ASSERT_EQ(one.sites.size(), kSampledSites) << algorithm;
        const bool hands_over = std::string(algorithm) == "dad";
        EXPECT_EQ(one.all.samples_handed_over, hands_over ? 1 : 0) << algorithm;
        EXPECT_FALSE(std::isnan(one.all.span_excess)) << algorithm << " " << spec::to_string(one.adversary);
        if (!hands_over) continue;
        for (std::size_t s = 0; s < kSampledSites; ++s) {
          const double span_in = one.sites[s].span_in;
          const bool alone =
              partition_[static_cast<std::size_t>(leak.sampled[s])].size() == 1;  // a single sample equals
                                                                                  // its site's mean
          if (alone || std::isnan(span_in)) continue;
          EXPECT_NEAR(span_in, 1, 1e-3) << "rows of a measured site are read";
        }
        if (one.adversary == Adversary::line) continue;
        EXPECT_GE(one.all.rows_handed_over, samples) << "in each epoch";
        EXPECT_LE(one.all.rows_handed_over, 3 * samples);
      }
    }
  }
  const step::Leak gossip = this->leak("d-psgd", spec::ParameterValues{}, spec::ExchangeMode::peer);
  EXPECT_EQ(gossip.sampled.size(), kSampledSites);
  EXPECT_GT(of(gossip, Adversary::site).all.span_in, 0.01) << "measured";
}

// Only sums over the observed sites are reported; parts of other sites are not computed for the observer.
TEST_F(Leak, AnObserverSeesMessagesOfItsSampleAlone) {
  class Counting final : public ExchangeObserver {
   public:
    bool wants_all() const override { return true; }
    bool wants_parts() const override { return true; }
    bool follows_parts() const override { return true; }
    bool looks_at(std::size_t site) const override { return site % 20 == 3; }
    void see(const SeenMatrix& seen) override {
      if (seen.sender >= 0) {
        EXPECT_TRUE(looks_at(static_cast<std::size_t>(seen.sender)));
      }
      ++(seen.of_all ? of_all : of_sites);
    }
    int of_all = 0, of_sites = 0;
  };
  for (const char* algorithm : {"dad", "gradient-sharing", "power-sgd", "top-k", "sign-sgd"}) {
    std::vector<int> seen;
    for (const std::size_t sites : {20, 40}) {
      partition_.assign(sites, {});
      for (std::int32_t i = 0; i < 420; ++i) partition_[static_cast<std::size_t>(i) % sites].push_back(i);
      const SynchronousMethod& info = algorithm_registry().at(algorithm);
      const spec::RunSpec run{algorithm, algorithm, spec::ExchangeMode::aggregator,
                              default_parameters(info.parameters)};
      const LearningProblem problem{data_, partition_, model_, training_, 3};
      models::Network network(data_.shape, model_, 3);
      const std::unique_ptr<Algorithm> method = make_algorithm(info, run);
      TrainingStep step(network, run.exchange, problem, run.compress);
      method->prepare(planned_run(problem));
      Counting counting;
      step.exchange().tap().set_observer(&counting);
      step.begin(0, data_.train, partition_, nullptr);
      run_step(info, *method, step);
      EXPECT_GT(counting.of_sites, 0) << algorithm;
      seen.push_back(counting.of_sites);
    }
    EXPECT_EQ(seen[1], 2 * seen[0]) << algorithm << ": as many for each that is looked at";
  }
}

TEST(LeakPlan, MeasuresNoMoreThanAShareOfLearning) {
  models::Dataset data;
  data.train = models::draw_digits(0, 100, 3);
  data.shape = {28, 28, 1};
  data.classes = 10;
  spec::ModelSpec model;
  model.layers = {spec::DenseSpec{48, spec::Activation::relu, true},
                  spec::DenseSpec{10, spec::Activation::identity, true}};
  const models::Network network(data.shape, model, 3);
  const models::Partition partition{{0}};
  const SampleRows rows(data, partition, network);
  const LeakPlan little = leak_plan(rows, network, 10, 10, 2), much = leak_plan(rows, network, 10, 10'000, 2);
  EXPECT_EQ(little.sites, 1U) << "of a run that takes next to nothing";
  EXPECT_FALSE(little.last);
  EXPECT_EQ(much.sites, kLeakSites);
  EXPECT_TRUE(much.last);
  EXPECT_EQ(leak_plan(rows, network, 10, 5, 10'000).sites, kLeakSites);
  const LeakPlan brief = leak_plan(rows, network, 4, 100, 20);
  const double learning = 3 * forward_macs(network) * 4 * 100 * 20;
  EXPECT_LT(brief.rows, 4 * 100) << "of the rows that all send together";
  EXPECT_LE(basis_macs(rows, 4 * 100, static_cast<double>(brief.rows)), 1.1 * kLeakCost * learning);
  EXPECT_EQ(sampled_sites(5).size(), 5U);
  EXPECT_EQ(sampled_sites(10'000).size(), kSampledSites);
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

// If another exact run is learned with it, dAD executes one step per batch size, and records the bytes that it would
// have sent.
TEST_F(Leak, ARunBesideAnotherHandsOverAllTheSame) {
  const step::Trajectory shared = learned("gradient-sharing");
  for (const char* algorithm : {"dad", "edad"}) {
    const spec::RunSpec run{algorithm, algorithm, spec::ExchangeMode::aggregator,
                            default_parameters(algorithm_registry().at(algorithm).parameters)};
    const step::Leak beside = record_beside(run, {data_, partition_, model_, training_, 3}, shared).leak.value();
    EXPECT_EQ(of(beside, Adversary::aggregator).all.rows_handed_over, 2 * 420) << algorithm;
    EXPECT_EQ(of(beside, Adversary::site).all.samples_handed_over, 1) << algorithm;
    EXPECT_NEAR(of(beside, Adversary::aggregator).all.span_excess, 1, 1e-6) << algorithm;
  }
}

}  // namespace
}  // namespace dadsim::algorithms
