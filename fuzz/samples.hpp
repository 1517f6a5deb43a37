#pragma once

#include <cstdint>

#include "models/data/dataset.hpp"
#include "target.hpp"

namespace dadsim::fuzz {

inline void require_sound(const models::Samples& samples, const spec::SampleShape& shape, std::int64_t classes) {
  require(samples.features.cols() == shape.size(), "samples have their shape");
  require(std::ssize(samples.labels) == samples.size() * samples.labels_per_sample, "every sample has its labels");
  require(samples.features.allFinite(), "features are finite");
  for (const std::int32_t label : samples.labels) require(label >= 0 && label < classes, "labels are classes");
}

}  // namespace dadsim::fuzz
