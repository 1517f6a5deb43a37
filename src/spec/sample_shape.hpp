#pragma once

#include <cstdint>

namespace dadsim::spec {

/// Shape of one sample, and of the values between layers: `height × width` positions with `channels` values each.
/// Values are stored position by position (an image pixel by pixel, with the channels of a pixel together). A plain
/// vector of features has one position; a sequence extends along the width.
struct SampleShape {
  std::int64_t height = 1;
  std::int64_t width = 1;
  std::int64_t channels = 0;
  std::int64_t vocabulary = 0;  ///< number of symbols, if the values are symbol numbers 0 … vocabulary−1 (one channel);
                                ///< otherwise 0

  std::int64_t positions() const { return height * width; }
  std::int64_t size() const { return positions() * channels; }
  bool operator==(const SampleShape&) const = default;
};

}  // namespace dadsim::spec
