#include <algorithm>
#include <cmath>

#include "compress/compressors.hpp"
#include "compress/sparse.hpp"

namespace dadsim::compress {
namespace {

constexpr double kNarrowest = 0.2;  // narrowest interval; the search stops there

/// Sends all numbers above a threshold between the mean and the largest magnitude, each a value and an index.
class RedSync final : public SparseList {
 public:
  RedSync(double fraction, bool trim) : fraction_(fraction), trim_(trim) {}

  /// Counts the work of mean and largest magnitude, of the largest possible number of counting passes (at 1, ½, ¼ of
  /// the interval; at 0.8, 0.6, …, 0), and of the list.
  step::Work encode_work(const Amount& numbers) const override {
    const double counts = trim_ ? 5.0 : 3.0;
    return {.flops = (3.0 + counts + 1.0) * numbers.elements,
            .bytes_moved = kFloatBytes * ((2.0 + counts) * numbers.elements + 2.0 * numbers.kept),
            .launches = 2.0 + counts};
  }

 private:
  std::vector<std::int32_t> choose(std::span<const float> numbers, const EncodeContext&) const override {
    const MagnitudeStatistics of = magnitude_statistics(numbers);
    const double wanted = std::max(1.0, std::floor(fraction_ * static_cast<double>(numbers.size())));
    const auto least = [&](double ratio) { return least_above(of.mean + ratio * (of.largest - of.mean)); };
    const auto count = [&](double ratio) { return static_cast<double>(count_from(numbers, least(ratio))); };
    if (trim_) {
      int tenths = 8;
      while (tenths > 0 && count(0.1 * tenths) < wanted) tenths -= 2;
      return indices_from(numbers, least(0.1 * tenths));
    }
    double low = 0;
    double high = 1;
    double ratio = 0;
    while (high - low > kNarrowest) {
      ratio = low + 0.5 * (high - low);
      const double above = count(ratio);
      if (above > wanted && above < 2 * wanted) break;
      // If at least half the wanted numbers pass, the search continues above, as in the authors' algorithm.
      (above < wanted / 2 ? high : low) = ratio;
    }
    return indices_from(numbers, least(ratio));
  }

  double fraction_;
  bool trim_;
};

}  // namespace

CompressorInfo redsync_info() {
  static constexpr auto kSearch =
      spec::choice<bool>("search", {{"bisection", false}, {"trim", true}}, "method that finds the threshold");
  return {.name = "redsync",
          .adapts = true,
          .forwards = true,
          .biased = true,
          .leaves_biases = true,
          .family = "sparsification",
          .parameters = {spec::RealParameter{kFraction.name, kFraction.minimum, kFraction.maximum, "0.001",
                                             "target share of the numbers sent"},
                         kSearch},
          .make = [](const spec::ParameterValues& values) {
            return std::make_unique<RedSync>(kFraction.of(values), kSearch.of(values));
          }};
}

}  // namespace dadsim::compress
