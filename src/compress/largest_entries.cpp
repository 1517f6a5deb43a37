#include "compress/largest_entries.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <stdexcept>

namespace dadsim::compress {
namespace {

using Eigen::Index;

struct Threshold {
  std::uint32_t magnitude = 0;  ///< least kept magnitude
  Index equals = 0;             ///< number of kept entries of exactly that magnitude
};

/// Returns the threshold of the `count` largest entries. Makes one radix pass over exponents and three bits of
/// mantissas, then selects within the bin of the threshold. Selecting among all entries takes several times as long.
Threshold threshold_of(const float* entries, Index size, Index count) {
  constexpr int kShift = 20;
  constexpr std::size_t kCountedMagnitudes = std::size_t{1} << (31 - kShift);
  constexpr std::size_t kLanes = 4;  // separate counters, because neighbours often share a bin and would wait for each
                                     // other
  std::vector<std::uint32_t> counts(kLanes * kCountedMagnitudes);
  for (Index i = 0; i < size; ++i)
    ++counts[(static_cast<std::size_t>(i) % kLanes) * kCountedMagnitudes + (magnitude_bits(entries[i]) >> kShift)];
  const auto in_bin = [&](std::size_t bin) {
    Index sum = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) sum += counts[lane * kCountedMagnitudes + bin];
    return sum;
  };
  std::size_t bin = kCountedMagnitudes - 1;
  Index above = 0;
  while (above + in_bin(bin) < count) above += in_bin(bin--);

  std::vector<std::uint32_t> members;
  members.reserve(static_cast<std::size_t>(in_bin(bin)));
  for (Index i = 0; i < size; ++i) {
    if (const std::uint32_t m = magnitude_bits(entries[i]); m >> kShift == bin) members.push_back(m);
  }
  const auto last = members.begin() + (count - above - 1);
  std::nth_element(members.begin(), last, members.end(), std::greater<>());
  return {*last, static_cast<Index>(std::count(members.begin(), last + 1, *last))};
}

/// Calls `take(i)` for each of the `count` largest entries, in their order.
template <class Take>
void for_each_largest(const float* entries, Index size, Index count, const Take& take) {
  if (count < 1 || count > size || size > std::numeric_limits<std::int32_t>::max()) {
    throw std::logic_error("top-k: the number of entries must be from 1 to the size of the matrix");
  }
  auto [threshold, equals_left] = threshold_of(entries, size, count);
  for (Index i = 0; i < size; ++i) {
    const std::uint32_t m = magnitude_bits(entries[i]);
    if (m < threshold || (m == threshold && equals_left-- <= 0)) continue;
    take(i);
  }
}

}  // namespace

KeptEntries take_largest(models::Matrix& matrix, Index count) {
  float* entries = matrix.data();
  KeptEntries kept{models::Matrix(std::max<Index>(count, 0), 1), {}};
  kept.indices.reserve(static_cast<std::size_t>(std::max<Index>(count, 0)));
  Index at = 0;
  for_each_largest(entries, matrix.size(), count, [&](Index i) {
    kept.values(at++) = entries[i];
    kept.indices.push_back(static_cast<std::int32_t>(i));
    entries[i] = 0.0F;
  });
  return kept;
}

std::vector<std::int32_t> largest(std::span<const float> entries, Index count) {
  std::vector<std::int32_t> indices;
  indices.reserve(static_cast<std::size_t>(std::max<Index>(count, 0)));
  for_each_largest(entries.data(), std::ssize(entries), count,
                   [&](Index i) { indices.push_back(static_cast<std::int32_t>(i)); });
  return indices;
}

void add_kept(const models::Matrix& values, std::span<const std::int32_t> indices, models::Matrix& sum) {
  for (std::size_t i = 0; i < indices.size(); ++i) sum.data()[indices[i]] += values(static_cast<Index>(i), 0);
}

step::Work largest_work(const step::Expression& entries, const step::Expression& kept) {
  constexpr double kPasses = 4.0;
  constexpr double kEntryBytes = 4.0;
  return {.flops = (kPasses + 1.0) * entries,
          .bytes_moved = kEntryBytes * ((kPasses + 1.0) * entries + 3.0 * kept),
          .launches = kPasses + 1.0};
}

}  // namespace dadsim::compress
