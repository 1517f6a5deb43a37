#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "models/matrix.hpp"
#include "step/expression.hpp"

// The largest entries of a matrix as lists of values and indices.

namespace dadsim::compress {

/// Returns the bits of a number's magnitude, which have the same order as magnitudes, with NaN above all.
inline std::uint32_t magnitude_bits(float x) { return std::bit_cast<std::uint32_t>(x) & 0x7fffffffU; }

/// The `count` entries of a matrix with the largest magnitudes (ties go to the first), in the matrix's order.
struct KeptEntries {
  models::Matrix values;              ///< count × 1
  std::vector<std::int32_t> indices;  ///< row · columns + column
};

/// Takes the `count` largest entries out of a matrix, leaving zeros. Throws std::logic_error unless `count` is at least
/// 1 and at most the size of the matrix.
KeptEntries take_largest(models::Matrix& matrix, Eigen::Index count);

/// Returns the indices of the `count` largest entries, ascending. Throws like take_largest().
std::vector<std::int32_t> largest(std::span<const float> entries, Eigen::Index count);

/// Adds the entries to a matrix of the same shape.
void add_kept(const models::Matrix& values, std::span<const std::int32_t> indices, models::Matrix& sum);

/// Returns the work of finding `kept` of `entries`. Four passes of radix selection, over 8 bits of the magnitudes each,
/// find the threshold (Alabi et al., ACM Journal of Experimental Algorithmics 17, 2012). One more pass writes the kept
/// entries, and zeros in their place.
step::Work largest_work(const step::Expression& entries, const step::Expression& kept);

}  // namespace dadsim::compress
