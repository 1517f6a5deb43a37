#pragma once

#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace dadsim::sim {

/// A first-in, first-out queue in a ring of memory that is reused, to keep a connection's data in the processor's
/// cache. A deque would move through memory and allocate.
template <class T>
class Fifo {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t index) { return ring_[place(index)]; }  ///< element at `index`, counted from the oldest
  T& front() { return ring_[first_]; }
  const T& front() const { return ring_[first_]; }

  void push_back(T value) {
    if (size_ == ring_.size()) grow(size_ + 1);
    ring_[place(size_++)] = std::move(value);
  }
  void pop_front() {
    first_ = place(1);
    --size_;
  }
  /// Appends default elements until there are `size`.
  void extend(std::size_t size) {
    while (size_ < size) push_back(T{});
  }

 private:
  std::size_t place(std::size_t index) const { return (first_ + index) & (ring_.size() - 1); }

  void grow(std::size_t least) {
    std::vector<T> larger(std::bit_ceil(least));
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move(ring_[place(i)]);
    ring_.swap(larger);
    first_ = 0;
  }

  std::vector<T> ring_;  ///< size: a power of two
  std::size_t first_ = 0, size_ = 0;
};

}  // namespace dadsim::sim
