#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/matrix.hpp"
#include "spec/sample_shape.hpp"
#include "spec/specification.hpp"

namespace dadsim::models {

/// Labelled samples.
struct Samples {
  Matrix features;  ///< samples × values of a sample (SampleShape::size()), scaled as its source asks; symbols as whole
                    ///< numbers
  /// samples × labels_per_sample values, 0 … classes−1, sample by sample
  std::vector<std::int32_t> labels;
  std::int64_t labels_per_sample = 1;  ///< more than one where every position has its own (the next symbol of a text)
  /// Of each sample the site that it says it is of, 0 … sites−1 (DataFacts::sites); empty where samples say none.
  std::vector<std::int32_t> sites{};
  Eigen::Index size() const { return features.rows(); }
};

struct Dataset {
  Samples train;
  Samples test;  ///< held back
  spec::SampleShape shape;
  std::int64_t classes = 0;
  std::string name;
};

/// What a source holds: files are read and checked, but nothing is kept. `train` and `test` of the source mean nothing
/// here. Throws InputError with everything that is wrong with the files.
spec::DataFacts inspect_data(const spec::DataSource& source);

/// Loads or draws the data: training samples first, test samples after them where both come from one source. `seed`
/// matters to drawn data and to the rows that a table holds back. Throws InputError where samples are too few or files
/// are wrong.
Dataset load_dataset(const spec::DataSpec& spec, std::uint64_t seed);

/// Per site, the indices of its training samples in rising order. Every sample is dealt exactly once (SplitSpec::sizes
/// may leave some over). Samples of more than one label are split by iid or sizes alone. Throws InputError where the
/// split cannot be made (a site would be left without a sample).
using Partition = std::vector<std::vector<std::int32_t>>;
Partition split_over_sites(const spec::SplitSpec& spec, const Samples& train, std::int64_t classes, std::size_t sites,
                           std::uint64_t seed);

}  // namespace dadsim::models
