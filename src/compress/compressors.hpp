#pragma once

#include "compress/compressor.hpp"

// Functions that describe compressors, each defined in its own file.

namespace dadsim::compress {

inline constexpr double kFloatBytes = 4.0;  ///< bytes of an uncompressed number

CompressorInfo none_info();
CompressorInfo fp16_info();
CompressorInfo bf16_info();
CompressorInfo int8_info();
CompressorInfo int8_table_info();
CompressorInfo e3m0_info();
CompressorInfo low_rank_info();
CompressorInfo top_k_info();
CompressorInfo chunk_top_k_info();
CompressorInfo random_k_info();
CompressorInfo random_block_info();
CompressorInfo sidco_info();
CompressorInfo redsync_info();
CompressorInfo gaussian_k_info();
CompressorInfo dgc_info();
CompressorInfo qsgd_info();
CompressorInfo terngrad_info();
CompressorInfo natural_info();
CompressorInfo sign_info();

}  // namespace dadsim::compress
