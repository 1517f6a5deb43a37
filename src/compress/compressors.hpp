#pragma once

#include "compress/compressor.hpp"

// One function per compressor; the files follow, one each.

namespace dadsim::compress {

inline constexpr double kFloatBytes = 4.0;  ///< of a number that has not been compressed

CompressorInfo none_info();
CompressorInfo fp16_info();
CompressorInfo bf16_info();
CompressorInfo int8_info();
CompressorInfo e3m0_info();

}  // namespace dadsim::compress
