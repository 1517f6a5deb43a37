#pragma once

#include <Eigen/Core>
#include <atomic>
#include <cstdint>

namespace dadsim::models {

/// Returns the multiply-adds of all matrix products of this process, for tests that compare charged with actual work.
inline std::atomic<std::uint64_t>& multiply_adds_done() {
  static std::atomic<std::uint64_t> count = 0;
  return count;
}

inline void count_product(std::int64_t rows, std::int64_t columns, std::int64_t inner) {
  multiply_adds_done().fetch_add(static_cast<std::uint64_t>(rows * columns * inner), std::memory_order_relaxed);
}

/// Counts a product of Eigen's and returns it: `c.noalias() = counted(a * b)`.
template <class Left, class Right, int kOption>
Eigen::Product<Left, Right, kOption> counted(const Eigen::Product<Left, Right, kOption>& product) {
  count_product(product.rows(), product.cols(), product.lhs().cols());
  return product;
}

}  // namespace dadsim::models
