#include <array>
#include <cmath>

#include "compress/compressors.hpp"
#include "compress/numbers.hpp"

namespace dadsim::compress {
namespace {

/// C(x) = (‖x‖₁ / d) sgn(x) with sgn(0) = 1. A message is ‖x‖₁ / d (fp32), then a bit for each number: one below zero.
class Sign final : public Compressor {
 public:
  std::int64_t encode(models::ConstBlock numbers, const EncodeContext&, Encoder& into) const override {
    double sum = 0;
    std::vector<std::uint32_t> negative;
    negative.reserve(static_cast<std::size_t>(numbers.size()));
    for_each_number(numbers, [&](float x) {
      sum += std::abs(static_cast<double>(x));
      negative.push_back(x < 0 ? 1 : 0);
    });
    // A NaN makes the whole message NaN, as it would make the sum.
    const auto scale = static_cast<float>(negative.empty() ? 0.0 : sum / static_cast<double>(negative.size()));
    into.fp32_copied({&scale, 1});
    into.packed(negative, 1);
    return numbers.size();
  }

  void decode(Decoder& from, const EncodeContext&, models::MutableBlock into) const override {
    const float scale = from.fp32();
    const std::array values{scale, -scale};
    std::vector<std::uint32_t> negative(static_cast<std::size_t>(into.size()));
    from.packed(negative, 1);
    std::size_t next = 0;
    for_each_number(into, [&](float& x) { x = values[negative[next++]]; });
  }

  std::vector<step::Payload> size(const Amount& numbers) const override {
    return {{1.0, step::ElementType::float32}, {numbers.elements, step::ElementType::bit}};
  }
  /// Counts, per number: magnitude, sum and comparison.
  step::Work encode_work(const Amount& numbers) const override {
    return {.flops = 3.0 * numbers.elements, .bytes_moved = (kFloatBytes + 0.125) * numbers.elements, .launches = 2.0};
  }
  step::Work decode_work(const Amount& numbers) const override {
    return {.flops = numbers.elements, .bytes_moved = (kFloatBytes + 0.125) * numbers.elements, .launches = 1.0};
  }
};

}  // namespace

CompressorInfo sign_info() {
  return {.name = "sign", .biased = true, .parameters = {}, .make = [](const spec::ParameterValues&) {
            return std::make_unique<Sign>();
          }};
}

}  // namespace dadsim::compress
