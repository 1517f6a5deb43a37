#pragma once

#include <string>

#include "compress/compressor.hpp"
#include "support/registry.hpp"

namespace dadsim::compress {

/// Returns the compressors, in the order of presentation.
Registry<CompressorInfo>& compressors();

/// Returns the compressor of that name, or low-rank, which needs whole matrices and so is a choice of methods alone,
/// not of <compress>. Throws std::out_of_range if there is none.
const CompressorInfo& encoding(const std::string& method);

}  // namespace dadsim::compress
