// Compares DeMo with its definition, with the cosines written out.
#include "algorithms/sign/demo.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "algorithms/one_step.hpp"
#include "algorithms/pieces/chunked_cosines.hpp"
#include "algorithms/sign/several_steps.hpp"

namespace dadsim::algorithms {
namespace {

using test::OneStep;
using test::SeveralSteps;

constexpr spec::ExchangeMode kWays[] = {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer};

TEST(ChunkedCosines, AreOrthonormalWavesOfEveryChunk) {
  for (const auto& [rows, columns, most, chunks] :
       {std::tuple<Eigen::Index, Eigen::Index, std::int64_t, Eigen::Index>{20, 12, 64, 1},
        {20, 12, 8, 4 * 2},
        {7, 30, 5, 7 * 6},
        {1, 20, 64, 1},
        {1, 1, 64, 1},
        {13, 17, 4, 13 * 17}}) {
    const models::Matrix matrix = models::Matrix::Random(rows, columns);
    const ChunkedCosines cosines(rows, columns, most);
    EXPECT_EQ(cosines.chunks(), chunks);
    const models::Matrix coefficients = cosines.transform(matrix);
    EXPECT_EQ(coefficients.rows() * coefficients.cols(), matrix.size());
    EXPECT_NEAR(coefficients.norm(), matrix.norm(), 1e-5 * matrix.norm());
    EXPECT_LT((cosines.invert(coefficients) - matrix).norm(), 1e-6 * matrix.norm());
  }
  // A wave has a single coefficient: cos(π (2n + 1) 3 / 2s) along the rows, constant across columns.
  models::Matrix wave(16, 6);
  for (Eigen::Index n = 0; n < 16; ++n)
    wave.row(n).setConstant(static_cast<float>(std::cos(M_PI * static_cast<double>((2 * (n % 8) + 1) * 3) / 16)));
  const models::Matrix coefficients = ChunkedCosines(16, 6, 8).transform(wave);  // two chunks of 8 × 6
  for (Eigen::Index chunk = 0; chunk < 2; ++chunk) {
    for (Eigen::Index i = 0; i < 48; ++i) {
      EXPECT_NEAR(coefficients(chunk, i), i == 3 * 6 ? std::sqrt(4.0 * 6) : 0.0, 1e-5);
    }
  }
}

/// Expects equal signs, except where `of` is negligible. Returns the fraction of negligible entries.
double unlike_signs(const models::Matrix& signs, const models::MatrixOf<double>& of, double negligible) {
  Eigen::Index small = 0;
  for (Eigen::Index i = 0; i < of.size(); ++i) {
    const double x = of.data()[i];
    if (std::abs(x) <= negligible * of.cwiseAbs().maxCoeff()) {
      ++small;
    } else {
      EXPECT_EQ(signs.data()[i], x < 0 ? -1.0F : 1.0F) << x;
    }
  }
  return static_cast<double>(small) / static_cast<double>(of.size());
}

TEST(DeMo, WithAllCoefficientsIsTheSignOfTheGradientAndHasNoMomentum) {
  for (const spec::ExchangeMode mode : kWays) {
    DeMo algorithm({.kept = 4096});
    SeveralSteps steps(algorithm, mode, {5, 3});
    for (int t = 0; t < 5; ++t) {
      const TrainingStep& step = steps.next();
      for (std::size_t l = 0; l < 3; ++l) {
        models::LayerGradient sum = steps.of_site(0, l);
        sum.weight += steps.of_site(1, l).weight;
        sum.bias += steps.of_site(1, l).bias;
        EXPECT_LT(unlike_signs(step.gradient(l).weight, sum.weight.cast<double>(), 1e-5), 0.02);
        EXPECT_LT(unlike_signs(step.gradient(l).bias.transpose(), sum.bias.transpose().cast<double>(), 1e-5), 0.02);
        for (const std::size_t site : {0U, 1U}) {
          EXPECT_LT(algorithm.momentum(site, l).weight.norm(), 1e-6 * sum.weight.norm());
          EXPECT_LT(algorithm.momentum(site, l).bias.norm(), 1e-6 * sum.bias.norm());
        }
      }
    }
  }
}

using Doubles = models::MatrixOf<double>;

double wave(Eigen::Index k, Eigen::Index n, Eigen::Index s) {
  return std::sqrt((k == 0 ? 1.0 : 2.0) / static_cast<double>(s)) *
         std::cos(M_PI * static_cast<double>((2 * n + 1) * k) / (2.0 * static_cast<double>(s)));
}

/// Returns the coefficient of waves k and j, for a chunk as large as the matrix.
double coefficient(const Doubles& matrix, Eigen::Index k, Eigen::Index j) {
  double sum = 0;
  for (Eigen::Index n = 0; n < matrix.rows(); ++n) {
    for (Eigen::Index m = 0; m < matrix.cols(); ++m) {
      sum += wave(k, n, matrix.rows()) * wave(j, m, matrix.cols()) * matrix(n, m);
    }
  }
  return sum;
}

void add_wave(Doubles& matrix, Eigen::Index k, Eigen::Index j, double amount) {
  for (Eigen::Index n = 0; n < matrix.rows(); ++n) {
    for (Eigen::Index m = 0; m < matrix.cols(); ++m) {
      matrix(n, m) += amount * wave(k, n, matrix.rows()) * wave(j, m, matrix.cols());
    }
  }
}

TEST(DeMo, IsItsDefinition) {
  constexpr std::size_t kMatrix = 1;  // this matrix, of 9 × 20, is one chunk
  for (const spec::ExchangeMode mode : kWays) {
    for (const bool packed : {false, true}) {
      DeMo algorithm({.decay = 0.9F, .kept = 30, .packed = packed});
      SeveralSteps steps(algorithm, mode, {5, 3, 0});
      steps.rule.rate = 0.25;
      std::vector<Doubles> delta(2, Doubles::Zero(9, 20));
      std::vector<double> rounded(2, 0.0);  // bound on the accumulated rounding of δ
      for (int t = 0; t < 5; ++t) {
        const TrainingStep& step = steps.next();
        std::map<std::pair<Eigen::Index, Eigen::Index>, std::vector<double>> sent;
        for (std::size_t s = 0; s < 2; ++s) {
          delta[s] = 0.9 * delta[s] + 0.25 * steps.of_site(s, kMatrix).weight.cast<double>();
          std::vector<std::pair<double, std::pair<Eigen::Index, Eigen::Index>>> all;
          for (Eigen::Index k = 0; k < 9; ++k) {
            for (Eigen::Index j = 0; j < 20; ++j) all.push_back({coefficient(delta[s], k, j), {k, j}});
          }
          std::ranges::sort(all, [](const auto& a, const auto& b) { return std::abs(a.first) > std::abs(b.first); });
          double squares = 0;
          for (std::size_t i = 0; i < 30; ++i) {
            const auto& [value, place] = all[i];
            add_wave(delta[s], place.first, place.second, -value);
            sent[place].push_back(value);
            squares += value * value;
          }
          // bf16 rounds with a relative error of at most 2⁻⁸.
          rounded[s] = 0.9 * rounded[s] + (packed ? std::sqrt(squares) / 256 : 0);
          const double off = (algorithm.momentum(s, kMatrix).weight.cast<double>() - delta[s]).norm();
          EXPECT_LE(off, rounded[s] + 1e-5 * delta[s].norm()) << t;
          EXPECT_EQ(off > 1e-4 * delta[s].norm(), packed) << "and it is";
        }
        Doubles applied = Doubles::Zero(9, 20);
        std::size_t shared = 0;
        for (const auto& [place, values] : sent) {
          const double sum = std::accumulate(values.begin(), values.end(), 0.0);
          add_wave(applied, place.first, place.second, sum / static_cast<double>(values.size()));
          shared += values.size() > 1 ? 1 : 0;
        }
        if (t == 0) {
          EXPECT_GT(shared, 0U) << "a mean of some";
        }
        EXPECT_LT(unlike_signs(step.gradient(kMatrix).weight, applied, packed ? 0.01 : 1e-4), packed ? 0.1 : 0.01);
      }
    }
  }
}

TEST(DeMo, SendsAListPerChunk) {
  OneStep::Setup setup;  // a network of 12-20-9-5 units; chunks are 20 × 12, 9 × 20 and 5 × 9, and 20, 9 and 5 biases
  setup.rows = {2, 0, 1};
  setup.parameters = {{"kept", "32"}};
  const double kept = 32 + 32 + 32 + 20 + 9 + 5;
  for (const spec::ExchangeMode mode : kWays) {
    for (const double each : {8.0, 4.0}) {
      setup.exchange = mode;
      setup.parameters["packing"] = each == 8 ? "wide" : "packed";
      const OneStep step("demo", setup);
      EXPECT_EQ(step.uplink_bytes, (std::vector<double>{each * kept, 0, each * kept}));
      EXPECT_EQ(step.downlink_bytes, mode == spec::ExchangeMode::aggregator ? 2 * each * kept : 0);
      EXPECT_EQ(step.recorded().over, step.uplink_bytes);
      // The paper keeps 32 of the 4,096 entries of a chunk, with 4 bytes each: 128 times fewer bytes than fp32.
      const spec::ModelShape timed{"timed", {spec::dense_shape("a", 768, 3072, false)}};
      EXPECT_EQ(step.recorded(timed).over[0], 12 * 48 * 32 * each);
      const spec::ModelShape odd{"odd", {spec::dense_shape("a", 768, 50257, true)}};  // 50,257 is 29 · 1,733
      EXPECT_EQ(step.recorded(odd).over[0], (12 * 1733 * 32 + 1733 * 29) * each);
    }
  }
}

}  // namespace
}  // namespace dadsim::algorithms
