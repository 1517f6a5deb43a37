#include <algorithm>
#include <array>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>

#include "compress/compressors.hpp"
#include "compress/largest_entries.hpp"
#include "compress/sparse.hpp"

namespace dadsim::compress {
namespace {

constexpr double kSampled = 0.01;       // sampled share of the numbers
constexpr double kSampledKept = 2.0;    // least number of sampled entries above the threshold
constexpr double kSampledLeast = 1000;  // below this many numbers, all are examined
// Probability that the threshold from 10⁴ sampled numbers (their tenth largest) lets a third more numbers pass than
// wanted.
constexpr double kSecondSelections = 0.15;
constexpr double kTooMany = 4.0 / 3.0;  // multiple of the wanted count above which numbers are selected again
constexpr std::array<double, 4> kWarmUp = {0.25, 0.0625, 0.015625, 0.004};

/// Sends all numbers above a threshold estimated from a sample, each as value and index. Sends exactly k of them if too
/// many pass the threshold.
class DeepGradientCompression final : public SparseList {
 public:
  struct Options {
    double fraction = 0.001;
    std::int64_t warm_up = 0;  ///< steps of warm-up
    MomentumMemory::Options memory;
  };
  explicit DeepGradientCompression(const Options& options) : options_(options) {}

  std::unique_ptr<Memory> make_memory() const override { return std::make_unique<MomentumMemory>(options_.memory); }
  /// Updates u and v as if everything is sent, so that nothing is remembered: v is u (Nesterov: u + g), and no entry of
  /// u is masked. The sum is clipped at √sites times a site's limit (section 3.2).
  std::unique_ptr<Memory> make_memory_of_uncompressed(std::size_t sites) const override {
    MomentumMemory::Options options = options_.memory;
    options.masking = false;
    options.clip *= std::sqrt(static_cast<float>(sites));
    return std::make_unique<MomentumMemory>(options);
  }

  /// Counts the work of sampling, selecting in the sample, thresholding, and selecting again if too many pass.
  step::Work encode_work(const Amount& numbers) const override {
    const step::Expression sample = step::extent::min(
        {numbers.elements,
         kSampled * numbers.elements + step::Expression(std::max(kSampledLeast, kSampledKept / options_.fraction))});
    const step::Work of_sample = largest_work(sample, {});
    const step::Work of_selected = largest_work(kTooMany * numbers.kept, numbers.kept);
    return {.flops = 20.0 * sample + of_sample.flops + numbers.elements + kSecondSelections * of_selected.flops,
            .bytes_moved = kFloatBytes * (2.0 * sample + numbers.elements + 2.0 * kTooMany * numbers.kept) +
                           of_sample.bytes_moved + kSecondSelections * of_selected.bytes_moved,
            .launches = step::Expression(2.0) + of_sample.launches + kSecondSelections * of_selected.launches};
  }
  /// Counts the work of u ← m u + g, v ← v + u: three numbers read, two written; both become zero at sent entries.
  step::Work memory_work(const Amount& numbers) const override {
    return {.flops = (options_.memory.nesterov ? 4.0 : 3.0) * numbers.elements,
            .bytes_moved = kFloatBytes * (5.0 * numbers.elements + 2.0 * numbers.kept),
            .launches = 2.0};
  }

 private:
  double fraction_at(std::uint32_t step) const {
    if (step >= options_.warm_up) return options_.fraction;
    const auto part = kWarmUp.size() * step / static_cast<std::size_t>(options_.warm_up);
    return std::max(options_.fraction, kWarmUp[part]);
  }

  std::vector<std::int32_t> choose(std::span<const float> numbers, const EncodeContext& context) const override {
    if (numbers.empty()) return {};
    const double fraction = fraction_at(context.step);
    const std::int64_t count = kept_of_numbers(fraction, std::ssize(numbers));
    std::vector<std::int32_t> chosen = indices_from(numbers, threshold_of_sample(numbers, fraction, context.own()));
    if (static_cast<double>(chosen.size()) <= kTooMany * static_cast<double>(count)) return chosen;
    const std::vector<float> values = values_at(numbers, chosen);
    std::vector<std::int32_t> exact;
    for (const std::int32_t i : largest(values, count)) exact.push_back(chosen[static_cast<std::size_t>(i)]);
    return exact;
  }

  /// Returns the bits of the least magnitude among the largest entries of a sample: the share `fraction` of it, rounded
  /// up.
  static std::uint32_t threshold_of_sample(std::span<const float> numbers, double fraction, RandomStream random) {
    if (fraction >= 1) return 0;
    const double wanted =
        std::max({kSampled * static_cast<double>(numbers.size()), kSampledKept / fraction, kSampledLeast});
    std::vector<float> sample;
    if (wanted < static_cast<double>(numbers.size())) {
      sample.reserve(static_cast<std::size_t>(wanted) + 1);
      boost::random::uniform_int_distribution<std::size_t> any(0, numbers.size() - 1);
      while (static_cast<double>(sample.size()) < wanted) sample.push_back(numbers[any(random)]);
    } else {
      sample.assign(numbers.begin(), numbers.end());
    }
    const std::vector<std::int32_t> kept = largest(sample, kept_of_numbers(fraction, std::ssize(sample)));
    std::uint32_t least = magnitude_bits(sample[static_cast<std::size_t>(kept.front())]);
    for (const std::int32_t i : kept) least = std::min(least, magnitude_bits(sample[static_cast<std::size_t>(i)]));
    return least;
  }

  Options options_;
};

}  // namespace

CompressorInfo dgc_info() {
  static constexpr spec::FloatParameter kMomentum{"momentum", 0, 0.999999, "0.9",
                                                  "m: momentum in the memory; the optimizer must have no momentum"};
  static constexpr auto kNesterov =
      spec::choice<bool>("nesterov", {{"true", true}, {"false", false}}, "Nesterov's momentum", 1);
  static constexpr auto kMasking = spec::choice<bool>("masking", {{"true", true}, {"false", false}},
                                                      "momentum factor masking: set u to 0 where a number was sent", 0);
  static constexpr spec::IntegerParameter kWarmUpSteps{"warm-up-steps", 0, 1e9, "100",
                                                       "warm-up steps with shares of 0.25, 0.0625, 0.015625 and 0.004, "
                                                       "a quarter of the steps each; four epochs in the paper"};
  static constexpr spec::FloatParameter kClip{"clip", 0, 1e9, "0",
                                              "gradient clipping: largest norm that a site adds to its memory "
                                              "(1/√sites of the limit for the sum); 0: no clipping"};
  return {.name = "dgc",
          .adapts = true,
          .forwards = true,
          .biased = true,
          .has_momentum = true,
          .leaves_biases = true,
          .family = "sparsification",
          .parameters = {spec::RealParameter{kFraction.name, kFraction.minimum, kFraction.maximum, "0.001",
                                             "δ: target share of the numbers sent"},
                         kMomentum, kNesterov, kMasking, kWarmUpSteps, kClip},
          .make = [](const spec::ParameterValues& values) {
            return std::make_unique<DeepGradientCompression>(DeepGradientCompression::Options{
                kFraction.of(values),
                kWarmUpSteps.of(values),
                {kMomentum.of(values), kNesterov.of(values), kMasking.of(values), kClip.of(values)}});
          }};
}

}  // namespace dadsim::compress
