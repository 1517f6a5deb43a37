#include <algorithm>
#include <bit>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <limits>
#include <span>

#include "compress/compressors.hpp"
#include "compress/numbers.hpp"

namespace dadsim::compress {
namespace {

/// Quantises buckets of B consecutive numbers; in bucket v: Q(v_i) = ‖v‖ sgn(v_i) ξ_i / s with ξ_i = ⌊s |v_i| / ‖v‖ +
/// u⌋, u uniform in [0, 1). A message is the norms (fp32), then the sgn(v_i) ξ_i + s, each in the bits needed for 2 s +
/// 1 values.
class Qsgd final : public Compressor {
 public:
  struct Options {
    std::int64_t levels = 7;    ///< s, on either side of zero
    std::int64_t bucket = 512;  ///< B
    bool largest = false;       ///< the norm is the largest magnitude, not the 2-norm
  };
  explicit Qsgd(Options options)
      : options_(options), bits_(static_cast<int>(std::bit_width(2 * static_cast<std::uint64_t>(options.levels)))) {}

  std::int64_t encode(models::ConstBlock numbers, const EncodeContext& context, Encoder& into) const override {
    RandomStream random = context.own();
    std::vector<float> all;
    all.reserve(static_cast<std::size_t>(numbers.size()));
    for_each_number(numbers, [&](float x) { all.push_back(x); });
    std::vector<float> norms;
    std::vector<std::uint32_t> codes;
    codes.reserve(all.size());
    boost::random::uniform_01<float> uniform;
    const auto levels = static_cast<float>(options_.levels);
    for (std::span<const float> rest = all; !rest.empty(); rest = rest.subspan(length(rest))) {
      const std::span<const float> bucket = rest.first(length(rest));
      norms.push_back(norm_of(bucket));
      const float per_level = norms.back() > 0 ? levels / norms.back() : 0.0F;
      for (const float x : bucket) {
        const float level = std::floor(std::abs(x) * per_level + uniform(random));
        const auto whole = std::isnan(level) ? 0 : static_cast<std::int32_t>(std::min(level, levels));
        codes.push_back(static_cast<std::uint32_t>(options_.levels + (std::signbit(x) ? -whole : whole)));
      }
    }
    into.fp32_copied(norms);
    into.packed(codes, bits_);
    return numbers.size();
  }

  void decode(Decoder& from, const EncodeContext&, models::MutableBlock into) const override {
    const auto bucket = static_cast<std::size_t>(options_.bucket);
    const auto size = static_cast<std::size_t>(into.size());
    std::vector<float> norms((size + bucket - 1) / bucket);
    from.fp32(norms);
    std::vector<std::uint32_t> codes(size);
    from.packed(codes, bits_);
    std::size_t next = 0;
    for_each_number(into, [&](float& x) {
      const auto level = static_cast<float>(static_cast<std::int64_t>(codes[next]) - options_.levels);
      x = norms[next / bucket] * (level / static_cast<float>(options_.levels));
      ++next;
    });
  }

  std::vector<step::Payload> size(const Amount& numbers) const override {
    return {
        {step::extent::ceil(1.0 / static_cast<double>(options_.bucket) * numbers.elements), step::ElementType::float32},
        {static_cast<double>(bits_) * numbers.elements, step::ElementType::bit}};
  }
  /// Counts, per number: square and sum, then product, random number, sum, rounding and comparison.
  step::Work encode_work(const Amount& numbers) const override {
    return {.flops = 7.0 * numbers.elements,
            .bytes_moved = (2.0 * kFloatBytes + bits_ / 8.0) * numbers.elements,
            .launches = 2.0};
  }
  step::Work decode_work(const Amount& numbers) const override {
    return {.flops = 2.0 * numbers.elements,
            .bytes_moved = (kFloatBytes + bits_ / 8.0) * numbers.elements,
            .launches = 1.0};
  }

 private:
  std::size_t length(std::span<const float> rest) const {
    return std::min(rest.size(), static_cast<std::size_t>(options_.bucket));
  }
  /// Returns a bucket's norm. A NaN spoils its bucket, just as it would spoil the sum.
  float norm_of(std::span<const float> bucket) const {
    double largest = 0;
    double squares = 0;
    for (const float x : bucket) {
      largest = std::max(largest, std::abs(static_cast<double>(x)));
      squares += static_cast<double>(x) * static_cast<double>(x);
    }
    if (std::isnan(squares)) return std::numeric_limits<float>::quiet_NaN();
    return static_cast<float>(options_.largest ? largest : std::sqrt(squares));
  }

  Options options_;
  int bits_;
};

}  // namespace

CompressorInfo qsgd_info() {
  static constexpr spec::IntegerParameter kLevels{
      "levels", 1, 32767, "7", "s: levels on each side of zero; s = 1 takes 2 bits a number, 7 takes 4, 127 takes 8"};
  static constexpr spec::IntegerParameter kBucket{"bucket", 1, 1e9, "512", "numbers per bucket, which share one norm"};
  static constexpr auto kNorm = spec::choice<bool>("norm", {{"l2", false}, {"max", true}},
                                                   "l2: as in the theory of the paper; max: the largest magnitude, as "
                                                   "in its experiments, with less error and fewer zeros");
  return {.name = "qsgd", .parameters = {kLevels, kBucket, kNorm}, .make = [](const spec::ParameterValues& values) {
            return std::make_unique<Qsgd>(
                Qsgd::Options{.levels = kLevels.of(values), .bucket = kBucket.of(values), .largest = kNorm.of(values)});
          }};
}

}  // namespace dadsim::compress
