#pragma once

#include "compress/compressor.hpp"
#include "support/registry.hpp"

namespace dadsim::compress {

/// Returns the compressors, in the order of presentation.
Registry<CompressorInfo>& compressors();

}  // namespace dadsim::compress
