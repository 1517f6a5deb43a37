#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "compress/compressors.hpp"
#include "compress/largest_entries.hpp"
#include "compress/sparse.hpp"

namespace dadsim::compress {
namespace {

/// Codes of some values, and a table of numbers for decoding them.
struct ChunkCodes {
  std::vector<std::uint32_t> codes;
  std::vector<float> table;
};

enum class ChunkValues : std::uint8_t { published, symmetric, sign, fp32 };

constexpr int kValueBins = 4;

int bits_of(ChunkValues values) { return values == ChunkValues::sign ? 1 : 2; }
double table_size(ChunkValues values) {
  return values == ChunkValues::published ? 1 + kValueBins : values == ChunkValues::symmetric ? 2 : 1;
}

/// Returns the mean of the values of every code; 0 for a code without values.
std::vector<float> means(std::span<const float> values, const std::vector<std::uint32_t>& codes, std::size_t count) {
  std::vector<double> sums(count), counts(count);
  for (std::size_t i = 0; i < values.size(); ++i) {
    sums[codes[i]] += static_cast<double>(values[i]);
    ++counts[codes[i]];
  }
  std::vector<float> result;
  for (std::size_t c = 0; c < count; ++c) result.push_back(counts[c] > 0 ? static_cast<float>(sums[c] / counts[c]) : 0);
  return result;
}

/// Quantises like the authors: four bins of 1.5 σ about the mean, each decoded as the mean of its values. The table
/// holds the mean, which decoding does not need, then the means of the bins.
ChunkCodes four_bins(std::span<const float> values) {
  double sum = 0, squares = 0;
  for (const float v : values) sum += static_cast<double>(v);
  const double count = static_cast<double>(values.size()), mean = values.empty() ? 0 : sum / count;
  for (const float v : values) squares += (static_cast<double>(v) - mean) * (static_cast<double>(v) - mean);
  const double step = count > 1 ? 6 * std::sqrt(squares / (count - 1)) / kValueBins : 0;
  ChunkCodes result;
  for (const float v : values) {
    const double bin =
        step > 0 ? std::nearbyint((static_cast<double>(v) - mean) / step + kValueBins / 2) : kValueBins / 2;
    result.codes.push_back(static_cast<std::uint32_t>(bin > 0 ? std::min(bin, kValueBins - 1.0) : 0));
  }
  result.table = means(values, result.codes, kValueBins);
  result.table.insert(result.table.begin(), static_cast<float>(mean));
  return result;
}

/// Encodes each value as its sign and, with `two`, one bit for a magnitude above the mean. A code is decoded as the
/// mean magnitude of its values.
ChunkCodes signs(std::span<const float> values, bool two) {
  std::vector<float> magnitudes;
  double sum = 0;
  for (const float v : values) {
    magnitudes.push_back(std::abs(v));
    sum += static_cast<double>(magnitudes.back());
  }
  const double mean = values.empty() ? 0 : sum / static_cast<double>(values.size());
  std::vector<std::uint32_t> kinds;
  for (const float m : magnitudes) kinds.push_back(two && static_cast<double>(m) > mean ? 1 : 0);
  ChunkCodes result{.codes = {}, .table = means(magnitudes, kinds, two ? 2 : 1)};
  for (std::size_t i = 0; i < values.size(); ++i)
    result.codes.push_back(2 * kinds[i] + (std::signbit(values[i]) ? 1 : 0));
  return result;
}

float decoded(ChunkValues values, std::uint32_t code, const std::vector<float>& table) {
  if (values == ChunkValues::published) return table[1 + code];
  const float magnitude = table[code / 2];
  return (code & 1U) != 0 ? -magnitude : magnitude;
}

std::size_t bytes_of(std::size_t codes, int width) { return (codes * static_cast<std::size_t>(width) + 7) / 8; }

/// Packs codes of `width` bits consecutively into whole bytes, so that sizes of several sites' messages add up.
void write_packed(std::span<const std::uint32_t> codes, int width, Encoder& into) {
  std::vector<std::int8_t> bytes(bytes_of(codes.size(), width));
  std::size_t at = 0;
  for (const std::uint32_t code : codes) {
    for (int bit = 0; bit < width; ++bit, ++at)
      bytes[at / 8] = static_cast<std::int8_t>(bytes[at / 8] | static_cast<int>((code >> bit & 1U) << at % 8));
  }
  into.int8(bytes);
}

void read_packed(std::span<std::uint32_t> codes, int width, Decoder& from) {
  std::vector<std::int8_t> bytes(bytes_of(codes.size(), width));
  from.int8(bytes);
  std::size_t at = 0;
  for (std::uint32_t& code : codes) {
    for (int bit = 0; bit < width; ++bit, ++at)
      code |= (static_cast<std::uint32_t>(bytes[at / 8]) >> at % 8 & 1U) << bit;
  }
}

/// Sends the largest numbers of every chunk of consecutive numbers: their places in the chunk, packed, and their values
/// in few bits. A message of several chunks keeps ⌈fraction · n⌉ numbers; a full chunk keeps its share.
class ChunkTopK final : public Compressor {
 public:
  struct Options {
    double fraction = 0.03125;
    std::int64_t chunk = 4096;
    ChunkValues values = ChunkValues::published;
  };
  explicit ChunkTopK(Options options)
      : options_(options),
        place_bits_(std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(options.chunk - 1))))) {}

  std::int64_t encode(models::ConstBlock numbers, const EncodeContext&, Encoder& into) const override {
    const Flat flat(numbers);
    std::vector<std::uint32_t> places;
    std::vector<float> values;
    for_each_chunk(numbers.size(), [&](std::int64_t first, std::int64_t count, std::int64_t kept) {
      const auto chunk = flat.numbers().subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
      for (const std::int32_t place : kept > 0 ? largest(chunk, kept) : std::vector<std::int32_t>()) {
        places.push_back(static_cast<std::uint32_t>(place));
        values.push_back(chunk[static_cast<std::size_t>(place)]);
      }
    });
    if (options_.values == ChunkValues::fp32) {
      into.fp32_copied(values);
    } else {
      const ChunkCodes codes = options_.values == ChunkValues::published
                                   ? four_bins(values)
                                   : signs(values, options_.values == ChunkValues::symmetric);
      into.fp32_copied(codes.table);
      write_packed(codes.codes, bits_of(options_.values), into);
    }
    write_packed(places, place_bits_, into);
    return std::ssize(values);
  }

  void decode(Decoder& from, const EncodeContext&, models::MutableBlock into) const override {
    const auto kept = static_cast<std::size_t>(kept_of_numbers(options_.fraction, into.size()));
    std::vector<float> values(kept);
    if (options_.values == ChunkValues::fp32) {
      from.fp32(values);
    } else {
      std::vector<float> table(static_cast<std::size_t>(table_size(options_.values)));
      std::vector<std::uint32_t> codes(kept);
      from.fp32(table);
      read_packed(codes, bits_of(options_.values), from);
      std::ranges::transform(codes, values.begin(),
                             [&](std::uint32_t code) { return decoded(options_.values, code, table); });
    }
    std::vector<std::uint32_t> places(kept);
    read_packed(places, place_bits_, from);
    std::vector<std::int32_t> indices;
    for_each_chunk(into.size(), [&](std::int64_t first, std::int64_t, std::int64_t in_chunk) {
      for (std::int64_t i = 0; i < in_chunk; ++i)
        indices.push_back(static_cast<std::int32_t>(first + std::int64_t{places[indices.size()]}));
    });
    scatter(values, indices, into);
  }

  std::vector<step::Payload> size(const Amount& numbers) const override {
    const step::Expression kept = kept_of_numbers(options_.fraction, numbers.elements);
    const auto packed = [&](int width) {
      return step::Payload{step::extent::ceil(width / 8.0 * kept), step::ElementType::int8};
    };
    const step::Payload places = packed(place_bits_);
    if (options_.values == ChunkValues::fp32) return {{kept, step::ElementType::float32}, places};
    return {{table_size(options_.values), step::ElementType::float32}, packed(bits_of(options_.values)), places};
  }
  /// Counts the work of selecting the largest entries, and per kept entry two sums, a quotient, a rounding and a mean.
  step::Work encode_work(const Amount& numbers) const override {
    const step::Expression kept = kept_of_numbers(options_.fraction, numbers.elements);
    step::Work work = largest_work(numbers.elements, kept);
    work.flops = work.flops + 8.0 * kept;
    work.bytes_moved = work.bytes_moved + 4.0 * kFloatBytes * kept;
    return work;
  }
  step::Work decode_work(const Amount& numbers) const override {
    return scatter_work(numbers.elements, kept_of_numbers(options_.fraction, numbers.elements), 0.5);
  }
  std::optional<step::Work> decode_into_sum_work(const step::Expression& elements, const Amount& all) const override {
    return scatter_add_work(elements, kept_of_numbers(options_.fraction, all.elements), 0.5);
  }

 private:
  /// Calls `visit(first, count, kept)` for each chunk of `elements` numbers, in order.
  void for_each_chunk(std::int64_t elements, const auto& visit) const {
    std::int64_t before = 0;
    for (std::int64_t first = 0; first < elements; first += options_.chunk) {
      const std::int64_t count = std::min(options_.chunk, elements - first);
      const std::int64_t until = kept_of_numbers(options_.fraction, first + count);
      visit(first, count, until - before);
      before = until;
    }
  }

  Options options_;
  int place_bits_;
};

}  // namespace

CompressorInfo chunk_top_k_info() {
  static constexpr spec::RealParameter kShare = kFraction.with_default("0.03125");
  static constexpr spec::IntegerParameter kChunk{"chunk", 2, 65536, "4096", "consecutive numbers per chunk"};
  static constexpr auto kValues = spec::choice<ChunkValues>(
      "values",
      {{"2-bit", ChunkValues::published},
       {"symmetric", ChunkValues::symmetric},
       {"sign", ChunkValues::sign},
       {"fp32", ChunkValues::fp32}},
      "2-bit: four bins of 1.5 standard deviations, as published (Gaussian numbers fill only two); "
      "symmetric: a sign and one of two magnitudes; sign: a sign and the mean magnitude; fp32: unchanged");
  return {.name = "chunk-top-k",
          .forwards = true,
          .biased = true,
          .keeps = keeps_fraction,
          .leaves_biases = true,
          .family = "sparsification",
          .parameters = {kShare, kChunk, kValues},
          .make = [](const spec::ParameterValues& values) {
            return std::make_unique<ChunkTopK>(ChunkTopK::Options{
                .fraction = kShare.of(values), .chunk = kChunk.of(values), .values = kValues.of(values)});
          }};
}

}  // namespace dadsim::compress
