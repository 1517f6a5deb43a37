#pragma once

#include <cstdint>
#include <string>

#include "models/data/dataset.hpp"
#include "models/data/source_bytes.hpp"

namespace dadsim::models {

/// Contents of a pair of IDX files (format: LeCun, http://yann.lecun.com/exdb/mnist/).
struct IdxFacts {
  std::int64_t samples = 0;
  spec::SampleShape shape;   ///< rows × columns × 1; for another rank: the product of the dimensions as width
  std::int64_t classes = 0;  ///< largest label + 1
};

/// Reads a pair of unsigned-byte IDX files, plain or gzip; pixels are divided by 255. Throws InputError with the file
/// and the error: bad magic, other element type, truncated, trailing bytes, labels that do not match the images,
/// corrupt gzip. Never allocates more than the file can hold.
Samples read_idx(const std::string& images, const std::string& labels);
Samples read_idx(SourceBytes& images, SourceBytes& labels);

/// Returns size, shape and classes of a pair of IDX files, after the checks of read_idx().
IdxFacts inspect_idx(const std::string& images, const std::string& labels);
IdxFacts inspect_idx(SourceBytes& images, SourceBytes& labels);

}  // namespace dadsim::models
