#pragma once

#include "compress/compressor.hpp"

namespace dadsim::compress {

/// EXAMPLE of a compressor: the mean in fp32, and what numbers are off it in bf16.
CompressorInfo centred_info();

}  // namespace dadsim::compress
