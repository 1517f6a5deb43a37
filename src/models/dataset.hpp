#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/matrix.hpp"
#include "plan/specification.hpp"

namespace dadsim {

/// Labelled samples.
struct Samples {
  Matrix features;                   ///< samples × features, 0…1 for images
  std::vector<std::int32_t> labels;  ///< 0 … classes−1
  Eigen::Index size() const { return features.rows(); }
};

struct Dataset {
  Samples train;
  Samples test;  ///< held back
  std::int64_t classes = 0;
  std::string name;
};

/// Loads or draws the data: training samples first, test samples after them where both come from one source. `seed`
/// matters to drawn data only. Throws InputError where samples are too few or files are wrong.
Dataset load_dataset(const DataSpec& spec, std::uint64_t seed);

/// Per site, the indices of its training samples in rising order. Every sample is dealt exactly once (SplitSpec::sizes
/// may leave some over). Throws InputError where the split cannot be made (a site would be left without a sample).
using Partition = std::vector<std::vector<std::int32_t>>;
Partition split_over_sites(const SplitSpec& spec, const Samples& train, std::int64_t classes, std::size_t sites,
                           std::uint64_t seed);

}  // namespace dadsim
