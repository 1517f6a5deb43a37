#include <algorithm>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <limits>

#include "compress/compressors.hpp"
#include "compress/numbers.hpp"

namespace dadsim::compress {
namespace {

constexpr int kDigitsPerByte = 5;  // base-3 digits in a byte: 3⁵ = 243

/// Quantises x̄ = x clipped to ± c σ: t = sgn(x̄) with probability |x̄| / s, else 0, where s = max |x̄|. A message is s
/// (fp32), then a code for each: 0, 1 for +1 and 2 for −1, in two bits, or as base-3 digits, five to a byte.
class TernGrad final : public Compressor {
 public:
  struct Options {
    double clip = 2.5;  ///< c, in σ; 0: no clipping
    bool base_3 = false;
  };
  explicit TernGrad(Options options) : options_(options) {}

  std::int64_t encode(models::ConstBlock numbers, const EncodeContext& context, Encoder& into) const override {
    RandomStream random = context.own();
    const float scale = scale_of(numbers);
    const float per_scale = scale > 0 ? 1.0F / scale : 0.0F;
    std::vector<std::uint32_t> codes;
    codes.reserve(static_cast<std::size_t>(numbers.size()));
    boost::random::uniform_01<float> uniform;
    for_each_number(numbers, [&](float x) {
      // Clips numbers beyond the scale, which are therefore always sent.
      const bool sent = uniform(random) < std::abs(x) * per_scale;
      codes.push_back(!sent ? 0U : std::signbit(x) ? 2U : 1U);
    });
    into.fp32_copied({&scale, 1});
    options_.base_3 ? into.packed(in_bytes(codes), 8) : into.packed(codes, 2);
    return numbers.size();
  }

  void decode(Decoder& from, const EncodeContext&, models::MutableBlock into) const override {
    const float scale = from.fp32();
    std::vector<std::uint32_t> codes(static_cast<std::size_t>(into.size()));
    if (options_.base_3) {
      std::vector<std::uint32_t> bytes((codes.size() + kDigitsPerByte - 1) / kDigitsPerByte);
      from.packed(bytes, 8);
      for (std::size_t i = 0; i < codes.size(); ++i) {
        codes[i] = bytes[i / kDigitsPerByte] % 3;
        bytes[i / kDigitsPerByte] /= 3;
      }
    } else {
      from.packed(codes, 2);
    }
    std::size_t next = 0;
    for_each_number(into, [&](float& x) {
      const std::uint32_t code = codes[next++];
      x = scale * (code == 0 ? 0.0F : code == 1 ? 1.0F : -1.0F);
    });
  }

  std::vector<step::Payload> size(const Amount& numbers) const override {
    return {
        {1.0, step::ElementType::float32},
        {options_.base_3 ? 8.0 * step::extent::ceil(1.0 / kDigitsPerByte * numbers.elements) : 2.0 * numbers.elements,
         step::ElementType::bit}};
  }
  /// Counts, per number: sum, square and largest magnitude, then product, random number and comparison.
  step::Work encode_work(const Amount& numbers) const override {
    return {
        .flops = 7.0 * numbers.elements, .bytes_moved = (2.0 * kFloatBytes + 0.25) * numbers.elements, .launches = 2.0};
  }
  step::Work decode_work(const Amount& numbers) const override {
    return {.flops = numbers.elements, .bytes_moved = (kFloatBytes + 0.25) * numbers.elements, .launches = 1.0};
  }

 private:
  /// Returns max |x̄|. A NaN makes the whole message NaN, as it would make the sum.
  float scale_of(models::ConstBlock numbers) const {
    double sum = 0;
    double squares = 0;
    double largest = 0;
    for_each_number(numbers, [&](double x) {
      sum += x;
      squares += x * x;
      largest = std::max(largest, std::abs(x));
    });
    if (std::isnan(sum)) return std::numeric_limits<float>::quiet_NaN();
    const double count = std::max(1.0, static_cast<double>(numbers.size()));
    const double variance = squares / count - (sum / count) * (sum / count);
    // Skips clipping: equal numbers (or a single one) have no standard deviation.
    constexpr double kRounding = 1e-12;
    const bool clips = options_.clip > 0 && variance > kRounding * squares / count;
    return static_cast<float>(clips ? std::min(largest, options_.clip * std::sqrt(variance)) : largest);
  }

  static std::vector<std::uint32_t> in_bytes(const std::vector<std::uint32_t>& digits) {
    std::vector<std::uint32_t> bytes((digits.size() + kDigitsPerByte - 1) / kDigitsPerByte, 0);
    for (std::size_t i = digits.size(); i-- > 0;) bytes[i / kDigitsPerByte] = 3 * bytes[i / kDigitsPerByte] + digits[i];
    return bytes;
  }

  Options options_;
};

}  // namespace

CompressorInfo terngrad_info() {
  static constexpr spec::RealParameter kClip{
      "clip", 0, 1e6, "2.5", "c: numbers are clipped at c standard deviations; 0: no clipping, unbiased"};
  static constexpr auto kPacking = spec::choice<bool>("packing", {{"bits", false}, {"base-3", true}},
                                                      "bits: two bits a number; base-3: five numbers to a byte");
  return {
      .name = "terngrad", .parameters = {kClip, kPacking}, .make = [](const spec::ParameterValues& values) {
        return std::make_unique<TernGrad>(TernGrad::Options{.clip = kClip.of(values), .base_3 = kPacking.of(values)});
      }};
}

}  // namespace dadsim::compress
