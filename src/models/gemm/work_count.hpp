#pragma once

#include <Eigen/Core>
#include <atomic>
#include <cstdint>

namespace dadsim::models {

/// Multiply-adds of all matrix products that this process has carried out, for tests that hold what is charged against
/// what is done.
inline std::atomic<std::uint64_t>& multiply_adds_done() {
  static std::atomic<std::uint64_t> count = 0;
  return count;
}

inline void count_product(std::int64_t rows, std::int64_t columns, std::int64_t inner) {
  multiply_adds_done().fetch_add(static_cast<std::uint64_t>(rows * columns * inner), std::memory_order_relaxed);
}

/// A product of Eigen's, counted: `c.noalias() = counted(a * b)`.
template <class Left, class Right, int kOption>
Eigen::Product<Left, Right, kOption> counted(const Eigen::Product<Left, Right, kOption>& product) {
  count_product(product.rows(), product.cols(), product.lhs().cols());
  return product;
}

}  // namespace dadsim::models
