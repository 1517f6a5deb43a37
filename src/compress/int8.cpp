#include <algorithm>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <limits>

#include "compress/compressors.hpp"

namespace dadsim::compress {
namespace {

constexpr float kLevels = 127.0F;  // levels on either side of zero

/// q = ⌊x / s + u⌋ with s = max |x| / 127. Stochastic rounding: u is uniform in [0, 1), so that E[s q] = x; to the
/// nearest: u = 1/2. A message is s (fp32), then the q (int8).
class Int8 final : public Compressor {
 public:
  explicit Int8(bool stochastic) : stochastic_(stochastic) {}

  std::int64_t encode(models::ConstBlock numbers, const EncodeContext& context, Encoder& into) const override {
    RandomStream random = context.own();
    const float largest = numbers.size() > 0 ? numbers.cwiseAbs().maxCoeff() : 0.0F;
    float scale = largest / kLevels;
    const float per_level = scale > 0 ? 1.0F / scale : 0.0F;
    boost::random::uniform_01<float> uniform;
    std::vector<std::int8_t> levels;
    levels.reserve(static_cast<std::size_t>(numbers.size()));
    for (Eigen::Index row = 0; row < numbers.rows(); ++row) {
      for (Eigen::Index column = 0; column < numbers.cols(); ++column) {
        const float x = numbers(row, column) * per_level;
        const float level = std::floor(x + (stochastic_ ? uniform(random) : 0.5F));
        levels.push_back(static_cast<std::int8_t>(std::isnan(level) ? 0.0F : std::clamp(level, -kLevels, kLevels)));
      }
    }
    // A NaN makes the whole message NaN, as it would make the sum.
    if (std::isnan(numbers.sum())) scale = std::numeric_limits<float>::quiet_NaN();
    into.fp32(scale);
    into.int8(levels);
    return numbers.size();
  }

  void decode(Decoder& from, const EncodeContext&, models::MutableBlock into) const override {
    const float scale = from.fp32();
    std::vector<std::int8_t> levels(static_cast<std::size_t>(into.size()));
    from.int8(levels);
    std::size_t next = 0;
    for (Eigen::Index row = 0; row < into.rows(); ++row) {
      for (Eigen::Index column = 0; column < into.cols(); ++column) into(row, column) = scale * levels[next++];
    }
  }

  std::vector<step::Payload> size(const Amount& numbers) const override {
    return {{1.0, step::ElementType::float32}, {numbers.elements, step::ElementType::int8}};
  }
  /// Counts, per number: largest magnitude, random number, product, sum and rounding.
  step::Work encode_work(const Amount& numbers) const override {
    return {
        .flops = 5.0 * numbers.elements, .bytes_moved = (2.0 * kFloatBytes + 1.0) * numbers.elements, .launches = 2.0};
  }
  step::Work decode_work(const Amount& numbers) const override {
    return {.flops = numbers.elements, .bytes_moved = (kFloatBytes + 1.0) * numbers.elements, .launches = 1.0};
  }

 private:
  bool stochastic_;
};

}  // namespace

CompressorInfo int8_info() {
  static constexpr auto kRounding = spec::choice<bool>(
      "rounding", {{"stochastic", true}, {"nearest", false}},
      "stochastic: unbiased, round up or down with probability by distance; nearest: half the error, with a bias");
  return {.name = "int8", .parameters = {kRounding}, .make = [](const spec::ParameterValues& values) {
            return std::make_unique<Int8>(kRounding.of(values));
          }};
}

}  // namespace dadsim::compress
