#include <boost/math/special_functions/erf.hpp>
#include <numbers>

#include "compress/compressors.hpp"
#include "compress/sparse.hpp"

namespace dadsim::compress {
namespace {

constexpr int kCorrections = 3;

/// All above the quantile that a normal distribution would have, each a value and an index.
class GaussianK final : public SparseList {
 public:
  /// z: a normal number is beyond ±z with the odds `fraction`.
  explicit GaussianK(double fraction)
      : fraction_(fraction), z_(std::numbers::sqrt2 * boost::math::erfc_inv(fraction)) {}

  /// Mean and deviation; a count for the first threshold and each correction; the list.
  step::Work encode_work(const Amount& numbers) const override {
    constexpr double kCounts = 1.0 + kCorrections;
    return {.flops = (4.0 + kCounts + 1.0) * numbers.elements,
            .bytes_moved = kFloatBytes * ((2.0 + kCounts) * numbers.elements + 2.0 * numbers.kept),
            .launches = 2.0 + kCounts};
  }

 private:
  std::vector<std::int32_t> choose(std::span<const float> numbers, const Occasion&) const override {
    const MagnitudeStatistics of = magnitude_statistics(numbers);
    const double wanted = fraction_ * static_cast<double>(numbers.size());
    double threshold = of.mean + z_ * of.deviation;
    for (int i = 0; i < kCorrections; ++i) {
      const auto above = static_cast<double>(count_from(numbers, least_above(threshold)));
      if (above < wanted * 2.0 / 3.0) {
        threshold *= 0.5;
      } else if (above > wanted * 4.0 / 3.0) {
        threshold *= 1.5;
      } else {
        break;
      }
    }
    return indices_from(numbers, least_above(threshold));
  }

  double fraction_, z_;
};

}  // namespace

CompressorInfo gaussian_k_info() {
  return {
      .name = "gaussian-k",
      .description =
          "Numbers above a quantile of the normal distribution of their mean and deviation, corrected "
          "thrice at most, are sent, each with its place.",
      .source =
          "in the spirit of Shi, Chu, Cheung, See, Understanding Top-k Sparsification in Distributed Deep Learning, "
          "arXiv 1911.08772, as it is compared with in the public code of SIDCo (arXiv 2101.10761)",
      .size = "8k̂ + 4",
      .adds = false,
      .lossless = false,
      .adapts = true,
      .forwards = true,
      .biased = true,
      .has_momentum = false,
      .family = "sparsification",
      .formula =
          "C(v) = v where |v| > τ, 0 elsewhere\n"
          "τ = μ + σ Φ⁻¹(1 − δ/2), μ and σ of |v|\n"
          "thrice: τ ← τ/2 where k̂ < ⅔ k, τ ← 1.5 τ where k̂ > 4/3 k, k = δ n",
      .checks =
          "10⁶ numbers, δ = 0.001: k̂/k of 8.0 (Laplace), 12.8 (gamma), 0.48 (Pareto), 1.16 (Student's t)\n"
          "what was sent and what is held: the sum of the gradients, to 10⁻⁶",
      .parameters = {fraction_parameter("0.001", "δ: share of the numbers that is to be sent")},
      .make = [](const spec::ParameterValues& values) {
        return std::make_unique<GaussianK>(std::stod(values.at("fraction")));
      }};
}

}  // namespace dadsim::compress
