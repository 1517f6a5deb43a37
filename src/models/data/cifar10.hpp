#pragma once

#include <cstdint>
#include <vector>

#include "models/data/dataset.hpp"
#include "models/data/source_bytes.hpp"

namespace dadsim::models {

inline constexpr spec::SampleShape kCifar10Shape{32, 32, 3};

/// Appends the images of one file of CIFAR-10's binary version, at most `most`: records of one byte of label (0 … 9)
/// and 32 × 32 bytes each of red, green and blue, row by row (Krizhevsky, Learning multiple layers of features from
/// tiny images, 2009; https://www.cs.toronto.edu/~kriz/cifar.html). Pixels are divided by 255 and stored pixel by
/// pixel. The whole file is checked. Throws InputError for an incomplete record or an invalid label.
void read_cifar10(SourceBytes& bytes, std::int64_t most, std::vector<float>& features,
                  std::vector<std::int32_t>& labels);

/// Returns the number of images in a file, after the checks of read_cifar10().
std::int64_t inspect_cifar10(SourceBytes& bytes);

spec::DataFacts inspect_cifar10(const spec::Cifar10Source& source);
Dataset read_cifar10(const spec::Cifar10Source& source);

}  // namespace dadsim::models
