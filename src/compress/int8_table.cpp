#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "compress/compressors.hpp"

namespace dadsim::compress {
namespace {

constexpr int kBins = 256;
constexpr float kRangeInSigmas = 6;  // width of all bins together, in σ

/// q = clamp(round(x / s), −128, 127) with s = 6 σ / 256 and σ² = Σ x² / (n − 1); decoded is the mean of the numbers of
/// the bin (PrimeIntellect-ai/prime, 5cc57a0, compression.py, which does not centre the numbers). Numbers are cut into
/// chunks with an s and a table of means each. A message is the q of all chunks (int8), then their tables (fp32).
class Int8Table final : public Compressor {
 public:
  explicit Int8Table(std::int64_t chunks) : chunks_(chunks) {}

  std::int64_t encode(models::ConstBlock numbers, const EncodeContext& /*context*/, Encoder& into) const override {
    const models::Matrix row_by_row = numbers;
    std::vector<std::int8_t> codes(static_cast<std::size_t>(numbers.size()));
    std::vector<float> tables;
    for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
      const std::int64_t first = begin_of(chunk, numbers.size()), end = begin_of(chunk + 1, numbers.size());
      double squares = 0;
      for (std::int64_t k = first; k < end; ++k) squares += std::pow(static_cast<double>(row_by_row.data()[k]), 2);
      const double sigma = std::sqrt(squares / static_cast<double>(std::max<std::int64_t>(end - first, 2) - 1));
      const float width = kRangeInSigmas * static_cast<float>(sigma) / kBins;
      std::array<double, kBins> sums = {}, counts = {};
      for (std::int64_t k = first; k < end; ++k) {
        const float x = row_by_row.data()[k], level = std::nearbyint(x / width);
        const int code = level >= -128 && level <= 127 ? static_cast<int>(level) : level > 127 ? 127 : x < 0 ? -128 : 0;
        codes[static_cast<std::size_t>(k)] = static_cast<std::int8_t>(code);
        sums.at(static_cast<std::size_t>(code + 128)) += static_cast<double>(x);
        ++counts.at(static_cast<std::size_t>(code + 128));
      }
      // A NaN or infinity makes the whole chunk NaN, as it would spoil the sum.
      for (std::size_t bin = 0; bin < kBins; ++bin)
        tables.push_back(!std::isfinite(sigma) ? std::numeric_limits<float>::quiet_NaN()
                                               : static_cast<float>(sums.at(bin) / std::max(1.0, counts.at(bin))));
    }
    into.int8(codes);
    into.fp32_copied(tables);
    return numbers.size();
  }

  void decode(Decoder& from, const EncodeContext& /*context*/, models::MutableBlock into) const override {
    std::vector<std::int8_t> codes(static_cast<std::size_t>(into.size()));
    std::vector<float> tables(static_cast<std::size_t>(chunks_ * kBins));
    from.int8(codes);
    from.fp32(tables);
    for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
      for (std::int64_t k = begin_of(chunk, into.size()); k < begin_of(chunk + 1, into.size()); ++k) {
        const std::int64_t bin = chunk * kBins + codes[static_cast<std::size_t>(k)] + 128;
        into(k / into.cols(), k % into.cols()) = tables[static_cast<std::size_t>(bin)];
      }
    }
  }

  std::vector<step::Payload> size(const Amount& numbers) const override {
    return {{numbers.elements, step::ElementType::int8},
            {static_cast<double>(chunks_ * kBins), step::ElementType::float32}};
  }
  /// Counts, per number: its square, quotient, rounding, the bin's sum and count.
  step::Work encode_work(const Amount& numbers) const override {
    return {
        .flops = 6.0 * numbers.elements, .bytes_moved = (2.0 * kFloatBytes + 1.0) * numbers.elements, .launches = 2.0};
  }
  step::Work decode_work(const Amount& numbers) const override {
    return {.flops = 0.0, .bytes_moved = (kFloatBytes + 1.0) * numbers.elements, .launches = 1.0};
  }

 private:
  std::int64_t begin_of(std::int64_t chunk, std::int64_t numbers) const { return chunk * numbers / chunks_; }
  std::int64_t chunks_;
};

}  // namespace

CompressorInfo int8_table_info() {
  static constexpr spec::IntegerParameter kChunks{"chunks", 1, 1e9, "1", "chunks per matrix, each with its own table"};
  return {.name = "int8-table", .parameters = {kChunks}, .make = [](const spec::ParameterValues& values) {
            return std::make_unique<Int8Table>(kChunks.of(values));
          }};
}

}  // namespace dadsim::compress
