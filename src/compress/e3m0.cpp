#include <algorithm>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <limits>

#include "compress/compressors.hpp"

namespace dadsim::compress {
namespace {

constexpr int kMagnitudes = 7;  // nonzero magnitudes, powers of two; the eighth exponent code stands for zero

/// One sign bit, three exponent bits, no mantissa: a number is 0 or ± s 2^(e − 7), e = 1 … 7, with s the largest
/// magnitude of its matrix. A message is s (fp32), then four bits a number, two numbers to a byte: the exponent from
/// its lowest bit on, then the sign.
class E3m0 final : public Compressor {
 public:
  explicit E3m0(bool stochastic) : stochastic_(stochastic) {}

  std::int64_t encode(models::ConstBlock numbers, const EncodeContext& context, Encoder& into) const override {
    RandomStream random = context.own();
    float scale = numbers.size() > 0 ? numbers.cwiseAbs().maxCoeff() : 0.0F;
    // A NaN makes the whole message NaN, as it would make the sum.
    if (std::isnan(numbers.sum())) scale = std::numeric_limits<float>::quiet_NaN();
    std::vector<std::uint32_t> codes;
    codes.reserve(static_cast<std::size_t>(numbers.size()));
    boost::random::uniform_01<float> uniform;
    for (Eigen::Index row = 0; row < numbers.rows(); ++row) {
      for (Eigen::Index column = 0; column < numbers.cols(); ++column) {
        const float x = numbers(row, column);
        const int exponent = exponent_of(std::abs(x) / scale, stochastic_ ? uniform(random) : 0.5F);
        codes.push_back(static_cast<std::uint32_t>(exponent & 7) | (std::signbit(x) ? 8U : 0U));
      }
    }
    into.fp32(scale);
    into.packed(codes, 4);
    return numbers.size();
  }

  void decode(Decoder& from, const EncodeContext&, models::MutableBlock into) const override {
    const float scale = from.fp32();
    std::vector<std::uint32_t> codes(static_cast<std::size_t>(into.size()));
    from.packed(codes, 4);
    std::size_t next = 0;
    for (Eigen::Index row = 0; row < into.rows(); ++row) {
      for (Eigen::Index column = 0; column < into.cols(); ++column) {
        const std::uint32_t code = codes[next++];
        const float magnitude = scale * level(static_cast<int>(code & 7U));
        into(row, column) = (code & 8U) != 0 ? -magnitude : magnitude;
      }
    }
  }

  std::vector<step::Payload> size(const Amount& numbers) const override {
    return {{1.0, step::ElementType::float32}, {4.0 * numbers.elements, step::ElementType::bit}};
  }
  /// Counts, per number: largest magnitude, random number, quotient, logarithm, comparison and rounding.
  step::Work encode_work(const Amount& numbers) const override {
    return {
        .flops = 6.0 * numbers.elements, .bytes_moved = (2.0 * kFloatBytes + 0.5) * numbers.elements, .launches = 2.0};
  }
  step::Work decode_work(const Amount& numbers) const override {
    return {.flops = numbers.elements, .bytes_moved = (kFloatBytes + 0.5) * numbers.elements, .launches = 1.0};
  }

 private:
  static float level(int exponent) { return exponent == 0 ? 0.0F : std::ldexp(1.0F, exponent - kMagnitudes); }

  /// Returns one of the two levels around a share of the largest magnitude: the upper level if the share is above the
  /// lower one by more than `threshold` of their distance.
  static int exponent_of(float share, float threshold) {
    if (!(share > 0)) return 0;
    if (share >= 1) return kMagnitudes;
    const int below = std::max(0, std::ilogb(share) + kMagnitudes);
    const float lower = level(below);
    const float upper = level(below + 1);
    return share - lower > threshold * (upper - lower) ? below + 1 : below;
  }

  bool stochastic_;
};

}  // namespace

CompressorInfo e3m0_info() {
  static constexpr auto kRounding = spec::choice<bool>(
      "rounding", {{"stochastic", true}, {"nearest", false}},
      "stochastic: unbiased, round up or down with probability by distance; nearest: less error, with a bias");
  return {.name = "e3m0", .parameters = {kRounding}, .make = [](const spec::ParameterValues& values) {
            return std::make_unique<E3m0>(kRounding.of(values));
          }};
}

}  // namespace dadsim::compress
