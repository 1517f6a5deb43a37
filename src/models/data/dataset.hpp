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
  Matrix features;  ///< samples × values of a sample (SampleShape::size()), in the source's scale; symbols as whole
                    ///< numbers
  /// samples × labels_per_sample values, 0 … classes−1, sample by sample
  std::vector<std::int32_t> labels;
  std::int64_t labels_per_sample = 1;  ///< labels of a sample; more than one if every position has its own (the next
                                       ///< symbol of a text)
  /// Site named by each sample, 0 … sites−1 (DataFacts::sites); empty if samples name none.
  std::vector<std::int32_t> sites{};
  Eigen::Index size() const { return features.rows(); }
};

struct Dataset {
  Samples train;
  Samples test;  ///< held-back samples
  spec::SampleShape shape;
  std::int64_t classes = 0;
  std::string name;
};

/// Reads and checks a source's files without keeping their contents. `train` and `test` of the source have no effect.
/// Throws InputError with all errors of the files.
spec::DataFacts inspect_data(const spec::DataSource& source);

/// Loads or draws the data: training samples first, test samples after them if both come from one source. `seed`
/// affects drawn data and the rows that a table holds back. Throws InputError for too few samples or wrong files.
Dataset load_dataset(const spec::DataSpec& spec, std::uint64_t seed);

/// Returns the indices of each site's training samples in ascending order. Every sample goes to exactly one site,
/// except that SplitSpec::sizes may leave some unused. Samples with several labels can be split only by iid or sizes.
/// Throws InputError if the split is impossible, e.g. if a site would have no sample.
using Partition = std::vector<std::vector<std::int32_t>>;
Partition split_over_sites(const spec::SplitSpec& spec, const Samples& train, std::int64_t classes, std::size_t sites,
                           std::uint64_t seed);

}  // namespace dadsim::models
