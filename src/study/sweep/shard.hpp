#pragma once

#include <cstdint>

namespace dadsim::study {

/// Every `count`-th point of a sweep, from point `number` on.
struct Shard {
  std::int64_t number = 1;  ///< 1 … count
  std::int64_t count = 1;
  bool holds(std::int64_t point) const { return (point - number) % count == 0; }  ///< `point` counts from 1
};

}  // namespace dadsim::study
