#include <bit>

#include "compress/compressors.hpp"
#include "compress/numbers.hpp"

namespace dadsim::compress {
namespace {

constexpr int kNaturalBits = 9;  // a sign and the eight bits of fp32's exponent
constexpr int kMantissaBits = 23;
constexpr std::uint32_t kNotFinite = 255;

/// Rounds a number to one of the two adjacent powers of two, at random by distance. A message has sign and exponent of
/// fp32; the exponent is one higher with a probability equal to the mantissa. Numbers below the least power (2⁻¹²⁶)
/// become that power or zero in the same way.
class Natural final : public Compressor {
 public:
  std::int64_t encode(models::ConstBlock numbers, const EncodeContext& context, Encoder& into) const override {
    RandomStream random = context.own();
    std::vector<std::uint32_t> codes;
    codes.reserve(static_cast<std::size_t>(numbers.size()));
    for_each_number(numbers, [&](float x) {
      const auto bits = std::bit_cast<std::uint32_t>(x);
      const std::uint32_t mantissa = bits & ((1U << kMantissaBits) - 1);
      const std::uint32_t drawn = random() >> (32 - kMantissaBits);
      const std::uint32_t code = bits >> kMantissaBits;
      // An exponent that cannot be raised belongs to infinity or NaN.
      const bool raised = drawn < mantissa && (code & kNotFinite) != kNotFinite;
      codes.push_back(raised ? code + 1 : code);
    });
    into.packed(codes, kNaturalBits);
    return numbers.size();
  }

  void decode(Decoder& from, const EncodeContext&, models::MutableBlock into) const override {
    std::vector<std::uint32_t> codes(static_cast<std::size_t>(into.size()));
    from.packed(codes, kNaturalBits);
    std::size_t next = 0;
    for_each_number(into, [&](float& x) {
      const std::uint32_t code = codes[next++];
      const std::uint32_t mantissa = (code & kNotFinite) == kNotFinite ? 1U : 0U;
      x = std::bit_cast<float>(code << kMantissaBits | mantissa);
    });
  }

  std::vector<step::Payload> size(const Amount& numbers) const override {
    return {{static_cast<double>(kNaturalBits) * numbers.elements, step::ElementType::bit}};
  }
  /// Counts, per number: random number, comparison and sum.
  step::Work encode_work(const Amount& numbers) const override {
    return {.flops = 3.0 * numbers.elements,
            .bytes_moved = (kFloatBytes + kNaturalBits / 8.0) * numbers.elements,
            .launches = 1.0};
  }
  step::Work decode_work(const Amount& numbers) const override {
    return {.flops = numbers.elements,
            .bytes_moved = (kFloatBytes + kNaturalBits / 8.0) * numbers.elements,
            .launches = 1.0};
  }
};

}  // namespace

CompressorInfo natural_info() {
  return {.name = "natural", .parameters = {}, .make = [](const spec::ParameterValues&) {
            return std::make_unique<Natural>();
          }};
}

}  // namespace dadsim::compress
