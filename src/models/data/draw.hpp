#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "models/data/dataset.hpp"
#include "models/uniform.hpp"
#include "support/parallel.hpp"

namespace dadsim::models {

/// Returns a nearly normal number with variance 1: the sum of four uniform numbers (Irwin–Hall), without far tails.
inline double bell(RandomStream& random) {
  double sum = 0;
  for (int i = 0; i < 4; ++i) sum += uniform01(random);
  return (sum - 2.0) * std::sqrt(3.0);
}

/// Returns one of 0 … count−1.
inline std::int32_t pick(RandomStream& random, std::int64_t count) {
  return static_cast<std::int32_t>(uniform01(random) * static_cast<double>(count));
}

/// Draws samples `first` … `first + count − 1` of a set whose sample i is drawn by `draw(i, values, labels)`, possibly
/// many in parallel. Throws std::logic_error for a negative range.
template <class Draw>
Samples draw_samples(std::int64_t first, std::int64_t count, std::int64_t values, std::int64_t labels_per_sample,
                     Draw&& draw) {
  if (first < 0 || count < 0 || first > std::numeric_limits<std::uint32_t>::max() - count) {
    throw std::logic_error("draw_samples: the range of samples is negative or too large");
  }
  Samples samples;
  samples.labels_per_sample = labels_per_sample;
  samples.features.resize(count, values);
  samples.labels.resize(static_cast<std::size_t>(count * labels_per_sample));
  parallel_for_blocks(static_cast<std::size_t>(count), 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      draw(static_cast<std::uint32_t>(first + static_cast<std::int64_t>(i)),
           samples.features.row(static_cast<Eigen::Index>(i)).data(),
           samples.labels.data() + i * static_cast<std::size_t>(labels_per_sample));
    }
  });
  return samples;
}

}  // namespace dadsim::models
