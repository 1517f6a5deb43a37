#pragma once

#include <string>

#include "compress/compressor.hpp"
#include "support/registry.hpp"

namespace dadsim::compress {

/// Returns the compressors, in the order of presentation.
Registry<CompressorInfo>& compressors();

/// Returns the compressor of that name, or low-rank or int8-table, which are choices of methods alone, not of
/// <compress>: one needs whole matrices, the other a ring. Throws std::out_of_range if there is none.
const CompressorInfo& encoding(const std::string& method);

}  // namespace dadsim::compress
