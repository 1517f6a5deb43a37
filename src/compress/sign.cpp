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
    std::vector<bool> negative;
    negative.reserve(static_cast<std::size_t>(numbers.size()));
    for_each_number(numbers, [&](float x) {
      sum += std::abs(static_cast<double>(x));
      negative.push_back(x < 0);
    });
    // A NaN spoils its message, just as it would spoil the sum.
    const auto scale = static_cast<float>(negative.empty() ? 0.0 : sum / static_cast<double>(negative.size()));
    into.fp32_copied({&scale, 1});
    into.bits(negative);
    return numbers.size();
  }

  void decode(Decoder& from, const EncodeContext&, models::MutableBlock into) const override {
    const float scale = from.fp32();
    const std::vector<bool> negative = from.bits(into.size());
    std::size_t next = 0;
    for_each_number(into, [&](float& x) { x = negative[next++] ? -scale : scale; });
  }

  std::vector<step::Payload> size(const Amount& numbers) const override {
    return {{1.0, step::ElementType::float32}, {numbers.elements, step::ElementType::bit}};
  }
  /// Covers a magnitude, a sum and a comparison for each.
  step::Work encode_work(const Amount& numbers) const override {
    return {.flops = 3.0 * numbers.elements, .bytes_moved = (kFloatBytes + 0.125) * numbers.elements, .launches = 2.0};
  }
  step::Work decode_work(const Amount& numbers) const override {
    return {.flops = numbers.elements, .bytes_moved = (kFloatBytes + 0.125) * numbers.elements, .launches = 1.0};
  }
};

}  // namespace

CompressorInfo sign_info() {
  return {.name = "sign",
          .description = "Numbers become their signs, one bit each, times the mean magnitude of their matrix.",
          .source =
              "scaled sign with error feedback, EF-signSGD: Karimireddy, Rebjock, Stich, Jaggi, ICML 2019, arXiv "
              "1901.09847; sign+norm of PowerSGD (arXiv 1905.13727) and CHOCO-SGD (arXiv 1902.00340)",
          .size = "n / 8 + 4",
          .biased = true,
          .formula =
              "C(x) = (‖x‖₁ / d) · sgn(x),  sgn(0) = 1\n"
              "‖C(x) − x‖² = ‖x‖² − ‖x‖₁² / d where no number is zero: less than ‖x‖²",
          .checks =
              "with a memory nothing is lost: what has arrived and what is kept add up over 200 steps, to 1e-5\n"
              "f(x) = ε|x₁ + x₂| + |x₁ − x₂| (the paper's second counterexample): with a memory it goes to zero, "
              "without one x₁ + x₂ never changes\n"
              "digits at four sites: 85.4 % with a memory, 60.0 % without, where SGD reaches 83.8 %",
          .parameters = {},
          .make = [](const spec::ParameterValues&) { return std::make_unique<Sign>(); }};
}

}  // namespace dadsim::compress
