// Tests how many numbers threshold sparsifiers keep, relative to the number that was requested, on samples of known
// distributions.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/math/special_functions/erf.hpp>
#include <boost/random/gamma_distribution.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>

#include "compress/registry.hpp"

namespace dadsim::compress {
namespace {

constexpr Eigen::Index kNumbers = 1'000'000;

/// Returns independent magnitudes of one distribution.
models::Matrix sample_of(const std::string& law) {
  RandomStream random(29, Purpose::test);
  boost::random::uniform_01<double> uniform;
  boost::random::normal_distribution<double> normal;
  boost::random::gamma_distribution<double> gamma(0.4);
  models::Matrix sample(1, kNumbers);
  for (float& x : sample.reshaped()) {
    if (law == "laplace") {
      x = static_cast<float>(-std::log1p(-uniform(random)));
    } else if (law == "gamma") {
      x = static_cast<float>(gamma(random));
    } else if (law == "pareto") {
      x = static_cast<float>(std::expm1(-0.3 * std::log1p(-uniform(random))) / 0.3);
    } else {
      const double z = normal(random);
      double squares = 0;
      for (int i = 0; i < 3; ++i) squares += std::pow(normal(random), 2);
      x = static_cast<float>(std::abs(z) / std::sqrt(squares / 3));
    }
  }
  return sample;
}

/// Returns a sample of the distribution, which is drawn only once.
const models::Matrix& magnitudes(const std::string& law) {
  static std::map<std::string, models::Matrix> all;
  const auto [sample, is_new] = all.try_emplace(law);
  if (is_new) sample->second = sample_of(law);
  return sample->second;
}

/// Returns k̂/k of one message: kept ÷ requested numbers.
double kept_of_wanted(const std::string& method, spec::ParameterValues chosen, const models::Matrix& numbers) {
  const CompressorInfo& info = compressors().at(method);
  spec::ParameterValues values = default_parameters(info.parameters);
  for (const auto& [name, value] : chosen) values[name] = value;
  const auto compressor = info.make(values);
  Encoder encoder;
  const std::int64_t kept = compressor->encode(numbers, {3, 1'000'000, 0, 0, nullptr}, encoder);
  return static_cast<double>(kept) / (std::stod(values["fraction"]) * static_cast<double>(numbers.size()));
}

/// Returns kept ÷ requested numbers, on a sample of the distribution `law`.
double kept_of_sample(const std::string& method, const std::string& law, const std::string& fraction,
                      spec::ParameterValues chosen = {}) {
  chosen["fraction"] = fraction;
  return kept_of_wanted(method, std::move(chosen), magnitudes(law));
}

/// Returns the parameters of SIDCo with this fixed number of stages.
spec::ParameterValues staged(const char* fit, int stages) {
  return {{"fit", fit}, {"adapt", "none"}, {"quantile", "asymptotic"}, {"stages", std::to_string(stages)}};
}

/// Expected k̂/k (kept ÷ requested numbers), computed from another sample of a million numbers per distribution.
struct KeptOfLaw {
  const char* law;
  const char* fraction;
  std::array<double, 4> exponential, pareto, gamma;  ///< by number of stages; for gamma with the asymptotic quantile
  double redsync;
  /// Least relative tolerance. expect_near() also allows 3 √(2/k̂), the difference between two samples of a
  /// light-tailed distribution. Pareto with ξ = 0.3 and Student with 3 degrees of freedom have no fourth moment, so
  /// variances and fits of samples differ by several per cent.
  double tolerance;
};

const KeptOfLaw kept_of_laws[] = {
    {"laplace", "0.001", {1.02, 1.02, 0.99, 1.03}, {1.00, 0.98, 0.99, 1.03}, {0.96, 0.97, 0.98, 1.02}, 1.62, 0},
    {"gamma", "0.001", {13.2, 1.65, 1.09, 0.92}, {0.19, 0.89, 1.13, 1.10}, {0.28, 0.77, 0.93, 0.90}, 1.46, 0},
    {"pareto", "0.001", {10.2, 3.63, 1.19, 0.62}, {1.05, 1.05, 1.04, 0.96}, {5.35, 0.77, 0.75, 0.68}, 0.91, 0.15},
    {"pareto", "0.1", {1.01, 0.69, 0.63, 0.61}, {0.99, 0.99, 0.99, 0.99}, {0.73, 0.71, 0.71, 0.71}, 0.01, 0.05},
    {"student", "0.001", {4.65, 3.53, 1.16, 0.62}, {1.31, 0.92, 0.93, 0.99}, {5.14, 0.85, 0.87, 0.92}, 0.29, 0.15},
};

class Thresholds : public testing::TestWithParam<KeptOfLaw> {
 protected:
  void expect_near(double kept, double other, const std::string& what) const {
    constexpr double kHalfDigit = 0.005;
    const double wanted = std::stod(GetParam().fraction) * static_cast<double>(kNumbers);
    const double sampling = 3.0 * std::sqrt(2.0 / (other * wanted));
    EXPECT_NEAR(kept, other, other * std::max(GetParam().tolerance, sampling) + kHalfDigit) << what;
  }
};

TEST_P(Thresholds, KeepAsManyAsOnAnotherSample) {
  const auto& [law, fraction, exponential, pareto, gamma, redsync, tolerance] = GetParam();
  for (int stages = 1; stages <= 4; ++stages) {
    const auto at = static_cast<std::size_t>(stages - 1);
    for (const auto& [fit, others] : {std::pair{"exponential", exponential}, {"pareto", pareto}, {"gamma", gamma}}) {
      expect_near(kept_of_sample("sidco", law, fraction, staged(fit, stages)), others[at],
                  std::string(fit) + " in " + std::to_string(stages));
    }
  }
}

// RedSync searches a threshold between the mean and the largest number, which differs from sample to sample.
TEST_P(Thresholds, RedSyncKeepsWhatItMayOnAnotherSample) {
  const models::Matrix& sample = magnitudes(GetParam().law);
  Eigen::Index place = 0;
  const float usual = sample.row(0).maxCoeff(&place);
  const bool exponential_tail = std::string(GetParam().law) == "laplace" || std::string(GetParam().law) == "gamma";
  double least = 1e9;
  double most = 0;
  // Changes the largest number: by up to ±2 for tails that decay as e^−x, and by up to a factor of 2 for tails that
  // decay as a power.
  for (int i = -4; i <= 4; ++i) {
    const auto step = static_cast<float>(i);
    const float largest = exponential_tail ? usual + 0.5F * step : usual * std::exp2(step / 4.0F);
    models::Matrix numbers = sample.cwiseMin(largest);
    numbers(place) = largest;
    const double kept = kept_of_wanted("redsync", {{"fraction", GetParam().fraction}}, numbers);
    least = std::min(least, kept);
    most = std::max(most, kept);
  }
  EXPECT_LE(least, GetParam().redsync + 0.005);
  EXPECT_GE(most, GetParam().redsync - 0.005);
  EXPECT_GT(most, 1.4 * least) << "as far off as that by chance alone";
}

// DGC's threshold is the t-th number (t = 0.01 k) of a sample of one in a hundred, so k̂/k is distributed as Γ(t)/t.
// Above 4/3, DGC selects exactly.
TEST_P(Thresholds, DgcKeepsWhatASampleSays) {
  const CompressorInfo& info = compressors().at("dgc");
  spec::ParameterValues values = default_parameters(info.parameters);
  values["fraction"] = GetParam().fraction;
  const auto compressor = info.make(values);
  const models::Matrix& numbers = magnitudes(GetParam().law);
  const double wanted = std::stod(GetParam().fraction) * static_cast<double>(kNumbers);
  const double tenth = std::ceil(0.01 * wanted);
  constexpr int kMessages = 40;
  double sum = 0;
  for (std::uint32_t message = 0; message < kMessages; ++message) {
    Encoder encoder;
    const auto kept =
        static_cast<double>(compressor->encode(numbers, {3, 1'000'000, message, 0, nullptr}, encoder)) / wanted;
    EXPECT_LE(kept, 4.0 / 3.0 + 1e-9);
    EXPECT_GT(kept, 1.0 - 3.5 / std::sqrt(tenth));
    sum += kept / kMessages;
  }
  // Mean of Γ(t)/t for t = `tenth`, in which values above 4/3 count as 1.
  double expected = 0;
  double total = 0;
  for (double x = 0.0005; x < 5; x += 0.001) {
    const double density = std::exp((tenth - 1) * std::log(x * tenth) - x * tenth - std::lgamma(tenth));
    expected += density * (x > 4.0 / 3.0 ? 1.0 : x);
    total += density;
  }
  EXPECT_NEAR(sum, expected / total, 4.0 / std::sqrt(kMessages * tenth)) << GetParam().law;
}

INSTANTIATE_TEST_SUITE_P(Laws, Thresholds, testing::ValuesIn(kept_of_laws), [](const auto& param) {
  return std::string(param.param.law) + (std::string(param.param.fraction) == "0.1" ? "_tenth" : "_thousandth");
});

/// Returns equally spaced quantiles of a distribution, which are a sample without randomness.
models::Matrix quantiles_of(const std::function<double(double)>& quantile) {
  models::Matrix numbers(1, kNumbers);
  for (Eigen::Index i = 0; i < kNumbers; ++i) {
    numbers(i) = static_cast<float>(quantile((static_cast<double>(i) + 0.5) / static_cast<double>(kNumbers)));
  }
  return numbers;
}

TEST(Sidco, KeepsWhatItIsToOfTheLawThatIsFitted) {
  const models::Matrix laplace = quantiles_of([](double p) { return -std::log1p(-p); });
  const models::Matrix pareto = quantiles_of([](double p) { return std::expm1(-0.3 * std::log1p(-p)) / 0.3; });
  for (const char* fraction : {"0.1", "0.01", "0.001"}) {
    for (int stages = 1; stages <= 4; ++stages) {
      const auto kept = [&](const char* fit, const models::Matrix& numbers) {
        spec::ParameterValues values = staged(fit, stages);
        values["fraction"] = fraction;
        return kept_of_wanted("sidco", values, numbers);
      };
      EXPECT_NEAR(kept("exponential", laplace), 1.0, 0.03) << fraction << ", stages: " << stages;
      EXPECT_NEAR(kept("pareto", pareto), 1.0, 0.05) << fraction << ", stages: " << stages;
    }
  }
  // With the exact quantile of the gamma distribution, approximate maximum likelihood is 3 % off.
  EXPECT_NEAR(kept_of_sample("sidco", "gamma", "0.001", {{"fit", "gamma"}, {"adapt", "none"}}), 1.0, 0.1);
}

TEST(Sidco, StagesRepairASingleFitToHeavyTails) {
  for (const char* law : {"gamma", "pareto"}) {
    EXPECT_GT(kept_of_sample("sidco", law, "0.001", staged("exponential", 1)), 9.0) << law;
    EXPECT_NEAR(kept_of_sample("sidco", law, "0.001", staged("exponential", 3)), 1.1, 0.1) << law;
  }
}

TEST(Sidco, StagesAdaptUntilAsManyAreKeptAsWanted) {
  for (const char* law : {"laplace", "gamma", "pareto", "student"}) {
    for (const char* fit : {"exponential", "pareto", "gamma"}) {
      const CompressorInfo& info = compressors().at("sidco");
      spec::ParameterValues values = default_parameters(info.parameters);
      values["fit"] = fit;
      const auto compressor = info.make(values);
      const auto state = compressor->make_state();
      double kept = 0;
      // Each step gets another tenth of the sample.
      for (Eigen::Index step = 0; step < 40; ++step) {
        const models::ConstBlock part = magnitudes(law).middleCols(kNumbers / 10 * (step % 10), kNumbers / 10);
        Encoder encoder;
        const auto count = static_cast<double>(
            compressor->encode(part, {3, static_cast<std::uint32_t>(step), 0, 0, state.get()}, encoder));
        if (step >= 30) kept += count / (0.001 * static_cast<double>(kNumbers));
      }
      EXPECT_NEAR(kept, 1.0, 0.2) << law << ", " << fit;
    }
  }
}

// With adapt="rule", keeping too many numbers leads to fewer stages, which keep even more of a heavy tail. Therefore
// `search` is the default.
TEST(Sidco, TheRuleOfFewerStagesStaysWithTooMany) {
  const CompressorInfo& info = compressors().at("sidco");
  for (const char* adapt : {"rule", "search"}) {
    spec::ParameterValues values = default_parameters(info.parameters);
    values["adapt"] = adapt;
    const auto compressor = info.make(values);
    const auto state = compressor->make_state();
    std::int64_t kept = 0;
    for (std::uint32_t step = 0; step < 31; ++step) {
      Encoder encoder;
      kept = compressor->encode(magnitudes("pareto").leftCols(kNumbers / 10), {3, step, 0, 0, state.get()}, encoder);
    }
    EXPECT_EQ(kept > 800, std::string(adapt) == "rule") << kept;
  }
}

TEST(RedSync, HalvesTheIntervalOrTrimsTheThreshold) {
  models::Matrix numbers(1, 100);  // magnitudes are 1 … 100, with mean 50.5
  for (Eigen::Index i = 0; i < 100; ++i) numbers(i) = static_cast<float>(i + 1) * (i % 2 == 0 ? 1.0F : -1.0F);
  const auto kept = [&](const char* fraction, const char* search) {
    return std::lround(std::stod(fraction) * 100 *
                       kept_of_wanted("redsync", {{"fraction", fraction}, {"search", search}}, numbers));
  };
  EXPECT_EQ(kept("0.2", "bisection"), 25) << "above 50.5 + ½ 49.5: between 20 and 40";
  EXPECT_EQ(kept("0.1", "bisection"), 13) << "25 are too many, above 50.5 + ¾ 49.5 = 87.625 there are 13";
  EXPECT_EQ(kept("0.02", "bisection"), 7) << "25, 13, and 7 above 93.8125, where the interval is an eighth";
  EXPECT_EQ(kept("0.3", "bisection"), 19)
      << "25 are too few, and more than half of 30: on to the upper half, 13, and 19 above 50.5 + ⅝ 49.5 = 81.4375";
  EXPECT_EQ(kept("0.6", "bisection"), 31) << "25 are less than half of 60: down to 50.5 + ¼ 49.5 = 62.875 and "
                                             "38, more than half, and up to 69.0625";
  EXPECT_EQ(kept("0.1", "trim"), 10) << "above 50.5 + 0.8 · 49.5 = 90.1";
  EXPECT_EQ(kept("0.11", "trim"), 20) << "above 50.5 + 0.6 · 49.5 = 80.2";
  EXPECT_EQ(kept("0.6", "trim"), 50) << "above the mean, and no lower";
}

TEST(GaussianK, CorrectsItsThresholdTwice) {
  models::Matrix numbers = models::Matrix::Constant(1, 1000, 1.0F);
  EXPECT_NEAR(kept_of_wanted("gaussian-k", {{"fraction", "0.01"}}, numbers), 100, 1e-9)
      << "no deviation: none is above 1, all above 0.5 and above 0.75, which is the last threshold";
  numbers(7) = -9;  // mean 0.99 and deviation 0.316: one number is above 2.03, as requested
  EXPECT_NEAR(kept_of_wanted("gaussian-k", {{"fraction", "0.001"}}, numbers), 1, 1e-9);
}

/// Negates every second number.
models::Matrix with_signs(models::Matrix magnitudes) {
  for (Eigen::Index i = 1; i < magnitudes.size(); i += 2) magnitudes(i) = -magnitudes(i);
  return magnitudes;
}

/// Returns a quantile of |z| for normal z.
double folded_normal(double p) { return std::numbers::sqrt2 * boost::math::erf_inv(p); }

// The threshold uses the standard deviation of the signed numbers and z = Φ⁻¹(1 − δ/2) = 3.2905. By distribution, the
// successive thresholds of the authors and the fractions that they keep:
//     normal        z: δ
//     Laplace       √2 z = 4.654: 9.5 δ; 1.5 times that: exp(−6.980) = 0.930 δ
//     gamma, ½      √¾ z = 2.850: 17 δ; 4.274: 3.5 δ; 6.412: erfc(√6.412) = 0.343 δ, at the third and last count
//     1 + normal    1 + z = 4.291: ½ δ; 2.145: 126 δ; 3.218: Φ(−2.218) = 13.3 δ
TEST(GaussianK, KeepsWhatTheAuthorsThresholdKeeps) {
  const auto kept = [](const models::Matrix& numbers) {
    return kept_of_wanted("gaussian-k", {{"fraction", "0.001"}}, numbers);
  };
  const models::Matrix normal = with_signs(quantiles_of(folded_normal));
  EXPECT_NEAR(kept(normal), 1.0, 0.01);
  EXPECT_NEAR(kept(with_signs(quantiles_of([](double p) { return -std::log1p(-p); }))), 0.930, 0.01);
  EXPECT_NEAR(kept(with_signs(quantiles_of([](double p) { return std::pow(folded_normal(p), 2) / 2; }))), 0.343, 0.005);
  EXPECT_NEAR(kept(normal.array() + 1.0F), 13.3, 0.1);
}

TEST(GaussianK, KeepsAboutAsManyOfDrawnNumbers) {
  RandomStream random(31, Purpose::test);
  boost::random::normal_distribution<double> normal;
  models::Matrix numbers(1, kNumbers);
  for (float& x : numbers.reshaped()) x = static_cast<float>(normal(random));
  const auto kept = [](const models::Matrix& sample) {
    return kept_of_wanted("gaussian-k", {{"fraction", "0.001"}}, sample);
  };
  EXPECT_NEAR(kept(numbers), 1.0, 0.1) << "three times √(1/1000)";
  EXPECT_NEAR(kept(with_signs(magnitudes("laplace"))), 0.93, 0.1);
}

}  // namespace
}  // namespace dadsim::compress
