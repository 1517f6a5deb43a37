#include "compress/random_coordinates.hpp"

#include <array>
#include <limits>

#include "compress/compressors.hpp"

namespace dadsim::compress {
constexpr auto kCoordinates = spec::choice<bool>(
    "coordinates", {{"shared", true}, {"own", false}},
    "shared: all sites draw the same positions, and messages add up; own: every message has its own seed of 8 bytes");
constexpr auto kScale = spec::choice<bool>(
    "scale", {{"none", true}, {"unbiased", false}},
    "none: send numbers unscaled, which needs a memory; unbiased: scale numbers by n/k, so that their mean is right");
constexpr spec::IntegerParameter kWholeBelow{"whole-below", 0, 1e9, "0",
                                             "vectors with at most this many numbers are sent whole, e.g. biases"};
namespace {

/// Returns a stream of places from the eight bytes sent.
RandomStream stream_of(const std::array<std::int32_t, 2>& seed) {
  const auto low = static_cast<std::uint64_t>(static_cast<std::uint32_t>(seed[0]));
  const auto high = static_cast<std::uint64_t>(static_cast<std::uint32_t>(seed[1]));
  return {low | high << 32U, Purpose::coordinates};
}

/// Returns ⌈fraction · n⌉, or n if n is at most `whole_below`.
step::Expression kept_of(const RandomCoordinates::Options& options, const step::Expression& elements) {
  step::Expression part = kept_of_numbers(options.fraction, elements);
  if (options.whole_below == 0) return part;
  const step::Expression is_more = step::extent::exceeds(elements, static_cast<double>(options.whole_below));
  return elements + is_more * (part - elements);
}

}  // namespace

step::Expression RandomCoordinates::kept(const Amount& numbers) const { return kept_of(options_, numbers.elements); }

std::int64_t RandomCoordinates::kept(std::int64_t elements) const {
  return elements <= options_.whole_below ? elements : kept_of_numbers(options_.fraction, elements);
}

std::int64_t RandomCoordinates::encode(models::ConstBlock numbers, const EncodeContext& context, Encoder& into) const {
  const Flat flat(numbers);
  const std::int64_t count = kept(numbers.size());
  RandomStream random = context.shared();
  if (!options_.shared) {
    RandomStream own = context.own();
    std::array<std::int32_t, 2> seed{};
    for (std::int32_t& half : seed) half = static_cast<std::int32_t>(own());
    into.int32(seed);
    random = stream_of(seed);
  }
  std::vector<float> values = values_at(flat.numbers(), places(numbers.size(), count, random));
  if (options_.unbiased && !context.sum && count > 0) {
    const float scale = static_cast<float>(numbers.size()) / static_cast<float>(count);
    for (float& value : values) value *= scale;
  }
  // Sends a NaN if any number is NaN or infinite, drawn or not, so that divergence is not hidden.
  if (has_no_number(flat.numbers())) values.front() = std::numeric_limits<float>::quiet_NaN();
  into.fp32_copied(values);
  return count;
}

void RandomCoordinates::decode(Decoder& from, const EncodeContext& context, models::MutableBlock into) const {
  RandomStream random = context.shared();
  if (!options_.shared) {
    std::array<std::int32_t, 2> seed{};
    from.int32(seed);
    random = stream_of(seed);
  }
  const std::vector<std::int32_t> drawn = places(into.size(), kept(into.size()), random);
  std::vector<float> values(drawn.size());
  from.fp32(values);
  scatter(values, drawn, into);
}

std::vector<step::Payload> RandomCoordinates::size(const Amount& numbers) const {
  std::vector<step::Payload> payload{{kept(numbers), step::ElementType::float32}};
  if (!options_.shared) payload.insert(payload.begin(), {2.0, step::ElementType::int32});
  return payload;
}

/// Counts the work of drawing places, and of reading, scaling and writing each number.
step::Work RandomCoordinates::encode_work(const Amount& numbers) const {
  step::Work work = places_work(numbers.elements, kept(numbers));
  if (options_.unbiased) work.flops += kept(numbers);
  work.bytes_moved += kFloatBytes * (2.0 + index_words()) * kept(numbers);
  work.launches += 1.0;
  return work;
}

step::Work RandomCoordinates::decode_work(const Amount& numbers) const {
  const step::Work places = places_work(numbers.elements, kept(numbers));
  step::Work work = scatter_work(numbers.elements, kept(numbers), index_words());
  work.flops += places.flops;
  work.bytes_moved += places.bytes_moved;
  work.launches += places.launches;
  return work;
}

/// Counts shared places once, since all sites have the same list and values are added in place.
std::optional<step::Work> RandomCoordinates::decode_into_sum_work(const step::Expression& elements,
                                                                  const Amount& all) const {
  const step::Expression drawn = options_.shared ? kept_of(options_, elements) : kept(all);
  const step::Work places = places_work(options_.shared ? elements : all.elements, drawn);
  step::Work work = scatter_add_work(elements, kept(all), index_words());
  work.flops += places.flops;
  work.bytes_moved += places.bytes_moved;
  work.launches += places.launches;
  return work;
}

step::Work RandomCoordinates::memory_work(const Amount& numbers) const {
  return error_feedback_work(numbers, kept(numbers));
}

RandomCoordinates::Options coordinates_options(const spec::ParameterValues& values) {
  return {kFraction.of(values), kCoordinates.of(values), !kScale.of(values), kWholeBelow.of(values)};
}

CompressorInfo coordinates_info() {
  CompressorInfo info;
  // Values at the same places can be summed inside the network.
  info.adds = Property([](const spec::ParameterValues& values) { return kCoordinates.of(values); });
  info.forwards = Property([](const spec::ParameterValues& values) { return !kCoordinates.of(values); });
  // Without scaling, the sum lacks the numbers that were not drawn.
  info.biased = Property([](const spec::ParameterValues& values) { return kScale.of(values); });
  info.keeps = [](const spec::ParameterValues& values, const step::Expression& elements) {
    return kept_of(coordinates_options(values), elements);
  };
  info.leaves_biases = true;
  info.family = "sparsification";
  info.parameters = {kFraction, kCoordinates, kScale, kWholeBelow};
  return info;
}

}  // namespace dadsim::compress
