// Compares top-k with error feedback with its definition, and tests that error feedback loses nothing.
#include "algorithms/sparse/top_k.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "algorithms/low_rank/power_sgd.hpp"
#include "algorithms/one_step.hpp"

namespace dadsim::algorithms {
namespace {

using test::OneStep;

/// Several steps of one algorithm on unequal sites, each with other rows.
class TopKSteps {
 public:
  TopKSteps(Algorithm& algorithm, spec::ExchangeMode mode) : algorithm_(algorithm), step_(network_, mode, kSeed) {
    RandomStream random(kSeed, Purpose::test);
    boost::random::normal_distribution<float> normal;
    samples_.features.resize(1000, 12);
    for (float& x : samples_.features.reshaped()) x = normal(random);
    boost::random::uniform_int_distribution<std::int32_t> label(0, 4);
    for (Eigen::Index i = 0; i < samples_.features.rows(); ++i) samples_.labels.push_back(label(random));
  }

  const TrainingStep& next() {
    std::vector<std::vector<std::int32_t>> batch;
    for (const int rows : {5, 0, 3}) {
      auto& site = batch.emplace_back();
      for (int i = 0; i < rows; ++i) site.push_back(next_sample_++ % 1000);
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

 private:
  static constexpr std::uint64_t kSeed = 11;
  models::Network network_{
      12,
      {.name = "",
       .layers = {spec::DenseSpec{20, spec::Activation::tanh, true}, spec::DenseSpec{9, spec::Activation::tanh, true},
                  spec::DenseSpec{5, spec::Activation::identity, true}}},
      kSeed};
  models::Samples samples_;
  Algorithm& algorithm_;
  TrainingStep step_;
  std::int64_t number_ = 0;
  std::int32_t next_sample_ = 0;
};

/// For every matrix, the sum of all applied updates plus the last memory equals the sum of all gradients.
template <class A, class Memory>
void expect_nothing_is_lost(A& algorithm, spec::ExchangeMode mode, const Memory& memory) {
  TopKSteps steps(algorithm, mode);
  std::vector<models::MatrixOf<double>> applied(3), wanted(3);
  for (int t = 0; t < 30; ++t) {
    const TrainingStep& step = steps.next();
    for (std::size_t l = 0; l < 3; ++l) {
      if (t == 0) {
        applied[l].setZero(step.gradient(l).weight.rows(), step.gradient(l).weight.cols());
        wanted[l] = applied[l];
      }
      applied[l] += step.gradient(l).weight.cast<double>();
      wanted[l] += steps.exact(l).weight.cast<double>();
      EXPECT_LT((step.gradient(l).bias - steps.exact(l).bias).norm(), 1e-6 * steps.exact(l).bias.norm());
      const models::MatrixOf<double> left = memory(l);
      EXPECT_GT(left.norm(), 1e-3 * wanted[l].norm()) << "something is always left out";
      EXPECT_LT((applied[l] + left - wanted[l]).norm(), 1e-6 * wanted[l].norm()) << "step " << t << ", layer " << l;
    }
  }
}

TEST(ErrorFeedback, LosesNothing) {
  for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
    TopK top_k(0.05);
    expect_nothing_is_lost(top_k, mode, [&](std::size_t l) {
      models::MatrixOf<double> sum = top_k.memory(0, l).cast<double>();
      for (const std::size_t site : {1U, 2U}) sum += top_k.memory(site, l).cast<double>();
      return sum;
    });
    PowerSgd power_sgd({.rank = 1});
    expect_nothing_is_lost(power_sgd, mode,
                           [&](std::size_t l) { return power_sgd.memory(l).template cast<double>().eval(); });
  }
}

TEST(TopK, KeepsTheLargestMagnitudes) {
  models::Matrix matrix(2, 4);
  matrix << 1, -5, 0, 3,  //
      -3, 2, 4, 3;
  models::Matrix rest = matrix;
  const KeptEntries kept = take_largest(rest, 4);  // three numbers have magnitude 3; the first are kept
  EXPECT_EQ(kept.values, (models::Matrix(4, 1) << -5, 3, -3, 4).finished());
  models::Matrix sent = models::Matrix::Zero(2, 4);
  add_kept(kept.values, kept.indices, sent);
  EXPECT_EQ(sent, (models::Matrix(2, 4) << 0, -5, 0, 3, -3, 0, 4, 0).finished());
  EXPECT_EQ(sent + rest, matrix);
}

TEST(TopK, KeepsWhatASortByMagnitudeAndPlaceHasFirst) {
  RandomStream random(3, Purpose::test);
  boost::random::normal_distribution<float> normal;
  for (const Eigen::Index size : {1, 7, 100, 5000}) {
    for (const int kind : {0, 1, 2}) {
      models::Matrix matrix(size, 1);
      for (Eigen::Index i = 0; i < size; ++i) {
        const float x = normal(random);
        // Draws values like gradients, values with many ties, or values of all magnitudes up to infinity.
        matrix(i) = kind == 0 ? 1e-3F * x : kind == 1 ? std::round(2 * x) : std::copysign(std::exp(60 * x), x);
      }
      std::vector<std::int32_t> order(static_cast<std::size_t>(size));
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_sort(order, std::greater{}, [&](std::int32_t i) { return std::abs(matrix(i)); });
      for (const Eigen::Index count : {Eigen::Index{1}, (size + 9) / 10, (size + 1) / 2, size}) {
        std::vector<std::int32_t> wanted(order.begin(), order.begin() + count);
        std::ranges::sort(wanted);
        models::Matrix rest = matrix;
        const KeptEntries kept = take_largest(rest, count);
        for (Eigen::Index i = 0; i < count; ++i) {
          const std::int32_t place = wanted[static_cast<std::size_t>(i)];
          ASSERT_EQ(kept.indices[static_cast<std::size_t>(i)], place) << size << ' ' << kind << ' ' << count;
          ASSERT_EQ(kept.values(i), matrix(place));
          ASSERT_EQ(rest(place), 0);
        }
      }
    }
  }
}

TEST(TopK, KeepsAllOfAMatrixOrFewerEntriesThanThereAreNonZeros) {
  models::Matrix matrix = models::Matrix::Zero(3, 3);
  matrix(1, 2) = -2;
  models::Matrix rest = matrix;
  const KeptEntries two = take_largest(rest, 2);
  EXPECT_EQ(two.values.sum(), -2.0F);
  EXPECT_EQ(rest, models::Matrix::Zero(3, 3));
  models::Matrix whole = models::Matrix::Random(7, 5);
  const models::Matrix before = whole;
  const KeptEntries all = take_largest(whole, 35);
  EXPECT_EQ(all.values, before.reshaped<Eigen::RowMajor>());
  EXPECT_THROW(take_largest(whole, 36), std::logic_error);
  EXPECT_THROW(take_largest(whole, 0), std::logic_error);
}

TEST(TopK, SendsWhatIsNotANumber) {
  models::Matrix matrix = models::Matrix::Ones(4, 4);
  matrix(2, 1) = std::numeric_limits<float>::quiet_NaN();
  matrix(3, 3) = -std::numeric_limits<float>::infinity();
  const KeptEntries kept = take_largest(matrix, 2);
  EXPECT_TRUE(std::isnan(kept.values(0)));
  EXPECT_EQ(kept.values(1), -std::numeric_limits<float>::infinity());
}

TEST(TopK, AppliesTheSumOfWhatSitesSend) {
  // In the first step no error exists, so the entries are the largest of each site's own gradient.
  for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
    OneStep::Setup setup;
    setup.rows = {5};
    setup.exchange = mode;
    setup.activation = spec::Activation::tanh;
    setup.parameters = {{"fraction", "0.1"}};
    const OneStep exact("pooled", setup);
    const OneStep step("top-k", setup);
    for (std::size_t l = 0; l < 3; ++l) {
      models::Matrix gradient = exact.gradient.matrices[l].weight;
      const KeptEntries kept =
          take_largest(gradient, static_cast<Eigen::Index>(std::ceil(0.1 * static_cast<double>(gradient.size()))));
      models::Matrix expected = models::Matrix::Zero(gradient.rows(), gradient.cols());
      add_kept(kept.values, kept.indices, expected);
      EXPECT_LT((step.gradient.matrices[l].weight - expected).norm(), 1e-6 * expected.norm());
    }
  }
}

TEST(TopK, SendsEightBytesPerEntry) {
  OneStep::Setup setup;  // a network of 12-20-9-5 units
  setup.rows = {2, 1, 0};
  setup.parameters = {{"fraction", "0.07"}};
  const double entries = 17 + 13 + 4;  // ⌈0.07 · 240⌉ + ⌈0.07 · 180⌉ + ⌈0.07 · 45⌉ entries
  const double biases = 20 + 9 + 5;
  for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
    setup.exchange = mode;
    const OneStep step("top-k", setup);
    EXPECT_EQ(step.uplink_bytes, std::vector<double>(3, 8 * entries + 4 * biases));
    EXPECT_EQ(step.recorded().over, step.uplink_bytes);
    EXPECT_EQ(step.downlink_bytes, mode == spec::ExchangeMode::aggregator ? 3 * 8 * entries + 4 * biases : 0);
    // A larger network keeps the same fraction of each matrix.
    const spec::ModelShape timed{"timed",
                                 {spec::dense_shape("a", 1000, 300, true), spec::dense_shape("b", 30, 7, false)}};
    EXPECT_EQ(step.recorded(timed).over[0], 8 * (21000 + 15) + 4 * 300);
  }
}

}  // namespace
}  // namespace dadsim::algorithms
