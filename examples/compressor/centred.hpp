#pragma once

#include "compress/compressor.hpp"

namespace dadsim::compress {

/// EXAMPLE of a compressor: sends the mean in fp32, and the differences from the mean in bf16.
CompressorInfo centred_info();

}  // namespace dadsim::compress
