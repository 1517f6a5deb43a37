// Compares PowerSGD with its paper (Vogels, Karimireddy, Jaggi, NeurIPS 2019).
#include "algorithms/low_rank/power_sgd.hpp"

#include <gtest/gtest.h>

#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>

#include "algorithms/learn.hpp"
#include "algorithms/methods.hpp"
#include "algorithms/one_step.hpp"
#include "algorithms/sign/several_steps.hpp"
#include "models/data/generated.hpp"
#include "schedule/fuse.hpp"
#include "spec/workloads/layers.hpp"

namespace dadsim::algorithms {
namespace {

using test::OneStep;
using MatrixD = models::MatrixOf<double>;

/// Several steps of one instance, each with other rows.
class Steps {
 public:
  Steps(std::size_t sites, const PowerSgd::Options& options, spec::ExchangeMode mode = spec::ExchangeMode::peer)
      : Steps(std::vector<int>(sites, 4), options, mode, {}) {}
  Steps(std::vector<int> rows, const PowerSgd::Options& options, spec::ExchangeMode mode,
        const spec::CompressSpec& compress)
      : rows_(std::move(rows)), algorithm_(options), step_(network_, mode, kSeed, compress) {
    RandomStream random(kSeed, Purpose::test);
    boost::random::normal_distribution<float> normal;
    samples_.features.resize(1000, 12);
    for (float& x : samples_.features.reshaped()) x = normal(random);
    boost::random::uniform_int_distribution<std::int32_t> label(0, 4);
    for (Eigen::Index i = 0; i < samples_.features.rows(); ++i) samples_.labels.push_back(label(random));
  }

  /// Takes the next step.
  TrainingStep& next() {
    std::vector<std::vector<std::int32_t>> batch(rows_.size());
    for (std::size_t site = 0; site < rows_.size(); ++site) {
      for (int i = 0; i < rows_[site]; ++i) batch[site].push_back(next_sample_++ % 1000);
    }
    step_.begin(number_++, samples_, batch);
    algorithm_.run(step_);
    step_.finish();
    return step_;
  }

  /// Returns the gradient that all sites would apply without compression.
  models::LayerGradient exact(std::size_t layer) const {
    return models::weight_gradient<float>(step_.deltas(layer), step_.inputs(layer), true);
  }

  const PowerSgd& algorithm() const { return algorithm_; }

  static constexpr std::uint64_t kSeed = 11;

 private:
  std::vector<int> rows_;
  models::Network network_{
      12,
      {.name = "",
       .layers = {spec::DenseSpec{20, spec::Activation::tanh, true}, spec::DenseSpec{9, spec::Activation::tanh, true},
                  spec::DenseSpec{5, spec::Activation::identity, true}}},
      kSeed};
  models::Samples samples_;
  PowerSgd algorithm_;
  TrainingStep step_;
  std::int64_t number_ = 0;
  std::int32_t next_sample_ = 0;
};

double relative(const models::Matrix& a, const models::Matrix& b) { return (a - b).norm() / b.norm(); }

/// Computes algorithms 1 and 2 as printed, in double precision: every site has its own gradient and error, means are
/// over sites, and Gram–Schmidt runs once.
class Paper {
 public:
  Paper(std::size_t sites, MatrixD q) : errors_(sites), q_(std::move(q)) {}

  MatrixD step(const std::vector<MatrixD>& gradients) {
    const auto sites = static_cast<double>(gradients.size());
    std::vector<MatrixD> m = gradients;
    for (std::size_t s = 0; s < m.size(); ++s) {
      if (errors_[s].size() > 0) m[s] += errors_[s];
    }
    MatrixD p = MatrixD::Zero(m[0].rows(), q_.cols());
    for (const MatrixD& site : m) p += site * q_ / sites;
    for (Eigen::Index k = 0; k < p.cols(); ++k) {
      p.col(k).normalize();
      for (Eigen::Index j = k + 1; j < p.cols(); ++j) p.col(j) -= p.col(k) * p.col(k).dot(p.col(j));
    }
    q_.setZero();
    for (const MatrixD& site : m) q_ += site.transpose() * p / sites;
    MatrixD approximation = p * q_.transpose();
    for (std::size_t s = 0; s < m.size(); ++s) errors_[s] = m[s] - approximation;
    return approximation;
  }

 private:
  std::vector<MatrixD> errors_;
  MatrixD q_;
};

TEST(PowerSgd, IsThePapersStepByStep) {
  constexpr std::size_t kSites = 3;
  for (const spec::ExchangeMode mode : {spec::ExchangeMode::peer, spec::ExchangeMode::aggregator}) {
    Steps steps(kSites, {.rank = 2, .least_compression = 0}, mode);
    std::vector<Paper> paper;
    for (int t = 0; t < 8; ++t) {
      TrainingStep& step = steps.next();
      for (std::size_t l = 0; l < step.layers(); ++l) {
        if (t == 0) {
          models::Matrix q = models::Matrix::Zero(step.network().layer(l).in(), 2);
          draw_missing_columns(q, Steps::kSeed, static_cast<std::uint32_t>(l), 0);
          paper.emplace_back(kSites, q.cast<double>());
        }
        // Δ include the weight of their site, here 1/3. In the paper, the mean over sites has this weight.
        std::vector<MatrixD> gradients;
        for (std::size_t s = 0; s < kSites; ++s) {
          gradients.emplace_back(3.0 * step.delta(s, l).cast<double>().transpose() * step.input(s, l).cast<double>());
        }
        const models::Matrix expected = paper[l].step(gradients).cast<float>();
        EXPECT_LT(relative(step.gradient(l).weight, expected), 2e-5) << "step " << t << ", layer " << l;
        EXPECT_LT(relative(step.gradient(l).bias, steps.exact(l).bias), 1e-6) << "biases are summed as they are";
      }
    }
  }
}

TEST(PowerSgd, AllComponentsAreTheWholeGradient) {
  for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
    for (const std::vector<std::int32_t>& rows : {std::vector<std::int32_t>{40}, {25, 3, 0, 12}}) {
      for (const bool bias : {true, false}) {
        OneStep::Setup setup;
        setup.rows = rows;
        setup.exchange = mode;
        setup.activation = spec::Activation::tanh;
        setup.bias = bias;
        const OneStep pooled("pooled", setup);
        setup.parameters = {{"rank", "12"}};
        EXPECT_LT(OneStep("power-sgd", setup).relative_difference(pooled), 1e-4);
        setup.parameters = {{"rank", "2"}};
        EXPECT_GT(OneStep("power-sgd", setup).relative_difference(pooled), 1e-2) << "few components are not";
      }
    }
  }
}

TEST(PowerSgd, AGradientOfFewDirectionsIsExactAtOnce) {
  OneStep::Setup setup;
  setup.rows = {1, 1};  // a gradient of two rows has rank 2 at most
  setup.activation = spec::Activation::tanh;
  const OneStep pooled("pooled", setup);
  EXPECT_LT(OneStep("power-sgd", setup).relative_difference(pooled), 1e-5);
  setup.parameters = {{"rank", "4"}};
  EXPECT_LT(OneStep("power-sgd", setup).relative_difference(pooled), 1e-5) << "components too many do no harm";
}

TEST(PowerSgd, WhatIsLeftOutIsAppliedLater) {
  Steps steps(2, {.rank = 1});
  std::vector<models::Matrix> applied(3);
  std::vector<models::Matrix> wanted(3);
  std::vector<double> behind;  // distance of the applied sum from the exact sum after each step, in gradients
  double compressed = 0;
  for (int t = 1; t <= 200; ++t) {
    const TrainingStep& step = steps.next();
    double worst = 0;
    for (std::size_t l = 0; l < 3; ++l) {
      const models::Matrix exact = steps.exact(l).weight;
      const models::Matrix& given = step.gradient(l).weight;
      if (t == 1) {
        applied[l] = models::Matrix::Zero(exact.rows(), exact.cols());
        wanted[l] = applied[l];
      }
      applied[l] += given;
      wanted[l] += exact;
      worst = std::max<double>(worst, (wanted[l] - applied[l]).norm() / exact.norm());
      if (l == 0) compressed += relative(given, exact) / 200;
    }
    behind.push_back(worst);
  }
  EXPECT_GT(compressed, 0.5) << "each step by itself is far from its gradient";
  const double early = *std::max_element(behind.begin() + 20, behind.begin() + 100);
  const double late = *std::max_element(behind.begin() + 100, behind.end());
  EXPECT_LT(late, 1.5 * early) << "the memory does not grow";
  for (std::size_t l = 0; l < 3; ++l) EXPECT_LT(relative(applied[l], wanted[l]), 0.1) << "layer " << l;
}

// E_s = Σ (G_s − N_s ÷ ΣN · G): with unequal sites, each subtracts its own share of the applied gradient.
TEST(PowerSgd, ASiteKeepsWhatItsOwnShareLeavesOut) {
  const std::vector<int> rows{9, 1, 3};
  Steps steps(rows, {.rank = 1}, spec::ExchangeMode::peer, {.method = "fp16", .parameters = {}, .memory = false});
  std::vector<MatrixD> left(rows.size());
  for (int t = 0; t < 20; ++t) {
    const TrainingStep& step = steps.next();
    for (std::size_t site = 0; site < rows.size(); ++site) {
      const MatrixD own = (step.delta(site, 0).transpose() * step.input(site, 0)).cast<double>();
      if (t == 0) left[site].setZero(own.rows(), own.cols());
      left[site] += own - rows[site] / 13.0 * step.gradient(0).weight.cast<double>();
      const MatrixD kept = steps.algorithm().memory(0, site).cast<double>();
      EXPECT_LT((kept - left[site]).norm(), 1e-5 * left[site].norm()) << t << ' ' << site;
    }
  }
}

// M_s = G_s + E_s and E_s = M_s − N_s ÷ ΣN · P̂ Qᵀ over the sites present; an absent site keeps its error.
TEST(PowerSgd, ASiteThatIsAwayKeepsWhatItHas) {
  PowerSgd algorithm({.rank = 1, .least_compression = 0});
  const std::vector<int> rows = {5, 2, 3};
  test::SeveralSteps steps(algorithm, spec::ExchangeMode::peer, rows);
  const std::vector<Attendees> who{{{0, 1, 2}, 3, {}}, {{0, 2}, 3, {}}, {{1}, 3, {}}, {{1, 2}, 3, {}}, {{0, 1}, 3, {}}};
  std::vector<std::vector<models::Matrix>> kept(2, std::vector<models::Matrix>(3));
  for (std::size_t t = 0; t < 10; ++t) {
    const Attendees& attendees = who[t % who.size()];
    const TrainingStep& step = steps.next(&attendees);
    float all = 0;
    for (const std::int32_t site : attendees.sites) all += static_cast<float>(rows[static_cast<std::size_t>(site)]);
    for (std::size_t l = 0; l < kept.size(); ++l) {
      if (t == 0) kept[l].assign(3, models::Matrix::Zero(step.weights(l).out(), step.weights(l).in()));
      for (std::size_t i = 0; i < attendees.sites.size(); ++i) {
        const auto site = static_cast<std::size_t>(attendees.sites[i]);
        kept[l][site] += steps.of_site(i, l).weight - static_cast<float>(rows[site]) / all * step.gradient(l).weight;
      }
      for (std::size_t site = 0; site < 3; ++site) {
        EXPECT_LT((algorithm.memory(l, site) - kept[l][site]).norm(), 1e-5F * (1e-3F + kept[l][site].norm()))
            << "site " << site << ", step " << t << ", matrix " << l;
      }
    }
  }
}

TEST(PowerSgd, AWarmStartKeepsLessBack) {
  const auto kept_back = [](PowerSgd::Start start) {
    Steps steps(2, {.rank = 2, .start = start});
    models::Matrix behind;
    double sum = 0;
    for (int t = 0; t < 200; ++t) {
      const TrainingStep& step = steps.next();
      const models::Matrix missing = steps.exact(0).weight - step.gradient(0).weight;
      behind = t == 0 ? missing : models::Matrix(behind + missing);
      sum += behind.norm();
    }
    return sum;
  };
  EXPECT_LT(kept_back(PowerSgd::Start::warm), kept_back(PowerSgd::Start::random));
}

TEST(PowerSgd, UncompressedStepsAreGradientSharing) {
  Steps steps(3, {.rank = 1, .uncompressed_steps = 2});
  for (int t = 0; t < 3; ++t) {
    const TrainingStep& step = steps.next();
    for (std::size_t l = 0; l < 3; ++l) {
      const double difference = relative(step.gradient(l).weight, steps.exact(l).weight);
      if (t < 2) {
        EXPECT_LT(difference, 1e-6);
      } else {
        EXPECT_GT(difference, 1e-2);
      }
    }
  }
}

// A gradient's memory and P have different shapes; adding one to the other once aborted the program.
TEST(PowerSgd, UncompressedStepsBesideAMemoryAreRefused) {
  spec::RunSpec run = test::run_of("power-sgd", spec::ExchangeMode::peer, {{"uncompressed-steps", "1"}});
  run.compress.method = "top-k";
  const RunFacts facts{run, 4};
  for (const bool memory : {true, false}) {
    run.compress.memory = memory;
    EXPECT_EQ(faults_of(power_sgd_method(), facts).empty(), !memory);
  }
}

TEST(PowerSgd, DirectionsAreOrthonormalOrZero) {
  RandomStream random(3, Purpose::test);
  boost::random::normal_distribution<float> normal;
  models::Matrix columns(30, 6);
  for (float& x : columns.reshaped()) x = normal(random);
  columns.col(1) = columns.col(0) + 1e-4F * columns.col(1);  // nearly parallel to column 0
  columns.col(3) = 2 * columns.col(0) - columns.col(2);      // in the span of columns 0 and 2
  columns.col(4).setZero();
  columns.col(5) *= 1e-25F;  // squares of its entries underflow in fp32
  orthonormalise(columns);
  const models::Matrix gram = columns.transpose() * columns;
  for (Eigen::Index i = 0; i < 6; ++i) {
    for (Eigen::Index j = 0; j < 6; ++j) {
      EXPECT_NEAR(gram(i, j), i == j && i != 3 && i != 4 ? 1 : 0, 1e-5) << i << ", " << j;
    }
  }
}

TEST(PowerSgd, ComponentsThatVanishedComeBack) {
  // A column of Q that is 0 would stay 0: P = M Q = 0, then Q = Mᵀ P = 0.
  models::Matrix basis = models::Matrix::Ones(4, 3);
  basis.col(1).setZero();
  draw_missing_columns(basis, 1, 2, 3);
  EXPECT_EQ(basis.col(0), models::Vector::Ones(4));
  EXPECT_EQ(basis.col(2), models::Vector::Ones(4));
  EXPECT_GT(basis.col(1).norm(), 0.1F);
}

/// Returns 784-1024-1024-10 with biases, among peers.
OneStep::Setup hook_setup(const std::string& rank) {
  OneStep::Setup setup;
  setup.widths = {784, 1024, 1024, 10};
  setup.exchange = spec::ExchangeMode::peer;
  setup.rows = {2, 2};
  setup.parameters = {{"rank", rank}};
  return setup;
}

std::vector<double> all_reduces(const schedule::Schedule& schedule) {
  std::vector<double> bytes;
  for (const schedule::Task& task : schedule.tasks) {
    if (const auto* collective = std::get_if<schedule::CollectiveTask>(&task.what)) {
      EXPECT_EQ(collective->kind, step::CollectiveKind::all_reduce);
      bytes.push_back(collective->bytes[0]);
    }
  }
  return bytes;
}

// PyTorch's DistributedDataParallel hook (powerSGD_hook.py) sends all biases, all P and all Q in one all-reduce each.
TEST(PowerSgd, InBucketsThreeAllReducesAreLeft) {
  for (const int rank : {1, 2, 4}) {
    const OneStep step("power-sgd", hook_setup(std::to_string(rank)));
    const schedule::Schedule schedule = schedule::instantiate(step.structure, step.sizes, step.shape, step.shape);
    EXPECT_EQ(all_reduces(schedule).size(), 9U);
    const schedule::Schedule in_one = schedule::instantiate(step.structure, step.sizes, step.shape, step.shape, 1,
                                                            spec::Precision::fp32, nullptr, {25e6, 25e6});
    EXPECT_EQ(all_reduces(in_one), (std::vector<double>{8232, rank * 2058.0 * 4, rank * 2832.0 * 4}));
  }
  const OneStep two("power-sgd", hook_setup("2"));
  EXPECT_EQ(two.recorded().over, std::vector<double>(2, 8232 + 16464 + 22656));
}

/// Returns the ResNet-18 for images of 32 × 32 that the paper trains (github.com/kuangliu/pytorch-cifar), with
/// 11,173,962 parameters.
spec::ModelShape resnet_18() {
  spec::ModelShape model{"ResNet-18", {}};
  const auto convolve = [&](std::int64_t channels, std::int64_t filters, std::int64_t kernel, std::int64_t size) {
    model.layers.push_back(spec::convolution_shape(
        "conv", {.channels = channels, .filters = filters, .kernel = kernel, .size = size, .bias = false}));
    model.layers.push_back(spec::normalisation_shape("norm", size * size, filters));
  };
  convolve(3, 64, 3, 32);
  std::int64_t channels = 64;
  for (std::int64_t filters = 64; filters <= 512; filters *= 2) {
    const std::int64_t size = 32 * 64 / filters;
    convolve(channels, filters, 3, size);
    convolve(filters, filters, 3, size);
    if (channels != filters) convolve(channels, filters, 1, size);
    convolve(filters, filters, 3, size);
    convolve(filters, filters, 3, size);
    channels = filters;
  }
  model.layers.push_back(spec::dense_shape("fc", 512, 10, true));
  return model;
}

// Table 3 of the paper gives the data sent per epoch on CIFAR-10 (24 steps of 16 × 128 samples).
TEST(PowerSgd, SendsWhatThePaperSays) {
  const spec::ModelShape model = resnet_18();
  ASSERT_EQ(model.parameters(), 11'173'962);
  const auto mebibytes_per_epoch = [&](const std::string& algorithm, const spec::ParameterValues& parameters) {
    OneStep::Setup setup;
    setup.exchange = spec::ExchangeMode::peer;
    setup.parameters = parameters;
    return 24 * OneStep(algorithm, setup).recorded(model).over[0] / (1024 * 1024);
  };
  const double uncompressed = mebibytes_per_epoch("gradient-sharing", {});
  EXPECT_EQ(std::round(uncompressed), 1023);
  const struct {
    const char* rank;
    double megabytes, times_less;
  } rows[] = {{"1", 4, 243}, {"2", 8, 136}, {"4", 14, 72}};
  for (const auto& row : rows) {
    const double compressed = mebibytes_per_epoch("power-sgd", {{"rank", row.rank}});
    EXPECT_EQ(std::round(compressed), row.megabytes);
    EXPECT_EQ(std::round(uncompressed / compressed), row.times_less);
  }
}

TEST(PowerSgd, ARankIsLimitedByTheMatrixNotByTheBatch) {
  OneStep::Setup setup;  // a network of 12-20-9-5 units
  setup.rows = {2, 1};
  setup.parameters = {{"rank", "7"}, {"least-compression", "0"}};
  const double floats = 7 * (12 + 20) + 7 * (20 + 9) + 5 * (9 + 5) + (20 + 9 + 5);
  EXPECT_EQ(OneStep("power-sgd", setup).recorded().over[0] / 4, floats);
  setup.rows = {16, 16};
  const OneStep step("power-sgd", setup);
  EXPECT_EQ(step.recorded().over[0] / 4, floats);
  const spec::ModelShape timed{"timed", {spec::dense_shape("a", 100, 6, true), spec::dense_shape("b", 6, 50, false)}};
  EXPECT_EQ(step.recorded(timed).over[0] / 4, 6 * 106 + 6 + 6 * 56);
}

// For 12-20-9-5 at rank 2, matrices have 240, 180 and 45 numbers, and factors 2 · 64, 2 · 58 and 2 · 28. The last
// matrix would shrink by less than a factor of two and is sent uncompressed. If a step is timed as another network,
// this network's shapes decide.
TEST(PowerSgd, AMatrixThatWouldHardlyShrinkIsSentAsItIs) {
  for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
    for (const std::string compress : {"none", "int8"}) {
      OneStep::Setup setup;
      setup.exchange = mode;
      setup.activation = spec::Activation::tanh;
      setup.compress.method = compress;
      if (compress == "int8") setup.compress.parameters = {{"rounding", "nearest"}};
      const OneStep pooled("pooled", setup);
      const OneStep step("power-sgd", setup);
      EXPECT_EQ(step.recorded().over, step.uplink_bytes);
      const auto off = [&](std::size_t l) {
        return relative(step.gradient.matrices[l].weight, pooled.gradient.matrices[l].weight);
      };
      EXPECT_GT(off(0), 1e-2);
      EXPECT_GT(off(1), 1e-2);
      EXPECT_LT(off(2), 1e-6);
      if (compress != "none") continue;
      EXPECT_EQ(step.uplink_bytes[0] / 4, 2 * (12 + 20) + 2 * (20 + 9) + 45 + (20 + 9 + 5));
      const spec::ModelShape timed{"timed",
                                   {spec::dense_shape("a", 100, 6, true), spec::dense_shape("b", 4, 5, false)}};
      EXPECT_EQ(step.recorded(timed).over[0] / 4, 2 * 106 + 6 + 20);
    }
  }
}

// With buckets, uncompressed numbers and P are sent once the bucket's gradients exist. The step waits for P only after
// the next bucket's send.
TEST(PowerSgd, BucketsTravelBesideTheBackwardPass) {
  const OneStep step("power-sgd", hook_setup("2"));
  // The matrices have 40 kB, 4.2 MB and 3.2 MB, from the last to the first: one bucket each.
  const schedule::Schedule schedule = schedule::instantiate(step.structure, step.sizes, step.shape, step.shape, 1,
                                                            spec::Precision::fp32, nullptr, {1e6, 1e4});
  std::string order;
  std::vector<std::size_t> collectives;
  for (std::size_t i = 0; i < schedule.tasks.size(); ++i) {
    const schedule::Task& task = schedule.tasks[i];
    if (std::holds_alternative<schedule::CollectiveTask>(task.what)) {
      order += "S" + task.layer.substr(task.layer.size() - 1);
      collectives.push_back(i);
    } else if (const auto* wait = std::get_if<schedule::WaitTask>(&task.what)) {
      order += "w" + schedule.tasks[static_cast<std::size_t>(wait->collective)].layer.substr(task.layer.size() - 1);
      EXPECT_LT(wait->collective, static_cast<std::int32_t>(i));
    }
  }
  // Biases and P of layer 3 are sent first, then those of 2, then P̂ and Q of 3, those of 1, Q of 2, and so on.
  EXPECT_EQ(order, "S3S3S2S2w3S3S1S1w2S2w3w3w1S1w2w2w1w1");
  EXPECT_EQ(collectives.size(), 9U);
}

TEST(PowerSgd, LearnsNearlyAsMuch) {
  models::Dataset data;
  data.train = models::draw_digits(0, 800, 3);
  data.test = models::draw_digits(800, 300, 3);
  data.shape = {28, 28, 1};
  data.classes = 10;
  const models::Partition partition = split_over_sites(
      {.kind = spec::SplitSpec::Kind::iid, .alpha = 0.5, .shards = 2, .sizes = {}}, data.train, 10, 4, 3);
  LearningProblem problem{data, partition, {}, {}, 3};
  problem.model.layers = {spec::DenseSpec{32, spec::Activation::relu, true},
                          spec::DenseSpec{10, spec::Activation::identity, true}};
  problem.training.batch = 10;
  problem.training.epochs = 8;
  problem.training.optimizer = {.kind = spec::OptimizerSpec::Kind::sgd, .learning_rate = 0.05, .momentum = 0.9};
  const auto accuracy = [&](const std::string& algorithm, const spec::ParameterValues& given) {
    return learn(test::run_of(algorithm, spec::ExchangeMode::peer, given), problem).curve.back().accuracy;
  };
  EXPECT_GT(accuracy("power-sgd", {}), accuracy("gradient-sharing", {}) - 0.05);
}

}  // namespace
}  // namespace dadsim::algorithms
