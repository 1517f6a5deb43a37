#pragma once

#include "compress/compressor.hpp"
#include "support/registry.hpp"

namespace dadsim::compress {

/// Every compressor, in the order of presentation.
Registry<CompressorInfo>& compressors();

}  // namespace dadsim::compress
