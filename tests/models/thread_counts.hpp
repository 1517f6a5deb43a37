#pragma once

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <cstring>
#include <optional>

#include "models/matrix.hpp"

namespace dadsim::test {

/// Runs `make()` with 1, 2 and 4 threads and expects `equal(a, b)` between the results.
template <class Make, class Equal>
void expect_same_for_thread_counts(const Make& make, const Equal& equal) {
  std::optional<decltype(make())> first;
  for (const std::size_t threads : {1U, 2U, 4U}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    auto result = make();
    if (!first) {
      first = std::move(result);
    } else {
      EXPECT_TRUE(equal(*first, result)) << "with " << threads << " threads";
    }
  }
}

/// Returns true if both matrices are equal to the last bit.
inline bool same_bits(const models::Matrix& a, const models::Matrix& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), sizeof(float) * static_cast<std::size_t>(a.size())) == 0);
}

}  // namespace dadsim::test
