#pragma once

#include <string>

#include "compress/compressor.hpp"
#include "support/registry.hpp"

namespace dadsim::compress {

/// Returns the compressors, in the order of presentation.
Registry<CompressorInfo>& compressors();

/// Returns the compressor of that name. Includes low-rank, which needs whole matrices, and int8-table, which needs a
/// ring: only methods use them, not <compress>. Throws std::out_of_range if there is none.
const CompressorInfo& encoding(const std::string& method);

}  // namespace dadsim::compress
