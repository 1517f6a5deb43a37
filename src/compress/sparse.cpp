#include "compress/sparse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "compress/compressors.hpp"
#include "compress/largest_entries.hpp"

namespace dadsim::compress {

step::Expression keeps_fraction(const spec::ParameterValues& values, const step::Expression& elements) {
  return kept_of_numbers(kFraction.of(values), elements);
}

Flat::Flat(models::ConstBlock numbers) {
  const bool in_one_piece = numbers.rows() <= 1 || numbers.outerStride() == numbers.cols();
  if (!in_one_piece) copy_ = numbers;
  numbers_ = {in_one_piece ? numbers.data() : copy_.data(), static_cast<std::size_t>(numbers.size())};
}

step::Expression kept_of_numbers(double fraction, const step::Expression& elements) {
  return step::extent::kept_of(fraction, elements);
}

std::int64_t kept_of_numbers(double fraction, std::int64_t elements) {
  return step::kept_entries(fraction, elements, 1);
}

std::vector<float> values_at(std::span<const float> numbers, std::span<const std::int32_t> indices) {
  std::vector<float> values;
  values.reserve(indices.size());
  for (const std::int32_t index : indices) values.push_back(numbers[static_cast<std::size_t>(index)]);
  return values;
}

void scatter(std::span<const float> values, std::span<const std::int32_t> indices, models::MutableBlock into) {
  into.setZero();
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const Eigen::Index index = indices[i];
    if (index < 0 || index >= into.size()) throw std::logic_error("an index lies outside the matrix");
    into(index / into.cols(), index % into.cols()) = values[i];
  }
}

bool has_no_number(std::span<const float> numbers) {
  return std::ranges::any_of(numbers, [](float x) { return !std::isfinite(x); });
}

step::Work scatter_work(const step::Expression& elements, const step::Expression& kept, double index_words) {
  return {.flops = {}, .bytes_moved = kFloatBytes * (elements + (2.0 + index_words) * kept), .launches = 2.0};
}

step::Work scatter_add_work(const step::Expression& elements, const step::Expression& kept, double index_words) {
  return {.flops = kept, .bytes_moved = kFloatBytes * (elements + (3.0 + index_words) * kept), .launches = 2.0};
}

step::Work error_feedback_work(const Amount& numbers, const step::Expression& kept) {
  return {.flops = numbers.elements, .bytes_moved = kFloatBytes * (3.0 * numbers.elements + kept), .launches = 2.0};
}

step::Expression SparseList::kept(const Amount& numbers) const {
  return fraction_ ? kept_of_numbers(*fraction_, numbers.elements) : numbers.kept;
}

std::int64_t SparseList::encode(models::ConstBlock numbers, const EncodeContext& context, Encoder& into) const {
  const Flat flat(numbers);
  std::vector<std::int32_t> indices = choose(flat.numbers(), context);
  if (!fraction_) {
    // Sends the largest number: a small matrix whose numbers never exceed its threshold would otherwise never be sent.
    if (indices.empty() && numbers.size() > 0) {
      indices = largest(flat.numbers(), 1);
      if (flat.numbers()[static_cast<std::size_t>(indices.front())] == 0.0F) indices.clear();
    }
    into.int32(std::vector{static_cast<std::int32_t>(indices.size())});
  }
  into.fp32_copied(values_at(flat.numbers(), indices));
  into.int32(indices);
  return std::ssize(indices);
}

void SparseList::decode(Decoder& from, const EncodeContext&, models::MutableBlock into) const {
  std::int32_t count = 0;
  if (fraction_) {
    count = static_cast<std::int32_t>(kept_of_numbers(*fraction_, into.size()));
  } else {
    from.int32(std::span(&count, 1));
  }
  std::vector<float> values(static_cast<std::size_t>(count));
  std::vector<std::int32_t> indices(values.size());
  from.fp32(values);
  from.int32(indices);
  scatter(values, indices, into);
}

std::vector<step::Payload> SparseList::size(const Amount& numbers) const {
  std::vector<step::Payload> list{{kept(numbers), step::ElementType::float32},
                                  {kept(numbers), step::ElementType::int32}};
  if (!fraction_) list.insert(list.begin(), {1.0, step::ElementType::int32});
  return list;
}

step::Work SparseList::decode_work(const Amount& numbers) const {
  return scatter_work(numbers.elements, kept(numbers), 1.0);
}

std::optional<step::Work> SparseList::decode_into_sum_work(const step::Expression& elements, const Amount& all) const {
  return scatter_add_work(elements, kept(all), 1.0);
}

step::Work SparseList::memory_work(const Amount& numbers) const { return error_feedback_work(numbers, kept(numbers)); }

std::uint32_t least_above(double threshold) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  if (!(threshold < static_cast<double>(kLargest))) return magnitude_bits(kLargest) + 1;
  if (threshold < 0) return 0;
  // Rounds down to the largest float at most the threshold; magnitudes are ordered like their bits.
  auto below = static_cast<float>(threshold);
  if (static_cast<double>(below) > threshold) below = std::nextafter(below, 0.0F);
  return magnitude_bits(below) + 1;
}

std::int64_t count_from(std::span<const float> numbers, std::uint32_t least) {
  std::int64_t count = 0;
  for (const float x : numbers) count += magnitude_bits(x) >= least ? 1 : 0;
  return count;
}

std::vector<std::int32_t> indices_from(std::span<const float> numbers, std::uint32_t least) {
  std::vector<std::int32_t> indices;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (magnitude_bits(numbers[i]) >= least) indices.push_back(static_cast<std::int32_t>(i));
  }
  return indices;
}

MagnitudeStatistics magnitude_statistics(std::span<const float> numbers) {
  if (numbers.empty()) return {};
  double sum = 0;
  float largest = 0;
  for (const float x : numbers) {
    const float magnitude = std::abs(x);
    sum += magnitude;
    largest = std::max(largest, magnitude);
  }
  return {sum / static_cast<double>(numbers.size()), largest};
}

}  // namespace dadsim::compress
