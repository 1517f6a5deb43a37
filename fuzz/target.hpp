#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "models/data/dataset.hpp"

namespace dadsim::fuzz {

/// A promise of the reader is broken.
inline void require(bool held, const char* what) {
  if (held) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return size == 0 ? std::string_view() : std::string_view(reinterpret_cast<const char*>(data), size);
}

/// What stands before and behind the first line "==="; all of it twice where there is none.
inline std::pair<std::string_view, std::string_view> two_files(std::string_view input) {
  constexpr std::string_view kBetween = "\n===\n";
  const std::size_t at = input.find(kBetween);
  if (at == std::string_view::npos) return {input, input};
  return {input.substr(0, at + 1), input.substr(at + kBetween.size())};
}

inline void require_sound(const models::Samples& samples, const spec::SampleShape& shape, std::int64_t classes) {
  require(samples.features.cols() == shape.size(), "samples have their shape");
  require(std::ssize(samples.labels) == samples.size() * samples.labels_per_sample, "every sample has its labels");
  require(samples.features.allFinite(), "features are finite");
  for (const std::int32_t label : samples.labels) require(label >= 0 && label < classes, "labels are classes");
}

}  // namespace dadsim::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
