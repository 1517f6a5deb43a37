#pragma once

#include <cstdint>

#include "models/data/dataset.hpp"

namespace dadsim::models {

/// Draws a table labelled by a teacher, deterministic in (seed, index): features from a mixture of normal
/// distributions, the class the largest output of a random two-layer network V |W x|, both drawn from the seed. A share
/// `noise` of the labels is replaced by a random class (docs/data.md). `train` and `test` of the source have no effect.
Samples draw_tabular(const spec::TabularSource& source, std::int64_t first, std::int64_t count, std::uint64_t seed);

}  // namespace dadsim::models
