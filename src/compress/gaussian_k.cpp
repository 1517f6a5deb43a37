#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <numbers>

#include "compress/compressors.hpp"
#include "compress/sparse.hpp"

namespace dadsim::compress {
namespace {

constexpr int kCounts = 3;  // thresholds tried: the first is corrected at most twice

/// Mean and deviation of the signed numbers; the mean may be near zero.
struct EntryMoments {
  double mean = 0;
  double deviation = 0;  ///< sample standard deviation (n − 1), like torch.std
};

EntryMoments moments(std::span<const float> numbers) {
  if (numbers.empty()) return {};
  const auto count = static_cast<double>(numbers.size());
  double sum = 0;
  for (const float x : numbers) sum += x;
  const double mean = sum / count;
  double squares = 0;
  for (const float x : numbers) squares += (x - mean) * (x - mean);
  return {mean, std::sqrt(squares / std::max(1.0, count - 1))};
}

/// Sends all numbers with magnitudes above a threshold, each a value and an index. The threshold is a quantile of a
/// normal distribution, halved or raised by half, at most twice, if it lets too few or too many numbers pass.
class GaussianK final : public SparseList {
 public:
  /// `z`: a normal number is beyond ±z with probability `fraction`.
  explicit GaussianK(double fraction)
      : fraction_(fraction), z_(std::numbers::sqrt2 * boost::math::erfc_inv(fraction)) {}

  /// Counts the work of mean and deviation, of counting, and of the list.
  step::Work encode_work(const Amount& numbers) const override {
    return {.flops = (4.0 + kCounts + 1.0) * numbers.elements,
            .bytes_moved = kFloatBytes * ((2.0 + kCounts) * numbers.elements + 2.0 * numbers.kept),
            .launches = 2.0 + kCounts};
  }

 private:
  std::vector<std::int32_t> choose(std::span<const float> numbers, const EncodeContext&) const override {
    const EntryMoments of = moments(numbers);
    const double wanted = std::max(1.0, std::floor(fraction_ * static_cast<double>(numbers.size())));
    double threshold = of.mean + z_ * of.deviation;
    for (int i = 1; i < kCounts; ++i) {
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
      .adapts = true,
      .forwards = true,
      .biased = true,
      .leaves_biases = true,
      .family = "sparsification",
      .parameters = {spec::RealParameter{kFraction.name, kFraction.minimum, kFraction.maximum, "0.001",
                                         "δ: target share of the numbers sent"}},
      .make = [](const spec::ParameterValues& values) { return std::make_unique<GaussianK>(kFraction.of(values)); }};
}

}  // namespace dadsim::compress
