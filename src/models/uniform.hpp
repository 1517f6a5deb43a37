#pragma once

#include <boost/random/uniform_int_distribution.hpp>
#include <cstddef>
#include <span>
#include <utility>

#include "support/random.hpp"

namespace dadsim::models {

/// Returns a uniform number in (0, 1), 24 bits: (x + ½)·2⁻²⁴. Never 0 or 1, and exact in float and double.
inline double uniform01(RandomStream& random) { return (static_cast<double>(random() >> 8U) + 0.5) * 0x1p-24; }

/// Returns a uniform number in (low, high).
inline double uniform(RandomStream& random, double low, double high) { return low + (high - low) * uniform01(random); }

/// Shuffles values (Fisher–Yates).
template <class T>
void shuffle(std::span<T> values, RandomStream& random) {
  for (std::size_t i = values.size(); i > 1; --i) {
    boost::random::uniform_int_distribution<std::size_t> draw(0, i - 1);
    std::swap(values[i - 1], values[draw(random)]);
  }
}

}  // namespace dadsim::models
